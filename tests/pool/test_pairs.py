"""Pairs compared by other processes: the report is the same, whatever is sent, lost or damaged on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import corpus
from irdiff.engine.shares import Shares
from irdiff.engine.unit import Answer, Batch, Line, Meanwhile
from irdiff.engine.workshop import Workshop
from irdiff.pool import local
from irdiff.pool.frames import answer_bytes, answers_of, batch_bytes, batch_of
from irdiff.pool.local import LocalPool
from pooled import SETTINGS, registry_and_tools, report_with


@pytest.fixture(scope="module")
def here() -> bytes:
    """The comparison without any other process."""
    return report_with(None)


class Encoded:
    """An executor in this process: everything goes through bytes, as to another one."""

    workers = 2
    ready = True

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self.parcels = 0
        self.undone = 0
        self.with_bytes = 0

    def run(
        self, lines: Sequence[Line], *, most: int | None = None, meanwhile: Meanwhile | None = None
    ) -> Iterator[tuple[Batch, Sequence[Answer]]]:
        shares = Shares(lines)
        while (batch := shares.next(0)) is not None:
            sent = self.sent(batch)
            answers = answers_of(answer_bytes(self._workshop.answers(batch_of(batch_bytes(sent)))), batch.due)
            if batch.parcels:
                self.parcels += len(batch.parcels)
                self.undone += sum(answer.compared().report is None for answer in answers)
                self.with_bytes += sum(bool(parcel.contents) for parcel in batch.parcels)
            yield batch, answers

    def sent(self, batch: Batch) -> Batch:
        return batch

    def begin(self, batch: Batch) -> bool:
        return False

    def close(self) -> None:
        pass


class Damaging(Encoded):
    """The answers that go with a pair are damaged on the way."""

    def sent(self, batch: Batch) -> Batch:
        parcels = tuple(
            msgspec.structs.replace(
                parcel, known=tuple(msgspec.structs.replace(each, data=b"\xff") for each in parcel.known)
            )
            for parcel in batch.parcels
        )
        return msgspec.structs.replace(batch, parcels=parcels)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_number_of_workers_that_compare_changes_no_byte(workers: int, here: bytes) -> None:
    with closing(LocalPool(workers)) as pool:
        assert report_with(pool) == here


def test_every_pair_that_differs_is_sent_and_comes_back_with_its_report(here: bytes) -> None:
    with registry_and_tools() as (registry, tools):
        executor = Encoded(Workshop(registry, tools, SETTINGS))
        assert report_with(executor) == here
    assert executor.parcels == 4
    assert executor.undone == 0


def test_a_report_that_needs_bytes_is_made_with_them(tmp_path: Path) -> None:
    """Operands that changed places move no fact: the places of the lines are found in the files themselves."""
    (file,) = (corpus.PAIRS / "fp_fusion" / "before").rglob("*.ptx")
    text = file.read_text()
    line = next(line for line in text.splitlines() if "shl.b32" in line)
    head, target, operand, count = line.rstrip(";").replace(", ", " ").rsplit(None, 3)
    swapped = text.replace(line, f"{head}\t{target}, {count}, {operand};", 1)
    for side, content in (("before", text), ("after", swapped)):
        for number in range(2):
            folder = tmp_path / side / f"K{number}"
            folder.mkdir(parents=True)
            (folder / f"k{number}.ptx").write_text(f"{content}// {number}\n")
    with registry_and_tools() as (registry, tools):
        executor = Encoded(Workshop(registry, tools, SETTINGS))
        inputs = (str(tmp_path / "before"), str(tmp_path / "after"))
        found = report_with(executor, inputs)
        assert b"ptx.unexplained" in found
        assert found == report_with(None, inputs)
    assert executor.undone == 2
    assert executor.with_bytes == 2


def test_damaged_answers_are_not_believed_and_the_pair_is_compared_from_its_bytes(here: bytes) -> None:
    with registry_and_tools() as (registry, tools):
        executor = Damaging(Workshop(registry, tools, SETTINGS))
        assert report_with(executor) == here
    assert executor.undone >= 4


class Dying(local._Worker):
    """A worker that is killed whenever it is handed a pair."""

    def send(self, batch: Batch) -> None:
        if batch.parcels:
            self._process.kill()
            self._process.wait()
        super().send(batch)


def test_pairs_on_which_workers_end_are_compared_by_whoever_sent_them(
    monkeypatch: pytest.MonkeyPatch, here: bytes
) -> None:
    monkeypatch.setattr(local, "_Worker", Dying)
    told: list[str] = []
    with closing(LocalPool(2, complain=told.append)) as pool:
        assert report_with(pool) == here
    assert told
    assert all("SIGKILL" in text for text in told)


def test_workers_can_be_there_before_there_is_work(here: bytes) -> None:
    with closing(LocalPool(2)) as pool:
        assert not pool.ready
        pool.start(SETTINGS)
        assert pool.ready
        started = {worker._process.pid for worker in pool._all}
        assert report_with(pool) == here
        assert {worker._process.pid for worker in pool._all} == started
