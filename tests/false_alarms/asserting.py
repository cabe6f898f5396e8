"""A kernel whose assertions name their file: compiled with ``debug``, they stay in the machine code."""

import triton
import triton.language as tl


@triton.jit
def asserting_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """y = x + 1 where x < 4."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0)
    tl.device_assert(x < 4, "index out of bounds")
    tl.store(y_ptr + offsets, x + 1, mask=inside)
