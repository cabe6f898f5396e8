# SPDX-License-Identifier: Apache-2.0
"""C = A @ B in e4m3 with a per-row scale of A, f32 accumulation and a bf16 result."""

import triton
import triton.language as tl


@triton.jit
def fp8_matmul_kernel(
    a_ptr, b_ptr, scale_ptr, c_ptr, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + (k + depth)[None, :])
        b = tl.load(b_ptr + cols[None, :] * K + (k + depth)[:, None])
        acc = tl.dot(a, b, acc)
    acc = acc * tl.load(scale_ptr + rows)[:, None]
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(tl.bfloat16))
