"""NVIDIA machine code: what a cubin says of itself, and its instructions where a disassembler is at hand."""
