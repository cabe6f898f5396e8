"""Programs with torch and no GPU: run where IRDIFF_TEST_TORCH_PYTHON names an interpreter that has torch and Triton."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "gpu" / "scripts"

HEAD = """
import os
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + at, tl.load(x + at, at < n), at < n)


x = torch.randn(1000, device="cuda")
y = torch.empty_like(x)
copy[(8,)](x, y, 1000, SIZE=128)
"""


def run(programs, torch_python, text, **options):
    return programs.run(HEAD + text, target=options.pop("target", "cuda:90"), python=torch_python, **options)


def test_an_unchanged_matmul_script_compiles_to_wgmma(programs, torch_python):
    text = (SCRIPTS / "matmul.py").read_text()
    ran = programs.run(text, target="cuda:90,cuda:80,hip:gfx942", python=torch_python)
    assert (ran.code, ran.stdout) == (0, "matmul (256, 256) torch.float16\n" * 3)
    found = {entry.target: entry for entry in ran.entries()}
    assert sorted(found) == ["cuda:80", "cuda:90", "hip:gfx942"]
    ptx = (ran.output / found["cuda:90"].entry / "matmul_kernel.ptx").read_text()
    assert "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" in ptx
    assert found["cuda:90"].constexprs["stride_ak"] == 1


def test_a_view_that_is_not_aligned_is_not_divisible(programs, torch_python):
    ran = run(programs, torch_python, "copy[(8,)](x[1:], y[4:], 996, SIZE=128)")
    divisible = sorted(tuple(sorted(entry.attributes)) for entry in ran.entries())
    assert divisible == [("x", "y"), ("y",)]


VALUES = [
    ("print(x.sum().item())", "needs the values of a tensor"),
    ("if x.max() > 0:\n    pass", "needs the values of a tensor"),
    ("x.cpu().numpy()", "needs the values of a tensor"),
    ("torch.testing.assert_close(x, y)", "needs the values of a tensor"),
    ("assert torch.allclose(x, y)", "needs the values of a tensor"),
    ("x[x > 0]", "needs the values of a tensor"),
    ("triton.testing.do_bench(lambda: None)", "measures"),
    ("torch.cuda.memory_allocated()", "asks a GPU"),
    ("torch.compile(lambda z: z + 1)(x)", "torch.compile makes kernels for a GPU that is there"),
    ("torch.compile(torch.nn.Linear(2, 2))", "torch.compile makes kernels for a GPU that is there"),
    ("torch.ones(3, device='cuda', requires_grad=True).sum().backward()", "backward pass"),
    ("torch.cuda.Event().elapsed_time(torch.cuda.Event())", "measures"),
    ("torch.Generator(device='cuda')", "needs a GPU"),
]


@pytest.mark.parametrize(("text", "reason"), VALUES, ids=[text for text, _ in VALUES])
def test_what_cannot_work_says_where_why_and_what_to_write_instead(programs, torch_python, text, reason):
    ran = run(programs, torch_python, text)
    line = HEAD.count("\n") + 1
    assert ran.code == 1
    assert f"program.py:{line}: " in ran.stderr
    assert reason in ran.stderr
    assert text.splitlines()[0] in ran.stderr
    assert "if not os.environ.get('IRDIFF_COMPILE_ONLY')" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert [entry.kernel for entry in ran.entries()] == ["copy"]


WORKING = [
    "assert torch.arange(4).sum().item() == 6",
    "assert torch.tensor([1, 2]).cuda().device.index == 0",
    "assert torch.nn.Linear(3, 4).to('cuda').half().weight.dtype == torch.float16",
    "assert torch.tensor([1.0], device='cuda').is_cuda",
    "torch.cuda.synchronize()",
    "assert torch.cuda.get_device_capability() == (9, 0)",
    "assert (x.view(10, 100) @ y.view(100, 10)).shape == (10, 10)",
    "y[3:7] = x[:4]",
    "torch.set_default_device('cuda'); assert torch.zeros(3).is_cuda and torch.tensor([1]).is_cuda",
    "with torch.device('cuda'): assert torch.zeros(3).is_cuda",
    "with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()): pass",
    "assert torch.ones(3).numpy().sum() == 3",
    "assert triton.runtime.driver.active.get_active_torch_device().type == 'cuda'",
]


@pytest.mark.parametrize("text", WORKING)
def test_what_has_a_meaning_without_a_gpu_works(programs, torch_python, text):
    ran = run(programs, torch_python, text)
    assert ran.code == 0, ran.stderr


def test_a_number_that_depends_on_the_product_is_assumed_aloud(programs, torch_python):
    ran = run(programs, torch_python, "print(torch.cuda.get_device_properties(0).multi_processor_count)")
    assert ran.stdout == "132\n"
    assert "132 assumed for cuda:90" in ran.stderr


def test_autotuned_kernels_are_compiled_in_every_configuration(programs, torch_python):
    ran = programs.run((SCRIPTS / "autotuned.py").read_text(), target="cuda:80", python=torch_python)
    entries = ran.entries()
    assert ran.code == 0
    assert len(entries) == 24
    keys = {json.dumps(entry.autotune.keys[0].key) for entry in entries}
    assert keys == {'{"M":512,"N":1024,"K":512}'.replace(",", ", ").replace(":", ": "),
                    '{"M": 500, "N": 999, "K": 333}'}  # fmt: skip
