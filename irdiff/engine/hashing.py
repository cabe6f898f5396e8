"""Digests of many files, several at once: hashing lets go of Python's lock, and disks answer many at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from irdiff.model.bundle import Artifact

T = TypeVar("T")

FEW = 64
"""Files up to which threads cost more than they bring."""
THREADS = 4


def hashed(artifacts: Sequence[Artifact]) -> None:
    """Make the digest of every artifact; what cannot be read raises OSError again where it is asked for."""
    each(_hash, artifacts, THREADS if len(artifacts) > FEW else 1)


def each(call: Callable[[T], None], things: Iterable[T], threads: int = THREADS) -> None:
    """Call with everything, in several threads that take one after another; the first exception is raised again.

    Not a pool of futures: one for each of 100,000 files takes more memory than everything that is known of them.
    """
    waiting = _Shared(things)
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for thing in waiting:
                call(thing)
        except BaseException as error:  # noqa: BLE001  # raised again where it is awaited
            faults.append(error)
            waiting.end()

    others = [threading.Thread(target=work, daemon=True) for _ in range(threads - 1)]
    for other in others:
        other.start()
    work()
    for other in others:
        other.join()
    if faults:
        raise faults[0]


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
