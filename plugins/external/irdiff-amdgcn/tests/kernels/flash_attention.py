# SPDX-License-Identifier: Apache-2.0
"""Attention forward with an online softmax: two dots and two reductions in one loop."""

import triton
import triton.language as tl


@triton.jit
def flash_attention_fwd_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    n_ctx,
    scale_log2e,
    BLOCK_Q: tl.constexpr,
    BLOCK_KV: tl.constexpr,
    HEAD: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    block = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * n_ctx * HEAD
    q_rows = block * BLOCK_Q + tl.arange(0, BLOCK_Q)
    kv_rows = tl.arange(0, BLOCK_KV)
    lanes = tl.arange(0, HEAD)

    q = tl.load(q_ptr + base + q_rows[:, None] * HEAD + lanes[None, :])
    k_tile = k_ptr + base + kv_rows[None, :] * HEAD + lanes[:, None]
    v_tile = v_ptr + base + kv_rows[:, None] * HEAD + lanes[None, :]

    best = tl.full((BLOCK_Q,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_Q,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_Q, HEAD), dtype=tl.float32)
    end = (block + 1) * BLOCK_Q if CAUSAL else n_ctx
    for start in range(0, end, BLOCK_KV):
        scores = tl.dot(q, tl.load(k_tile)) * scale_log2e
        if CAUSAL:
            scores = tl.where(q_rows[:, None] >= start + kv_rows[None, :], scores, -1.0e6)
        new_best = tl.maximum(best, tl.max(scores, axis=1))
        p = tl.exp2(scores - new_best[:, None])
        rescale = tl.exp2(best - new_best)
        total = total * rescale + tl.sum(p, axis=1)
        acc = acc * rescale[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v_tile), acc)
        best = new_best
        k_tile += BLOCK_KV * HEAD
        v_tile += BLOCK_KV * HEAD

    tl.store(lse_ptr + tl.program_id(1) * n_ctx + q_rows, best + tl.log2(total))
    tl.store(out_ptr + base + q_rows[:, None] * HEAD + lanes[None, :], (acc / total[:, None]).to(tl.float16))
