"""Facts of a kernel as a whole, computed from those of several stages: occupancy, tensor work, its machine code."""
