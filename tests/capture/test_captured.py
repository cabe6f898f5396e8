"""Real kernels in programs without torch, compiled by the Triton of the tests' own interpreter (3.6.0, no GPU)."""

from __future__ import annotations

import json
import sys

import pytest

from compiling import run_jobs
from irdiff.compile.notation import parse_signature
from irdiff.compile.plan import Request, expand
from irdiff.compile.targets import parse_target

pytestmark = pytest.mark.usefixtures("triton")

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, stride, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at * stride, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)
"""
TENSORS = """

class Tensor:
    def __init__(self, dtype="torch.float32", address=1 << 20):
        self.dtype, self.address = dtype, address

    def data_ptr(self):
        return self.address

"""
LAUNCH = "\nadd[(8,)](Tensor(), Tensor(), Tensor(address=(1 << 20) + 4), 1000, 1, SIZE=128, num_warps=2)\n"
AHEAD = """
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "stride": "constexpr", "SIZE": "constexpr"}
source = ASTSource(add, signature, {"stride": 1, "SIZE": 128}, {(0,): [["tt.divisibility", 16]]})
made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 2})
"""


def test_a_launch_without_a_gpu_compiles_what_a_signature_compiles(programs, tmp_path):
    (programs.folder / "kernels.py").write_text(KERNEL)
    ran = programs.run(f"from kernels import add{TENSORS}{LAUNCH}print('end')", target="cuda:90")
    assert (ran.code, ran.stdout) == (0, "end\n")
    (entry,) = ran.entries()
    request = Request(
        file=programs.folder / "kernels.py",
        shown="kernels.py",
        kernel="add",
        arguments=parse_signature("*fp32:16, *fp32:16, *fp32, i32, i32:1, 128"),
        options={"num_warps": parse_signature_value("2")},
        targets=(parse_target("cuda:90"),),
    )
    (result,) = run_jobs(expand([request]), tmp_path / "ahead").results
    for suffix in ("source", "ttir", "ttgir", "llir", "ptx", "cubin"):
        captured = (ran.output / entry.entry / f"add.{suffix}").read_bytes()
        assert captured == (tmp_path / "ahead" / result.entry / f"add.{suffix}").read_bytes(), suffix
    ahead = json.loads((tmp_path / "ahead" / result.entry / "irdiff.json").read_bytes())
    record = json.loads((ran.output / entry.entry / "irdiff.json").read_bytes())
    same = (
        "schema",
        "status",
        "kernel",
        "target",
        "source",
        "signature",
        "constexprs",
        "attributes",
        "options",
    )
    assert {name: record[name] for name in same} == {name: ahead[name] for name in same}
    assert record["provenance"] == ahead["provenance"]


def parse_signature_value(text):
    return tuple(argument.item for argument in parse_signature(text))


def test_the_record_of_a_launch_has_its_specialization(programs):
    (entry,) = programs.run(KERNEL + TENSORS + LAUNCH, target="cuda:80").entries()
    assert entry.origin == "run"
    assert not entry.executed
    assert entry.signature == {
        "x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "stride": "constexpr", "SIZE": "constexpr",
    }  # fmt: skip
    assert entry.constexprs == {"stride": 1, "SIZE": 128}
    assert entry.attributes == {"x": {"tt.divisibility": 16}, "y": {"tt.divisibility": 16}}
    assert entry.options["num_warps"] == 2
    assert (entry.source.file, entry.source.line) == ("program.py", 6)
    assert list(entry.times.stages) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin", "store"]
    assert entry.provenance.triton == "3.6.0"
    assert entry.driver is None


def test_several_targets_run_the_program_once_for_each(programs):
    ran = programs.run(KERNEL + TENSORS + LAUNCH + "print('ran')", target="cuda:80,cuda:90,cuda:121")
    assert ran.stdout == "ran\n" * 3
    assert {entry.target for entry in ran.entries()} == {"cuda:80", "cuda:90", "cuda:121"}
    assert len(ran.folders()) == 3


def test_the_list_of_files_names_the_place_where_they_lie(programs):
    ran = programs.run(KERNEL + TENSORS + LAUNCH, target="cuda:90")
    (entry,) = ran.entries()
    folder = ran.output / entry.entry
    listed = json.loads((folder / "__grp__add.json").read_bytes())["child_paths"]
    assert listed
    assert all(path == str(folder / name) for name, path in listed.items())


def test_what_a_program_compiles_itself_is_captured_where_no_target_is_named(programs):
    ran = programs.run(KERNEL + AHEAD)
    (entry,) = ran.entries()
    assert entry.executed
    assert entry.options_given == {"num_warps": 2}
    assert entry.attributes == {"x": {"tt.divisibility": 16}}
    assert not entry.subprocess


def test_kernels_of_subprocesses_are_captured_and_marked(programs):
    (programs.folder / "child.py").write_text(KERNEL + AHEAD)
    text = "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)"
    ran = programs.run(text)
    (entry,) = ran.entries()
    assert entry.subprocess
    assert "in subprocesses" in ran.stderr


def test_kernels_of_forked_workers_that_end_at_once_are_captured(programs):
    text = (
        KERNEL
        + "import os\nif os.fork() == 0:\n"
        + "\n".join(f"    {line}" for line in (AHEAD + "os._exit(0)").splitlines())
        + "\nos.wait()\n"
    )
    (entry,) = programs.run(text).entries()
    assert entry.subprocess


def test_a_cache_that_the_program_chose_itself_is_copied_and_left(programs):
    text = "import os\nos.environ['TRITON_CACHE_DIR'] = os.path.abspath('mine')\n" + KERNEL + AHEAD
    ran = programs.run(text)
    (entry,) = ran.entries()
    assert (programs.folder / "mine" / entry.entry / "add.ptx").is_file()
    assert (ran.output / entry.entry / "add.ptx").is_file()


def test_a_program_that_is_killed_leaves_the_finished_entries_alone(programs):
    text = (
        KERNEL
        + AHEAD
        + """
