"""The rules that ship with irdiff: what of a change is worth stopping for, by the role of the facts that changed."""
