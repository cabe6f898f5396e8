"""Tests of that project: a kernel with a signature, what triton.compile returns, and an entry of a cache."""

import os
from pathlib import Path

import pytest
import triton
from kernels import add
from triton.backends.compiler import GPUTarget

SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32:16, 256"


def test_a_function_with_a_signature(irdiff_baseline):
    warps = os.environ.get("WARPS", "4")
    irdiff_baseline(add, signature=SIGNATURE, target="cuda:90", options={"num_warps": warps})


def test_what_triton_compiled(irdiff_baseline):
    source = triton.compiler.ASTSource(
        fn=add,
        signature={"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        constexprs={"BLOCK": 256},
    )
    irdiff_baseline(triton.compile(source, target=GPUTarget("cuda", 90, 32)))


@pytest.mark.parametrize("name", ["entry", "a/b"])
def test_an_entry(irdiff_baseline, name):
    irdiff_baseline(Path(os.environ["ENTRY"]))
