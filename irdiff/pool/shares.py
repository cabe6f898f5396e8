"""Which worker does what: each stays with one kind of work as long as there is some.

Readers remember what they have seen of a stage (shapes of lines, types, operands); two workers that share every stage
both learn all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irdiff.engine.unit import Batch


class Shares:
    """Lines of batches, given out to workers by number."""

    def __init__(self, lines: Sequence[Iterator[Batch]]) -> None:
        self._lines = dict(enumerate(lines))
        """Those that are not at their end."""
        self._mine: dict[int, int] = {}
        """Worker to its line."""

    def next(self, worker: int) -> Batch | None:
        """The next batch of the worker's line, or of the first of those that fewest others work on; None at the end."""
        while self._lines:
            line = self._mine.get(worker)
            if line not in self._lines:
                taken = list(self._mine.values())
                line = self._mine[worker] = min(self._lines, key=lambda each: (taken.count(each), each))
            batch = next(self._lines[line], None)
            if batch is not None:
                return batch
            del self._lines[line]
        return None