import os, signal
from triton.backends.nvidia.compiler import CUDABackend
CUDABackend.make_cubin = lambda *arguments, **named: os.kill(os.getpid(), signal.SIGKILL)
triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 2})
"""
    )
    ran = programs.run(text)
    assert ran.code == 128 + 9
    (entry,) = ran.entries()
    assert entry.target == "cuda:90"
    assert ran.folders() == [entry.entry]


def test_a_kernel_that_does_not_compile_is_recorded_with_its_line_and_the_others_are_kept(programs):
    text = (
        KERNEL
        + TENSORS
        + LAUNCH
        + """
@triton.jit
def wrong(x, SIZE: tl.constexpr):
    tl.static_assert(
        SIZE > 128,
        "too small",
    )


wrong[(1,)](Tensor(), SIZE=64)
"""
    )
    ran = programs.run(text, target="cuda:90")
    assert ran.code == 1
    good, bad = ran.entries()
    assert (good.kernel, good.status) == ("add", "compiled")
    assert (bad.kernel, bad.status) == ("wrong", "failed")
    assert bad.failure.kind == "front-end"
    assert "tl.static_assert(" in text.splitlines()[bad.failure.line - 1]
    assert f"program.py:{bad.failure.line}" in ran.stderr


def test_every_configuration_of_an_autotuned_kernel_is_captured(programs):
    tuned = KERNEL.replace(
        "@triton.jit",
        "@triton.autotune([triton.Config({'SIZE': s}, num_warps=w) for s in (64, 128) for w in (1, 2)], key=['n'])\n"
        "@triton.jit",
    )
    ran = programs.run(tuned + TENSORS + "add[(8,)](Tensor(), Tensor(), Tensor(), 1000, 1)", target="cuda:90")
    entries = ran.entries()
    assert ran.code == 0
    configs = {(entry.autotune.config["SIZE"], entry.autotune.config["num_warps"]) for entry in entries}
    assert configs == {(64, 1), (64, 2), (128, 1), (128, 2)}
    assert all(entry.constexprs["SIZE"] == entry.autotune.config["SIZE"] for entry in entries)
    assert {(entry.autotune.winner, entry.autotune.milliseconds) for entry in entries} == {(None, None)}
    assert all(entry.autotune.keys[0].key == {"n": 1000} for entry in entries)


def test_measuring_without_a_gpu_is_refused_with_the_line_and_what_was_compiled_is_kept(programs):
    text = KERNEL + TENSORS + LAUNCH + "import triton.testing\ntriton.testing.do_bench(lambda: None)\n"
    ran = programs.run(text, target="cuda:90")
    line = text.splitlines().index("triton.testing.do_bench(lambda: None)") + 1
    assert ran.code == 1
    assert f"program.py:{line}: triton.testing.do_bench measures" in ran.stderr
    assert "IRDIFF_COMPILE_ONLY" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert [entry.kernel for entry in ran.entries()] == ["add"]


def test_what_is_behind_the_advised_condition_is_left_out(programs):
    text = (
        KERNEL
        + TENSORS
        + LAUNCH
        + (
            "import os\nprint(os.environ['IRDIFF_COMPILE_ONLY'])\n"
            "if not os.environ.get('IRDIFF_COMPILE_ONLY'):\n    triton.testing.do_bench(lambda: None)\n"
        )
    )
    ran = programs.run(text, target="cuda:90")
    assert (ran.code, ran.stdout) == (0, "cuda:90\n")


def test_an_error_of_the_program_itself_is_shown_as_python_shows_it(programs):
    ran = programs.run(KERNEL + TENSORS + LAUNCH + "raise KeyError('mine')", target="cuda:90")
    assert ran.code == 1
    assert "Traceback" in ran.stderr
    assert "KeyError: 'mine'" in ran.stderr


def test_a_program_that_switches_the_interpreter_on_is_stopped_with_the_reason(programs):
    ran = programs.run("import os\nos.environ['TRITON_INTERPRET'] = '1'\n" + KERNEL + TENSORS + LAUNCH)
    assert ran.code != 0
    assert "TRITON_INTERPRET" in ran.stderr
    assert ran.folders() == []


def test_two_runs_of_a_program_give_the_same_bytes_but_for_times(programs, tmp_path):
    kept = []
    for _ in range(2):
        ran = programs.run(KERNEL + TENSORS + LAUNCH, target="cuda:90")
        (entry,) = ran.entries()
        record = json.loads((ran.output / entry.entry / "irdiff.json").read_bytes())
        del record["times"]
        kept.append((record, (ran.output / entry.entry / "add.cubin").read_bytes()))
    assert kept[0] == kept[1]


def test_records_name_no_folder(programs):
    ran = programs.run(KERNEL + TENSORS + LAUNCH, target="cuda:90")
    (entry,) = ran.entries()
    text = (ran.output / entry.entry / "irdiff.json").read_text()
    assert str(programs.folder) not in text
    assert sys.prefix not in text
