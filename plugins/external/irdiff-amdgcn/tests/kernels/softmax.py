# SPDX-License-Identifier: Apache-2.0
"""Row-wise softmax, one row per program: two reductions across a whole CTA."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, stride_x, stride_out, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    x = tl.load(x_ptr + row * stride_x + cols, mask=inside, other=-float("inf"))
    shifted = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride_out + cols, shifted / tl.sum(shifted, axis=0), mask=inside)
