# ruff: noqa: T201
"""An autotuned kernel: twelve configurations of a matmul with an epilogue, for two keys. Runs without a GPU as well."""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in [
        (32, 32, 32, 2, 2), (32, 64, 32, 2, 3), (64, 32, 32, 2, 3), (64, 64, 32, 4, 2), (64, 64, 64, 4, 3),
        (64, 128, 32, 4, 3), (128, 64, 32, 4, 3), (128, 128, 32, 4, 3), (128, 128, 64, 8, 3), (128, 256, 32, 8, 2),
        (16, 256, 32, 4, 2), (128, 256, 64, 4, 2),
    ]
]  # fmt: skip


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def linear_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, M, N, K, stride_xm, stride_wn, stride_ym,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        at = start + inner
        x = tl.load(
            x_ptr + rows[:, None] * stride_xm + at[None, :],
            (rows[:, None] < M) & (at[None, :] < K),
            other=0.0,
        )
        w = tl.load(
            w_ptr + columns[None, :] * stride_wn + at[:, None],
            (columns[None, :] < N) & (at[:, None] < K),
            other=0.0,
        )
        acc += tl.dot(x, w)
    acc += tl.load(bias_ptr + columns, columns < N, other=0.0)[None, :].to(tl.float32)
    acc = acc * tl.sigmoid(acc)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(y_ptr + rows[:, None] * stride_ym + columns[None, :], acc.to(tl.float16), inside)


def linear(x, w, bias):
    y = torch.empty((x.shape[0], w.shape[0]), device=x.device, dtype=x.dtype)

    def grid(meta):
        return triton.cdiv(x.shape[0], meta["BLOCK_M"]), triton.cdiv(w.shape[0], meta["BLOCK_N"])

    linear_kernel[grid](
        x, w, bias, y, x.shape[0], w.shape[0], x.shape[1], x.stride(0), w.stride(0), y.stride(0)
    )
    return y


torch.manual_seed(0)
for rows, columns, inner in ((512, 1024, 512), (500, 999, 333)):
    x = torch.randn((rows, inner), device="cuda", dtype=torch.float16)
    w = torch.randn((columns, inner), device="cuda", dtype=torch.float16)
    bias = torch.randn((columns,), device="cuda", dtype=torch.float16)
    y = linear(x, w, bias)
    torch.cuda.synchronize()
    print("linear", tuple(y.shape), "best:", linear_kernel.best_config)
