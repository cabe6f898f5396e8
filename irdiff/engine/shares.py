"""Which worker does what: each stays with one kind of work as long as there is some.

Readers remember what they have seen of a stage (shapes of lines, types, operands); two workers that share every stage
both learn all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from irdiff.engine.unit import Batch, Line


class Shares:
    """Lines of batches, given out to workers by number."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = dict(enumerate(lines))
        """Those that are not at their end."""
        self._mine: dict[int, int] = {}
        """Worker to its line."""
        self._kinds = {number: line.kind for number, line in self._lines.items()}
        self._learnt: dict[int, set[str]] = {}
        """Worker to the kinds of work that it did."""

    def next(self, worker: int) -> Batch | None:
        """The next batch for a worker; None for none now."""
        empty: set[int] = set()
        while open_lines := self._lines.keys() - empty:
            number = self._mine.get(worker, -1)
            if number not in open_lines:
                number = self._mine[worker] = min(open_lines, key=self._costs(worker).__getitem__)
            try:
                batch = next(self._lines[number].batches)
            except StopIteration:
                del self._lines[number]
                continue
            if batch is not None:
                self._learnt.setdefault(worker, set()).add(self._kinds[number])
                return batch
            empty.add(number)
        return None

    def _costs(self, worker: int) -> dict[int, tuple[int, bool, int]]:
        """Line to what speaks against it: others work on its kind now, or know it and the worker does not."""
        others = [self._kinds[number] for each, number in self._mine.items() if each != worker]
        known = self._learnt.get(worker, set())
        elsewhere = {kind for each, kinds in self._learnt.items() if each != worker for kind in kinds}
        return {
            number: (others.count(line.kind), line.kind in elsewhere - known, number)
            for number, line in self._lines.items()
        }
