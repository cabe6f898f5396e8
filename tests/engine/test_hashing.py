"""Work on many files: everything is done once, in more threads only where the disk is waited for."""

from __future__ import annotations

import threading
from time import sleep

import pytest

from irdiff.engine import hashing
from irdiff.engine.hashing import PROBE, each


def done(count: int, call: object = lambda number: None) -> tuple[list[int], set[int]]:
    seen: list[int] = []
    threads: set[int] = set()

    def one(number: int) -> None:
        call(number)  # type: ignore[operator]
        seen.append(number)
        threads.add(threading.get_ident())

    each(one, iter(range(count)))
    return seen, threads


@pytest.mark.parametrize("count", [0, 1, PROBE, 10 * PROBE + 1])
def test_everything_is_done_once(count: int) -> None:
    assert sorted(done(count)[0]) == list(range(count))


class Clock:
    """Time that passes between two looks, and how much of it a processor worked."""

    def __init__(self, worked: float) -> None:
        self._passed = 0.0
        self._worked = worked

    def perf_counter(self) -> float:
        self._passed += 1.0
        return self._passed

    def thread_time(self) -> float:
        return self._passed * self._worked


@pytest.mark.parametrize(("worked", "several"), [(1.0, False), (0.6, False), (0.4, True), (0.01, True)])
def test_more_threads_help_only_where_calls_wait(
    monkeypatch: pytest.MonkeyPatch, worked: float, several: bool
) -> None:
    monkeypatch.setattr(hashing, "time", Clock(worked))
    monkeypatch.setattr(hashing, "_given_up", lambda: None)  # not every system counts that
    seen, threads = done(6 * PROBE, lambda _: sleep(0.001))
    assert sorted(seen) == list(range(6 * PROBE))
    assert (len(threads) > 1) == several


def test_a_processor_that_others_use_too_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "time", Clock(0.1))
    monkeypatch.setattr(hashing, "_given_up", lambda: 7)
    assert len(done(6 * PROBE)[1]) == 1


@pytest.mark.parametrize("at", [0, PROBE - 1, 3 * PROBE])
def test_a_fault_ends_it_and_is_raised_again(at: int) -> None:
    def failing(number: int) -> None:
        sleep(0.001)
        if number == at:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        done(4 * PROBE, failing)
