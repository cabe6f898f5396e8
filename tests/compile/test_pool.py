"""Workers that die, hang or talk nonsense: one kernel's failure, never the run's."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from compiling import fake_jobs, program, run_jobs
from irdiff.compile.gpu import find_gpu
from irdiff.compile.record import decode_entry
from irdiff.errors import ToolError, UsageError

BAD = ("aborts", "leaves", "babbles", "stops", "mistakes", "forgets")


def outcomes(results):
    return [(each.kernel, each.status, each.failure and each.failure.kind) for each in results.results]


def start(tables, output, python, **environment):
    """The command at work on tables, with two workers."""
    return program(tables, "-o", str(output), "--python", python, "--jobs", "2", **environment)


@pytest.fixture
def tables(tmp_path):
    """A folder whose tables ask for eight kernels."""
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "k.py").write_text("")
    (folder / "irdiff.toml").write_text(
        "".join(
            f'[[kernel]]\nfile = "k.py"\nname = "k{number}"\ntargets = "cuda:90"\n' for number in range(8)
        )
    )
    return folder


@pytest.mark.parametrize("workers", [1, 3])
def test_each_bad_worker_fails_its_own_kernel_and_the_others_go_on(tmp_path, fake_python, workers):
    names = [name for bad in BAD for name in (bad, f"after_{bad}")]
    results = run_jobs(fake_jobs(tmp_path, *names), tmp_path / "out", fake_python, workers=workers)
    assert outcomes(results) == [
        outcome
        for bad in BAD
        for outcome in (
            (bad, "failed", "crash" if bad in ("aborts", "leaves") else "worker"),
            (f"after_{bad}", "compiled", None),
        )
    ]
    assert not list((tmp_path / "out").glob(".irdiff*"))


def test_a_crash_is_told_with_its_stage_its_signal_and_what_was_printed(tmp_path, fake_python):
    results = run_jobs(fake_jobs(tmp_path, "aborts"), tmp_path / "out", fake_python)
    failure = results.results[0].failure
    assert failure.stage == "llir"
    assert failure.message == "LLVM ERROR: Cannot select: t1 (the compiler's process was ended by SIGABRT)"
    (record,) = (tmp_path / "out" / "failed").iterdir()
    entry = decode_entry(record.read_bytes())
    assert (entry.status, entry.kernel, entry.target, entry.failure) == (
        "failed",
        "aborts",
        "cuda:90",
        failure,
    )


def test_a_hanging_kernel_is_stopped_at_its_time_limit_with_the_stage_it_reached(tmp_path, fake_python):
    began = time.monotonic()
    results = run_jobs(
        fake_jobs(tmp_path, "hangs", "k1", "k2"), tmp_path / "out", fake_python, workers=1, timeout=1.0
    )
    assert time.monotonic() - began < 30
    assert outcomes(results) == [
        ("hangs", "failed", "timeout"),
        ("k1", "compiled", None),
        ("k2", "compiled", None),
    ]
    assert results.results[0].failure.stage == "ttgir"


def test_entries_lie_where_triton_would_look_for_them(tmp_path, fake_python):
    run_jobs(fake_jobs(tmp_path, "k1"), tmp_path / "out", fake_python)
    entry = tmp_path / "out" / "K190"
    listed = json.loads((entry / "__grp__k1.json").read_text())["child_paths"]
    assert listed == {name: str(entry / name) for name in ("k1.ttir", "k1.json")}
    assert sorted(path.name for path in entry.iterdir()) == [
        "__grp__k1.json",
        "irdiff.json",
        "k1.json",
        "k1.ttir",
    ]


def test_a_second_run_compiles_nothing_and_says_so(tmp_path, fake_python):
    jobs = fake_jobs(tmp_path, "k1", "k2")
    run_jobs(jobs, tmp_path / "out", fake_python, FAKE_LOG=str(tmp_path / "log"))
    again = run_jobs(jobs, tmp_path / "out", fake_python, FAKE_LOG=str(tmp_path / "log"))
    assert [result.status for result in again.results] == ["unchanged", "unchanged"]
    assert [result.shared for result in again.results] == [64, 64]
    assert len((tmp_path / "log").read_text().splitlines()) == 2


def test_an_entry_with_a_missing_file_is_compiled_again(tmp_path, fake_python):
    jobs = fake_jobs(tmp_path, "k1")
    run_jobs(jobs, tmp_path / "out", fake_python)
    (tmp_path / "out" / "K190" / "k1.ttir").unlink()
    assert run_jobs(jobs, tmp_path / "out", fake_python).results[0].status == "compiled"
    assert (tmp_path / "out" / "K190" / "k1.ttir").is_file()


def test_a_kernel_that_compiles_again_leaves_no_failure_behind(tmp_path, fake_python):
    (job,) = fake_jobs(tmp_path, "k1")
    record = tmp_path / "out" / "failed" / f"k1-{job.slot}.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    run_jobs([job], tmp_path / "out", fake_python)
    assert not record.parent.exists()


def test_killed_half_way_and_run_again_nothing_is_compiled_twice_and_nothing_is_lost(
    tmp_path, tables, fake_python
):
    output, log = tmp_path / "out", tmp_path / "log"
    environment = {"FAKE_SECONDS": "0.15", "FAKE_LOG": str(log)}
    process = start(tables, output, fake_python, **environment)
    while len(list(output.glob("K*/irdiff.json"))) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()
    finished = {path.parent.name.removesuffix("90").lower() for path in output.glob("K*/irdiff.json")}
    log.unlink()
    process = start(tables, output, fake_python, **environment)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    compiled = [line.split()[0] for line in log.read_text().splitlines()]
    assert sorted(compiled) == sorted({f"k{number}" for number in range(8)} - finished)
    assert len(list(output.glob("K*/irdiff.json"))) == 8
    assert f"{len(finished)} unchanged" in out
    assert not list(output.glob(".irdiff*"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_workers_and_leaves_nothing_unfinished(tmp_path, tables, fake_python, number, code):
    (tables / "irdiff.toml").write_text('[[kernel]]\nfile = "k.py"\nname = "hangs"\ntargets = "cuda:90"\n')
    log = tmp_path / "log"
    process = start(tables, tmp_path / "out", fake_python, FAKE_LOG=str(log))
    while not log.is_file() or not log.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert not list((tmp_path / "out").iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


@pytest.mark.parametrize(
    ("environment", "message", "hint"),
    [
        ({"FAKE_START": "dies"}, "before it was ready: this interpreter is broken", "import triton"),
        ({"FAKE_START": "speaks"}, "wrote what is no message", "Python interpreter"),
        (
            {"FAKE_START": "missing", "FAKE_PLATFORM": "linux-x86_64"},
            "Triton is not installed",
            "pip install 'irdiff[compile]'",
        ),
        (
            {"FAKE_START": "missing", "FAKE_PLATFORM": "darwin-arm64"},
            "there is no Triton",
            "wheels for Linux alone",
        ),
    ],
)
def test_an_interpreter_that_cannot_compile_is_told_apart(tmp_path, fake_python, environment, message, hint):
    with pytest.raises(ToolError) as raised:
        run_jobs(fake_jobs(tmp_path, "k1"), tmp_path / "out", fake_python, **environment)
    assert message in raised.value.message
    assert hint in raised.value.hint
    assert not list((tmp_path / "out").iterdir())


def test_an_interpreter_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ToolError, match="cannot be started"):
        run_jobs(fake_jobs(tmp_path, "k1"), tmp_path / "out", str(tmp_path / "python"))


def test_the_target_of_the_gpu_is_asked_for_and_without_one_the_choices_are_named(tmp_path, fake_python):
    found = find_gpu(fake_python, tmp_path / "log", {"FAKE_GPU": "90", **os.environ})
    assert str(found) == "cuda:90"
    with pytest.raises(UsageError, match="0 active drivers") as raised:
        find_gpu(fake_python, tmp_path / "log", os.environ)
    assert "cuda:90" in raised.value.hint
