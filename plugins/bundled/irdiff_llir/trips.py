"""How often a loop runs, where the text proves it: a counter from a constant by a constant step to a constant bound.

The proof asks for one way out of the loop, by one ``icmp`` of the counter with a constant, in the block that
begins or ends every pass, and a ``phi`` of two values. All else is not known.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

import msgspec

from irdiff.api import Loop
from irdiff_llir.control import Block
from irdiff_llir.reader import Item

_BRANCH = re.compile(r"i1 (%[-\w.$]+), label %([-\w.$]+), label %([-\w.$]+)")
_COMPARE = re.compile(
    r"(?:samesign )?(eq|ne|[us](?:lt|le|gt|ge)) i(\d{1,3}) (%[-\w.$]+), (-?\d{1,19})(?:,|\Z)"
)
_ADD = re.compile(r"(?:nuw |nsw )*i\d{1,3} (%[-\w.$]+), (-?\d{1,19})(?:,|\Z)")
_INCOMING = re.compile(r"\[ (%?[-\w.$]+), %([-\w.$]+) \]")
_INVERSE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_FOLLOWED = 8
_TOO_MANY = 1 << 40


class _Test(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison that decides whether another pass begins."""

    counter: str
    relation: str
    """The counter's, under which the loop goes on: ``lt``."""
    signed: bool
    bits: int
    bound: int


class TripCounts:
    """The trip counts of the loops of one file."""

    def __init__(self, items: Sequence[Item], blocks: Sequence[Block], loops: Sequence[Loop]) -> None:
        self._items = items
        self._blocks = blocks
        self._inner: dict[str, list[Loop]] = {}
        for inner in loops:
            parts = inner.id.split("/")
            for end in range(1, len(parts)):
                self._inner.setdefault("/".join(parts[:end]), []).append(inner)
        self._functions = [index for index, item in enumerate(items) if item[2] == "{"]
        self._definitions: list[dict[str, int]] = [{} for _ in self._functions]
        function = -1
        for index, item in enumerate(items):
            if item[2] == "{":
                function += 1
            elif item[1] is not None and function >= 0:
                self._definitions[function].setdefault(item[1], index)

    def of(self, loop: Loop) -> int | None:
        """Passes through the loop once it is entered; None where the text does not prove it."""
        inside = [self._label(block) for block in loop.blocks]
        names = {name for name in inside if name is not None}
        if len(names) != len(inside):
            return None
        leaving = [block for block in loop.blocks if self._targets(block) - names]
        header = self._label(loop.header)
        latches = [block for block in loop.blocks if header in self._targets(block)]
        if len(leaving) != 1 or len(latches) != 1 or leaving[0] not in (loop.header, latches[0]):
            return None
        once = {loop.header, latches[0]}
        if any(inner.blocks & once for inner in self._inner.get(loop.id, ())):
            return None
        known = self._definitions[bisect.bisect_right(self._functions, self._blocks[loop.header].start) - 1]
        test = self._test(leaving[0], names, known)
        if test is None:
            return None
        phi, ahead = self._offset(test.counter, known)
        bounds = self._counter(phi, names, known, loop.header)
        if bounds is None:
            return None
        going_on = _times(bounds[0] + ahead, bounds[1], test)
        if going_on is None:
            return None
        return going_on + (1 if leaving[0] == latches[0] else 0)

    def _label(self, block: int) -> str | None:
        first = self._items[self._blocks[block].start]
        return first[3] if first[2] == ":" else None

    def _last(self, block: int) -> Item:
        return self._items[self._blocks[block].end - 1]

    def _targets(self, block: int) -> set[str]:
        return set(re.findall(r"label %([-\w.$]+)", self._last(block)[3]))

    def _test(self, way_out: int, names: set[str], known: dict[str, int]) -> _Test | None:
        _, _, opcode, operands = self._last(way_out)
        branch = _BRANCH.match(operands) if opcode == "br" else None
        if branch is None or (branch[2] in names) == (branch[3] in names):
            return None
        index = known.get(branch[1])
        compare = (
            _COMPARE.match(self._items[index][3])
            if index is not None and self._items[index][2] == "icmp"
            else None
        )
        if compare is None:
            return None
        relation = compare[1] if compare[1] in ("eq", "ne") else compare[1][1:]
        return _Test(
            counter=compare[3],
            relation=relation if branch[2] in names else _INVERSE[relation],
            signed=compare[1][0] != "u",
            bits=int(compare[2]),
            bound=int(compare[4]),
        )

    def _offset(self, name: str, known: dict[str, int]) -> tuple[str, int]:
        """(what a value is the sum of, the constant)."""
        total = 0
        for _ in range(_FOLLOWED):
            index = known.get(name)
            added = (
                _ADD.match(self._items[index][3])
                if index is not None and self._items[index][2] == "add"
                else None
            )
            if added is None:
                break
            name, total = added[1], total + int(added[2])
        return name, total

    def _counter(
        self, phi: str, names: set[str], known: dict[str, int], header: int
    ) -> tuple[int, int] | None:
        """(first value, step) of the counter, where both are constants."""
        index = known.get(phi)
        block = self._blocks[header]
        if index is None or self._items[index][2] != "phi" or not block.start <= index < block.end:
            return None
        incoming = _INCOMING.findall(self._items[index][3])
        starts = [value for value, source in incoming if source not in names]
        nexts = [value for value, source in incoming if source in names]
        if len(starts) != 1 or len(nexts) != 1 or not re.fullmatch(r"-?\d{1,19}", starts[0]):
            return None
        again, step = self._offset(nexts[0], known)
        return (int(starts[0]), step) if again == phi and step else None


def _times(first: int, step: int, test: _Test) -> int | None:
    """How often in a row the comparison holds; None where the counter would wrap around, or it never ends."""
    half = 1 << (test.bits - 1)
    low, high = (-half, half) if test.signed else (0, 2 * half)
    bound = test.bound if test.signed or test.bound >= 0 else test.bound + 2 * half
    if not low <= first < high or not low <= bound < high:
        return None
    if test.relation == "eq":
        return int(first == bound)
    if test.relation == "ne":
        count, rest = divmod(bound - first, step)
        return count if not rest and 0 <= count < _TOO_MANY else None
    upward = test.relation in ("lt", "le")
    limit = bound + (test.relation == "le") - (test.relation == "ge")
    holds = first < limit if upward else first > limit
    if not holds:
        return 0
    if upward != (step > 0):
        return None
    count = -(-(limit - first) // step)
    return count if low <= first + count * step < high and count < _TOO_MANY else None
