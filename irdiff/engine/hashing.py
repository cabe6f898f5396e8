"""Digests of many files: in one thread, and in several where the disk is waited for."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from irdiff.model.bundle import Artifact

T = TypeVar("T")

THREADS = 4
PROBE = 32
"""Calls after which it is looked whether they waited."""
WAITED = 2.0
"""Time passed over processor time from which more threads help: small files that the system has in memory are read
two to three times faster by one thread, since each call lets go of Python's lock and has to wait for it again."""


def hashed(artifacts: Sequence[Artifact]) -> None:
    """Make the digest of every artifact; what cannot be read raises OSError again where it is asked for."""
    each(_hash, artifacts)


def each(call: Callable[[T], None], things: Iterable[T]) -> None:
    """Call with everything, in several threads if that is quicker; the first exception is raised again.

    Not a pool of futures: one for each of 100,000 files takes more memory than everything that is known of them.
    """
    waiting = _Shared(things)
    faults: list[BaseException] = []
    others: list[threading.Thread] = []

    def work() -> None:
        try:
            for thing in waiting:
                call(thing)
        except BaseException as error:  # noqa: BLE001  # raised again where it is awaited
            faults.append(error)
            waiting.end()

    probe = _Probe()
    try:
        for thing in waiting:
            call(thing)
            if not others and probe.waited():
                others = [threading.Thread(target=work, daemon=True) for _ in range(THREADS - 1)]
                for other in others:
                    other.start()
    except BaseException:
        waiting.end()
        raise
    finally:
        for other in others:
            other.join()
    if faults:
        raise faults[0]


class _Probe:
    """Whether the calls of a thread wait for something, looked at every so often.

    A thread that waits gives up its processor; one whose processor others use too loses it, which is no waiting.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._now, self._used, self._given_up = _times()

    def waited(self) -> bool:
        """Asked after each call."""
        self._calls += 1
        if self._calls % PROBE:
            return False
        before, spent, times = self._now, self._used, self._given_up
        self._now, self._used, self._given_up = _times()
        waited = self._now - before > WAITED * (self._used - spent)
        return waited and (times is None or self._given_up is None or self._given_up - times > PROBE // 4)


def _times() -> tuple[float, float, int | None]:
    """Time, processor time of this thread, and how often it gave its processor up, where the system counts that."""
    return time.perf_counter(), time.thread_time(), _given_up()


def _given_up() -> int | None:
    if sys.platform != "linux":
        return None
    import resource

    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


class _Shared(Iterator[T]):
    """An iterator that several threads take from."""

    def __init__(self, things: Iterable[T]) -> None:
        self._things = iter(things)
        self._lock = threading.Lock()
        self._ended = False

    def __next__(self) -> T:
        with self._lock:
            if self._ended:
                raise StopIteration
            return next(self._things)

    def end(self) -> None:
        """Give out nothing more."""
        self._ended = True


def _hash(artifact: Artifact) -> None:
    with suppress(OSError):
        _ = artifact.sha256
