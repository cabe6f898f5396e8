"""The command: what it refuses, what it prints, what it ends with."""

from __future__ import annotations

import json

import pytest

from compiling import program
from irdiff.cli.compile import exit_of
from irdiff.compile.record import Failure
from irdiff.compile.results import Result, Results

TABLES = """
[[kernel]]
file = "k.py"
name = "good"
targets = ["cuda:90", "hip:gfx942"]
needs = "hip:gfx950"
why = "scaled dots"

[[kernel]]
file = "k.py"
name = "aborts"
targets = ["cuda:80", "cuda:90"]
"""


def call(folder, *arguments, **environment):
    """Exit code, output and errors of one call."""
    with program(folder, *arguments, **environment) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def folder(tmp_path):
    """A folder with tables."""
    (tmp_path / "k.py").write_text("")
    (tmp_path / "irdiff.toml").write_text(TABLES)
    return tmp_path


def test_the_table_names_each_job_and_each_failure_once_with_a_hint(folder, fake_python):
    code, out, err = call(folder, "-o", "out", "--python", fake_python)
    assert (code, err) == (1, "")
    assert [line.split()[:3] for line in out.splitlines()[1:5]] == [
        ["good", "cuda:90", "compiled"],
        ["good", "hip:gfx942", "skipped"],
        ["aborts", "cuda:80", "crash"],
        ["aborts", "cuda:90", "crash"],
    ]
    assert out.count("LLVM ERROR: Cannot select: t1") == 1
    assert "aborts for cuda:80, aborts for cuda:90" in out
    assert "try another Triton with --python" in out
    assert "needs scaled dots: hip:gfx950" in out
    assert "4 specializations: 1 compiled, 2 failed, 1 skipped, Triton 3.6.0" in out


def test_json_holds_the_same_and_nothing_else_is_printed(folder, fake_python):
    code, out, err = call(folder, "-o", "out", "--python", fake_python, "--format", "json")
    assert (code, err) == (1, "")
    told = json.loads(out)
    assert told["schema"] == "irdiff-compile/1"
    assert [result["status"] for result in told["results"]] == ["compiled", "skipped", "failed", "failed"]
    assert told["results"][2]["failure"]["stage"] == "llir"


def test_targets_of_the_command_line_go_before_those_of_tables(folder, fake_python):
    _, out, _ = call(
        folder, "-o", "out", "--python", fake_python, "-t", "cuda:100,cuda:120", "-t", "cuda:75", "-f", "json"
    )
    found = [(result["kernel"], result["target"]) for result in json.loads(out)["results"]]
    targets = ("cuda:100", "cuda:120", "cuda:75")
    assert found == [(kernel, target) for kernel in ("good", "aborts") for target in targets]


def test_without_a_target_the_gpu_is_asked_for_and_none_is_a_usage_error(folder, fake_python):
    call_ = ("k.py::k1", "-o", "out", "--python", fake_python)
    code, out, _ = call(folder, *call_, FAKE_GPU="120")
    assert code == 0
    assert "cuda:120" in out
    code, _, err = call(folder, *call_)
    assert code == 64
    assert "Triton finds no GPU here" in err
    assert "cuda:90" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("k.py::k1", "-t", "cuda:90"), "no folder for the entries is named"),
        (("k.py::k1", "-t", "sm_90", "-o", "out"), "'sm_90' is no target"),
        (("k.py::k1", "-s", "*fp17", "-t", "cuda:90", "-o", "out"), "'fp17' is no type"),
        (("k.py::k1", "--set", "BLOCK", "-t", "cuda:90", "-o", "out"), "'BLOCK' is no NAME=VALUE"),
        (("k.py::k1", "-t", "cuda:90", "-o", "out", "--format", "html"), "no format 'html'"),
        (("k.ptx", "-t", "cuda:90", "-o", "out"), "is no file that Triton compiles"),
        (("--suite", "core", "-o", "out"), "a suite needs a target"),
        (("--suite", "cor", "-t", "cuda:90", "-o", "out"), "no suite 'cor'"),
        (("k.py", "--suite", "core", "-t", "cuda:90", "-o", "out"), "do not go together"),
        (("--num-warps", "4", "-o", "out"), "options of one kernel need its file"),
    ],
)
def test_a_call_that_means_nothing_ends_with_64_and_makes_nothing(folder, arguments, said):
    code, _, err = call(folder, *arguments)
    assert code == 64
    assert said in err
    assert not (folder / "out").exists()


def test_a_missing_triton_ends_with_2_and_says_how_to_get_one(folder, fake_python):
    environment = {"FAKE_START": "missing", "FAKE_PLATFORM": "linux-x86_64"}
    code, _, err = call(folder, "-o", "out", "--python", fake_python, **environment)
    assert code == 2
    assert "Triton is not installed" in err
    assert "pip install 'irdiff[compile]'" in err


def result(status, kind=None):
    failure = Failure(kind=kind, message="") if kind else None
    return Result(kernel="k", target="cuda:90", file="k.py", status=status, failure=failure)


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ((result("compiled"), result("unchanged"), result("skipped")), 0),
        ((result("compiled"), result("failed", "timeout")), 1),
        ((result("failed", "worker"),), 2),
        ((result("failed", "worker"), result("failed", "pass")), 3),
        ((result("skipped"),), 2),
    ],
)
def test_exit_codes_tell_failed_kernels_from_what_could_not_be_told(found, code):
    assert exit_of(Results(output="out", triton="3.6.0", results=found)) == code
