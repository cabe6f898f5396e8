"""Compiles the kernels of this folder with Intel's Triton, without a GPU, into SPIR-V.

Made with triton-xpu 3.3.0b1 from PyPI under Python 3.11::

    pip install --pre --no-deps triton-xpu==3.3.0b1
    mkdir /tmp/kernels && cp make.py /tmp/kernels && cd /tmp/kernels && python make.py

The backend asks an oneAPI installation what the device is; the answer that a Data Center GPU Max (Ponte Vecchio) gives
is put in its place.
"""

from __future__ import annotations

import os
import types
from pathlib import Path

import triton
import triton.language as tl
from triton.backends import backends
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import driver

PVC = GPUTarget(
    "xpu",
    {
        "name": "pvc",
        "sub_group_sizes": [16, 32],
        "has_fp64": True,
        "has_subgroup_matrix_multiply_accumulate": True,
        "has_subgroup_2d_block_io": True,
        "has_bfloat16_conversions": True,
        "max_work_group_size": 1024,
        "max_num_sub_groups": 64,
    },
    32,
)


class Device:
    def get_current_target(self):
        return PVC

    def get_device_properties(self, *device):
        return {}


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def row_sum(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out, tl.sum(total))


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        total += tl.dot(
            tl.load(a + m[:, None] * K + (first + k)[None, :]),
            tl.load(b + (first + k)[:, None] * N + n[None, :]),
        )
    tl.store(c + m[:, None] * N + n[None, :], total)


POINTERS = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "a": "*fp16", "b": "*fp16", "c": "*fp32"}


def compiled(kernel, values, **options):
    """The entry's files by suffix."""
    signature = {
        name: POINTERS.get(name, "constexpr" if name in values else "i32") for name in kernel.arg_names
    }
    return triton.compile(
        ASTSource(fn=kernel, signature=signature, constexprs=values), target=PVC, options=options
    ).asm


def main() -> None:
    backends["intel"].compiler.__init__.__globals__["compile_module_from_src"] = lambda *given, **more: (
        types.SimpleNamespace(parse_device_arch=lambda value: "")
    )
    driver.set_active(Device())
    made = {
        "vector_add": (vector_add, {"BLOCK": 256}, {}),
        "vector_add_1024": (vector_add, {"BLOCK": 1024}, {}),
        "row_sum": (row_sum, {"BLOCK": 512}, {}),
        "matmul": (matmul, {"BM": 32, "BN": 32, "BK": 16}, {"num_warps": 4}),
    }
    for suffix, quiet in (("", "0"), ("_without_lines", "1")):
        os.environ["TRITON_DISABLE_LINE_INFO"] = quiet
        for name, (kernel, values, options) in made.items():
            if not suffix or name == "row_sum":
                Path(f"{name}{suffix}.spv").write_bytes(compiled(kernel, values, **options)["spv"])


if __name__ == "__main__":
    main()
