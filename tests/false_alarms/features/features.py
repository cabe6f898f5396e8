"""Kernels that use what the core suite leaves out: a part of the language each."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice


@triton.jit
def printing_kernel(x_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    tl.device_print("value of x", x)


@triton.jit
def inline_assembly_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    y = tl.inline_asm_elementwise(
        "add.f32 $0, $1, 0f3F800000;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )
    tl.store(y_ptr + o, y)


@triton.jit(noinline=True)
def helper(a, b, n):
    return n * 2 + 1


@triton.jit
def calling_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    tl.store(y_ptr + o, x + helper(x_ptr, y_ptr, BLOCK))


@triton.jit
def combine(a, b):
    return tl.maximum(a, b) + 0.5 * tl.minimum(a, b)


@triton.jit
def scanning_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    tl.store(y_ptr + o, tl.associative_scan(x, 0, combine))


@triton.jit
def arg_max_kernel(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o[:, None] * BLOCK + o[None, :])
    v, i = tl.max(x, 1, return_indices=True)
    tl.store(y_ptr + o, v)
    tl.store(z_ptr + o, i)


@triton.jit
def sorting_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(y_ptr + o, tl.sort(tl.load(x_ptr + o)))


@triton.jit
def histogram_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr, BINS: tl.constexpr):
    o = tl.arange(0, BLOCK)
    h = tl.histogram(tl.load(x_ptr + o), BINS)
    tl.atomic_add(y_ptr + tl.arange(0, BINS), h)


@triton.jit
def libdevice_functions_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    tl.store(y_ptr + o, libdevice.tanh(x) + libdevice.erf(x) + tl.exp2(x) + tl.sin(x))


@triton.jit
def branching_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    i = 0
    while i < n:
        acc += tl.load(x_ptr + i * BLOCK + o)
        i += 1
    if n > 3:  # noqa: SIM108  # a branch is what it is for
        acc = acc * 2
    else:
        acc = acc + 1
    tl.store(y_ptr + o, acc)


@triton.jit
def locking_kernel(x_ptr, lock_ptr, BLOCK: tl.constexpr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    o = tl.arange(0, BLOCK)
    tl.store(x_ptr + o, tl.load(x_ptr + o) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def random_numbers_kernel(y_ptr, seed, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(y_ptr + o, tl.rand(seed, o))


@triton.jit
def fp8_dot_kernel(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + o[:, None] * BLOCK + o[None, :])
    b = tl.load(b_ptr + o[:, None] * BLOCK + o[None, :])
    tl.store(c_ptr + o[:, None] * BLOCK + o[None, :], tl.dot(a, b))


@triton.jit
def descriptors_kernel(a_ptr, b_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [M, N], [N, 1], [BM, BN])
    b = tl.make_tensor_descriptor(b_ptr, [M, N], [N, 1], [BM, BN])
    for i in tl.range(0, M, BM, num_stages=3):
        b.store([i, 0], a.load([i, 0]) * 2)


@triton.jit
def gathering_kernel(x_ptr, i_ptr, y_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(y_ptr + o, tl.gather(tl.load(x_ptr + o), tl.load(i_ptr + o), 0))


@triton.jit
def joining_kernel(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    j = tl.join(tl.load(x_ptr + o), tl.load(y_ptr + o))
    r = tl.reshape(tl.permute(j, (1, 0)), (2 * BLOCK,))
    tl.store(z_ptr + tl.arange(0, 2 * BLOCK), r)
