# SPDX-License-Identifier: Apache-2.0
"""out = x + y, element by element: the smallest kernel that loads, computes and stores under a mask."""

import triton
import triton.language as tl


@triton.jit
def vector_add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside)
    y = tl.load(y_ptr + index, mask=inside)
    tl.store(out_ptr + index, x + y, mask=inside)
