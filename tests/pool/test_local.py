"""Workers of this machine: the same bytes whatever their number, and a worker that ends costs one artifact at most."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import corpus
from irdiff.engine.planning import workers_for
from irdiff.engine.unit import Answer, Batch, Item, Line
from irdiff.pool import local
from irdiff.pool.frames import answers_of
from irdiff.pool.local import LocalPool, WorkerEndedError
from pooled import SETTINGS, report_with


@pytest.fixture(scope="module")
def here() -> bytes:
    """The comparison without any other process."""
    return report_with(None)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_number_of_workers_changes_no_byte(workers: int, here: bytes) -> None:
    with closing(LocalPool(workers)) as pool:
        assert report_with(pool) == here


class Dying(local._Worker):
    """A worker that is killed when it is handed one of the artifacts named, so many times."""

    poison = ""
    deaths = 0

    def send(self, batch: Batch) -> None:
        if Dying.deaths and any(Dying.poison in item.location for item in batch.items):
            Dying.deaths -= 1
            self._process.kill()
            self._process.wait()
        super().send(batch)


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> type[Dying]:
    monkeypatch.setattr(local, "_Worker", Dying)
    return Dying


def test_a_worker_that_is_killed_once_is_reported_and_changes_nothing(
    dying: type[Dying], here: bytes
) -> None:
    dying.poison, dying.deaths = ".ptx", 1
    told: list[str] = []
    with closing(LocalPool(2, complain=told.append)) as pool:
        assert report_with(pool) == here
    (text,) = told
    assert "SIGKILL" in text
    assert "once more" in text


def test_an_artifact_on_which_workers_end_twice_is_an_issue_and_the_rest_is_compared(
    dying: type[Dying], here: bytes
) -> None:
    (hurt_file,) = (corpus.PAIRS / "spills" / "after").rglob("*.ttgir")
    dying.poison, dying.deaths = str(hurt_file), 1000
    with closing(LocalPool(2)) as pool:
        found, whole = json.loads(report_with(pool)), json.loads(here)
    hurt = [kernel for kernel in found["kernels"] if kernel["issues"]]
    assert {issue["code"] for kernel in hurt for issue in kernel["issues"]} == {"worker-ended"}
    assert all("spills" in issue["where"] for kernel in hurt for issue in kernel["issues"])
    assert len(hurt) == 1
    others = [kernel for kernel in whole["kernels"] if "spills" not in kernel["path_before"]]
    assert [kernel for kernel in found["kernels"] if kernel not in hurt] == others


def batches() -> Iterator[Batch]:
    for number in range(40):
        item = Item(
            stage="fork", suffix=".fork", location=f"k{number}.fork", sha256="", data=b"", canonical=True
        )
        yield Batch(settings=SETTINGS, items=(item,))


def test_stopping_in_the_middle_leaves_no_process() -> None:
    pool = LocalPool(2)
    running = pool.run([Line("fork", batches())])
    next(running)
    pids = [worker._process.pid for worker in pool._all]
    running.close()
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_fault_where_batches_are_made_reaches_the_caller() -> None:
    def failing() -> Iterator[Batch]:
        yield from list(batches())[:2]
        raise ZeroDivisionError("a mistake of ours")

    with closing(LocalPool(2)) as pool, pytest.raises(ZeroDivisionError):
        list(pool.run([Line("fork", failing())]))


def test_an_answer_that_is_none_of_ours_counts_as_an_end() -> None:
    with pytest.raises(EOFError):
        answers_of(b"\xc1 nonsense", 1)
    with pytest.raises(ValueError, match="no answer of a stage"):
        Answer("", lasting=True, data=b"nonsense").said()


def test_a_pool_that_was_closed_starts_nothing() -> None:
    pool = LocalPool(1)
    pool.close()
    with pytest.raises(WorkerEndedError):
        list(pool.run([Line("fork", batches())]))


def test_a_worker_looks_for_modules_where_its_starter_did(
    tmp_path: Any, monkeypatch: Any, here: bytes
) -> None:
    (tmp_path / "msgspec.py").write_text(
        "raise SystemExit('a file in the folder irdiff is called in was run')"
    )
    with closing(LocalPool(1)) as pool:
        monkeypatch.chdir(tmp_path)
        answered = list(pool.run([Line("fork", batches())]))
    assert len(answered) == 40


def test_ctrl_c_is_no_matter_of_a_worker() -> None:
    with closing(LocalPool(1)) as pool:
        running = pool.run([Line("fork", batches())])
        next(running)
        (worker,) = pool._all
        os.kill(worker._process.pid, signal.SIGINT)
        assert len(list(running)) == 39


def test_a_worker_that_is_killed_leaves_no_file() -> None:
    pool = LocalPool(1)
    pool.start(SETTINGS)
    (worker,) = pool._all
    folder = Path(pool._folder)
    worker.send(next(batches()))
    list(worker.answers(1))
    environment = Path(f"/proc/{worker._process.pid}/environ")
    if environment.exists():
        assert f"TMPDIR={folder}".encode() in environment.read_bytes().split(b"\0")
    (folder / "left behind").mkdir()
    worker._process.kill()
    pool.close()
    assert not folder.exists()


def test_no_more_workers_are_started_than_the_work_is_worth() -> None:
    with closing(LocalPool(50)) as pool:
        pool.start(SETTINGS, most=2)
        assert len(pool._all) == 2
        assert len(list(pool.run([Line("fork", batches())], most=3))) == 40
        assert len(pool._all) == 3


@pytest.mark.parametrize(("size", "workers"), [(0, 2), (3 << 20, 3), (1 << 30, 1024)])
def test_each_worker_is_worth_its_start(size: int, workers: int) -> None:
    assert workers_for(size) == workers


@pytest.mark.parametrize("needed", [False, True])
def test_workers_find_the_same_modules_with_and_without_what_sites_set_up(
    monkeypatch: pytest.MonkeyPatch, needed: bool, here: bytes
) -> None:
    monkeypatch.setattr(local, "needs_site", lambda: needed)
    with closing(LocalPool(2)) as pool:
        assert report_with(pool) == here
        arguments = {"-S" in worker._process.args for worker in pool._all}
    assert arguments == {not needed}


def test_a_finder_of_modules_that_only_some_pythons_have_is_given_to_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = [each for each in sys.meta_path if getattr(each, "__module__", "").startswith("_frozen_importlib")]
    monkeypatch.setattr(sys, "meta_path", own)
    assert not local.needs_site()
    monkeypatch.setattr(sys, "meta_path", [*own, object()])
    assert local.needs_site()


def test_what_an_installation_customizes_is_customized_for_workers_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "needs_site", lambda: False)
    monkeypatch.setitem(sys.modules, "sitecustomize", sys)
    option, _, program = local.started_with()
    assert option == "-S"
    assert program.startswith("import sys; sys.path[:] = sys.argv[1:]; import sitecustomize; from irdiff")
