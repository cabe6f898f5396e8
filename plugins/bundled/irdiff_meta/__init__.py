"""The stage ``meta``: the JSON file that Triton writes beside the artifacts of a kernel."""
