"""What is done while others work: pairs are compared, what is sure to come is begun, and the report stays the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import ClassVar

import pytest

from irdiff.engine import elsewhere
from irdiff.engine.unit import Answer, Batch, Item
from irdiff.pool import local
from irdiff.pool.local import LocalPool
from pooled import SETTINGS, report_with


@pytest.fixture(scope="module")
def here() -> bytes:
    """The comparison without any other process."""
    return report_with(None)


@pytest.fixture(autouse=True)
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too few to be sent to workers: they are compared by whoever waits for these."""
    monkeypatch.setattr(elsewhere, "READY_FROM", 1 << 40)


class Watched(local._Worker):
    """A worker that notes what it is given, and may be killed after the first answers to a batch."""

    given: ClassVar[list[Batch]] = []
    deaths = 0

    def send(self, batch: Batch) -> None:
        Watched.given.append(batch)
        super().send(batch)

    def answers(self, count: int) -> Iterator[list[Answer]]:
        for part in super().answers(count):
            yield part
            if len(part) < count and Watched.deaths:
                Watched.deaths -= 1
                self._process.kill()
                self._process.wait()


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> type[Watched]:
    monkeypatch.setattr(local, "_Worker", Watched)
    monkeypatch.setattr(Watched, "given", [])
    monkeypatch.setattr(Watched, "deaths", 0)
    return Watched


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_comparing_while_others_read_changes_no_byte(
    watched: type[Watched], workers: int, early: bool, here: bytes
) -> None:
    idle: list[int] = []
    with closing(LocalPool(workers)) as pool:
        if early:
            pool.start(SETTINGS)
        assert report_with(pool, early=early, idle=lambda: idle.append(1)) == here
    assert idle == [1]
    assert not any(batch.parcels for batch in watched.given)


def test_what_is_prepared_together_is_begun_once_and_waits_for_nothing(
    watched: type[Watched], here: bytes
) -> None:
    with closing(LocalPool(2)) as pool:
        pool.start(SETTINGS)
        assert report_with(pool, early=True) == here
    (together,) = [batch for batch in watched.given if batch.long]
    assert {item.stage for item in together.items} == {"sass"}
    read = [(item.stage, item.sha256, item.lines) for batch in watched.given for item in batch.items]
    assert len(read) == len(set(read))


def test_of_a_batch_on_which_a_worker_ends_half_way_the_rest_is_done_once_more(
    watched: type[Watched], here: bytes
) -> None:
    watched.deaths = 1
    told: list[str] = []
    with closing(LocalPool(2, complain=told.append)) as pool:
        assert report_with(pool) == here
    assert len(told) == 1
    together = next(batch for batch in watched.given if batch.long)
    again = [batch.items[0] for batch in watched.given if batch.long and batch is not together]
    assert again == list(together.items[1:])


def test_what_was_begun_and_nobody_asked_for_ends_with_the_pool(watched: type[Watched]) -> None:
    item = Item(stage="fork", suffix=".fork", location="k.fork", sha256="", data=b"", canonical=True)
    batch = Batch(settings=SETTINGS, items=(item,))
    with closing(LocalPool(2)) as pool:
        assert not pool.begin(batch)  # nobody is there
        pool.start(SETTINGS, most=1)
        assert pool.begin(batch)
        assert not pool.begin(batch)  # everybody has something to do
        (pid,) = [worker._process.pid for worker in pool._all]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
