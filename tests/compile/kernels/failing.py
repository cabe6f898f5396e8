"""Kernels that fail to compile, each in its own way, and one that does not."""

import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x + undefined_name  # noqa: F821


@triton.jit
def calls_helper(x_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.store(x_ptr + index, helper(tl.load(x_ptr + index)))


@triton.jit
def shapes(x_ptr):
    x = tl.zeros((8, 8), tl.float32)
    tl.store(x_ptr, x + tl.zeros((16, 16), tl.float32))


@triton.jit
def asserted(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 128, "BLOCK is too small")
    tl.store(x_ptr, 1.0)


@triton.jit
def bad_instruction(x_ptr):
    x = tl.load(x_ptr)
    y = tl.inline_asm_elementwise(
        "no.such.instruction $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(x_ptr, y)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, DEPTH: tl.constexpr, SPECIALIZE: tl.constexpr):
    rows = tl.arange(0, M)
    depth = tl.arange(0, DEPTH)
    acc = tl.zeros((M, M), tl.float32)
    for k in tl.range(0, K, DEPTH, warp_specialize=SPECIALIZE):
        a = tl.load(a_ptr + rows[:, None] * K + (k + depth)[None, :])
        b = tl.load(b_ptr + rows[None, :] * K + (k + depth)[:, None])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * M + rows[None, :], acc)


@triton.heuristics({"n": lambda arguments: 4})
@triton.jit
def fine(x_ptr, n: tl.constexpr = 4, kind: tl.constexpr = None):
    tl.store(x_ptr, tl.full((), n, kind if kind is not None else tl.int32))


def plain(x):
    return x
