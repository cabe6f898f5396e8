# SPDX-License-Identifier: Apache-2.0
"""Layer normalisation of bf16 rows, forward and backward, statistics kept in f32."""

import triton
import triton.language as tl


@triton.jit
def layer_norm_fwd_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, mean_ptr, rstd_ptr, stride, n_cols, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    x = tl.load(x_ptr + row * stride + cols, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(inside, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + cols, mask=inside).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=inside).to(tl.float32)
    tl.store(out_ptr + row * stride + cols, (centred * rstd * w + b).to(tl.bfloat16), mask=inside)


@triton.jit
def layer_norm_bwd_kernel(
    x_ptr,
    w_ptr,
    dy_ptr,
    dx_ptr,
    dw_ptr,
    db_ptr,
    mean_ptr,
    rstd_ptr,
    stride,
    n_rows,
    n_cols,
    ROWS_PER_PROGRAM: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Dx of some rows; the partial dw and db of those rows go to one line each of dw and db."""
    first = tl.program_id(0) * ROWS_PER_PROGRAM
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    w = tl.load(w_ptr + cols, mask=inside, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(first, tl.minimum(first + ROWS_PER_PROGRAM, n_rows)):
        x = tl.load(x_ptr + row * stride + cols, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride + cols, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        xhat = tl.where(inside, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
        dxhat = dy * w
        along = tl.sum(xhat * dxhat, axis=0) / n_cols
        level = tl.sum(dxhat, axis=0) / n_cols
        dx = (dxhat - xhat * along - level) * rstd
        tl.store(dx_ptr + row * stride + cols, dx.to(tl.bfloat16), mask=inside)
        dw += dy * xhat
        db += dy
    line = tl.program_id(0) * n_cols
    tl.store(dw_ptr + line + cols, dw, mask=inside)
    tl.store(db_ptr + line + cols, db, mask=inside)
