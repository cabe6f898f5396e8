# SPDX-License-Identifier: Apache-2.0
"""Atomics of several kinds: a histogram, a float sum, and a compare-and-swap lock."""

import triton
import triton.language as tl


@triton.jit
def histogram_kernel(x_ptr, bins_ptr, sum_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside, other=0)
    tl.atomic_add(bins_ptr + x % BINS, 1, mask=inside, sem="relaxed")
    tl.atomic_max(bins_ptr + BINS, tl.max(x, axis=0))
    tl.atomic_add(sum_ptr + tl.arange(0, 1), tl.sum(x, axis=0).to(tl.float32))


@triton.jit
def locked_sum_kernel(x_ptr, out_ptr, lock_ptr, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + cols)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr + cols, tl.load(out_ptr + cols) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)
