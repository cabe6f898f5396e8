"""Batches that workers of a pool have, each handed over by a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from irdiff.engine.unit import Answer, Batch, Meanwhile

Part: TypeAlias = "tuple[int, Batch, Sequence[Answer], bool]"
"""Worker, what it did of a batch, its answers, and whether that was the end of the batch."""
Done: TypeAlias = "queue.SimpleQueue[Part | BaseException]"
Waiting: TypeAlias = "queue.SimpleQueue[Batch | None]"


class Running:
    """Batches on their way: one that each worker does and one that waits, none behind a long one."""

    def __init__(self, serve: Callable[[int, Waiting, Done], None]) -> None:
        """``serve`` hands the batches of a queue to one worker, in a thread of its own."""
        self._serve = serve
        self._done: Done = queue.SimpleQueue()
        self._queues: dict[int, Waiting] = {}
        self._given: dict[int, int] = {}
        """How many batches each worker has that are not done."""
        self._busy: set[int] = set()
        """Workers with a long batch."""

    @property
    def waits(self) -> bool:
        """Whether any batch is not done."""
        return any(self._given.values())

    def takes(self, number: int, depth: int) -> bool:
        """Whether a worker that has so many batches may be given one more."""
        return self._given.get(number, 0) <= depth and not (depth and number in self._busy)

    def give(self, number: int, batch: Batch) -> None:
        """Give a worker a batch."""
        if number not in self._queues:
            self._queues[number] = queue.SimpleQueue()
            given = (number, self._queues[number], self._done)
            threading.Thread(target=self._serve, args=given, daemon=True).start()
        self._queues[number].put(batch)
        self._given[number] = self._given.get(number, 0) + 1
        if batch.long:
            self._busy.add(number)

    def next(self, meanwhile: Meanwhile | None) -> tuple[Batch, Sequence[Answer]]:
        """What was done next, waited for with something else to do. Raises what ended a thread."""
        while meanwhile is not None and self._done.empty() and meanwhile():
            pass
        found = self._done.get()
        if isinstance(found, BaseException):
            raise found
        number, batch, answers, ended = found
        self._given[number] -= ended
        if not self._given[number]:
            self._busy.discard(number)
        return batch, answers

    def end(self) -> None:
        """Nothing more is given."""
        for each in self._queues.values():
            each.put(None)
