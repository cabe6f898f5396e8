"""SPIR-V for irdiff."""
