"""How often a loop runs, where the text proves it: a counter from a constant by a constant step to a constant bound.

The proof asks for: one way out of the loop, by one ``setp`` of the counter against a constant, in the block that begins
or ends every pass; a counter with one definition before the loop and one in it. All else is not known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from irdiff.api import Loop
from irdiff_ptx.control import Block, Flow
from irdiff_ptx.reader import Item
from irdiff_ptx.shapes import Shape, written

_COMPARE = re.compile(r"setp\.(lt|le|gt|ge|ne|eq)\.([subb])(32|64)\Z")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]{1,16}|\d{1,19})\Z")
_FOLLOWED = 16
"""Moves followed from a register to the constant that it holds."""
_TOO_MANY = 1 << 40

Definitions = Mapping[str, Sequence[int]]


class _Test(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison that decides whether another pass begins."""

    counter: str
    relation: str
    """The counter's, under which the loop goes on: ``lt``."""
    signed: bool
    bits: int
    bound: int
    place: int
    """Index of the item that compares."""


class TripCounts:
    """The trip counts of the loops of one file."""

    def __init__(self, items: Sequence[Item], shapes: Sequence[Shape], flow: Flow) -> None:
        self._items = items
        self._blocks = flow.blocks
        self._successors = flow.successors
        self._inner: dict[str, list[Loop]] = {}
        for inner in flow.loops:
            parts = inner.id.split("/")
            for end in range(1, len(parts)):
                self._inner.setdefault("/".join(parts[:end]), []).append(inner)
        self._definitions = _definitions(items, shapes)

    def of(self, loop: Loop) -> int | None:
        """Passes through the loop once it is entered; None where the text does not prove it."""
        leaving = [
            block
            for block in loop.blocks
            if any(target not in loop.blocks for target in self._successors[block])
        ]
        latches = [block for block in loop.blocks if loop.header in self._successors[block]]
        if len(leaving) != 1 or len(latches) != 1 or leaving[0] not in (loop.header, latches[0]):
            return None
        once = (loop.header, latches[0])
        if any(inner.blocks & set(once) for inner in self._inner.get(loop.id, ())):
            return None
        test = self._test(leaving[0], loop)
        if test is None:
            return None
        # items of the blocks that every pass runs just once, in the order in which they run
        order = [index for block in dict.fromkeys(once) for index in _items_of(self._blocks[block])]
        turn = {index: position for position, index in enumerate(order)}
        counter, compared, ahead = test.counter, test.place, 0
        stepped = self._definitions.get(counter, [])
        if len(stepped) == 1 and (sum_of := self._addition(stepped[0])) is not None and stepped[0] in turn:
            (counter, ahead), compared = sum_of, stepped[0]
        inside = {index for block in loop.blocks for index in _items_of(self._blocks[block])}
        found = self._definitions.get(counter, [])
        before = [index for index in found if index not in inside]
        within = [index for index in found if index in turn]
        if len(before) != 1 or len(within) != 1 or len(found) != 2 or compared not in turn:
            return None
        start, step = self._assigned(before[0]), self._step(within[0], counter, turn)
        if start is None or not step or before[0] > min(inside):
            return None
        first = start + ahead + (step if turn[within[0]] < turn[compared] else 0)
        going_on = _times(first, step, test)
        if going_on is None:
            return None
        return going_on + (1 if leaving[0] == latches[0] else 0)

    def _test(self, way_out: int, loop: Loop) -> _Test | None:
        block = self._blocks[way_out]
        _, guard, opcode, operands = self._items[block.end - 1]
        if guard is None or not opcode.startswith("bra") or operands is None:
            return None
        targets = self._successors[way_out]
        if len(targets) != 2:
            return None
        jumps_back = self._jump_target(block, targets) in loop.blocks
        predicate = guard.strip().lstrip("@")
        found = self._definitions.get(predicate.lstrip("!"), [])
        if len(found) != 1 or not block.start <= found[0] < block.end:
            return None
        _, other_guard, compare, words = self._items[found[0]]
        match = _COMPARE.match(compare)
        parts = [part.strip() for part in (words or "").split(",")]
        if match is None or other_guard is not None or len(parts) != 3:
            return None
        bound = self._constant(parts[2])
        if bound is None:
            return None
        relation = match[1]
        if jumps_back == predicate.startswith("!"):
            relation = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq", "eq": "ne"}[relation]
        return _Test(
            counter=parts[1],
            relation=relation,
            signed=match[2] == "s",
            bits=int(match[3]),
            bound=bound,
            place=found[0],
        )

    def _jump_target(self, block: Block, targets: Sequence[int]) -> int:
        """Of the two blocks that can follow, the one the branch names: the other one begins where this one ends."""
        return next((target for target in targets if self._blocks[target].start != block.end), targets[0])

    def _assigned(self, index: int, followed: int = 0) -> int | None:
        """The constant that an instruction moves."""
        _, guard, opcode, operands = self._items[index]
        if guard is not None or not opcode.startswith("mov.") or followed > _FOLLOWED:
            return None
        return self._constant((operands or "").rpartition(",")[2].strip(), followed + 1)

    def _constant(self, text: str, followed: int = 0) -> int | None:
        """A literal, or a register that is moved one just once."""
        if _NUMBER.match(text):
            return int(text, 0) if text.lstrip("-").startswith("0x") else int(text)
        found = self._definitions.get(text, [])
        return self._assigned(found[0], followed) if len(found) == 1 else None

    def _step(self, index: int, counter: str, turn: Mapping[int, int], followed: int = 0) -> int | None:
        """What the one definition in the loop adds to the counter."""
        _, guard, opcode, operands = self._items[index]
        parts = [part.strip() for part in (operands or "").split(",")]
        if guard is not None or followed > _FOLLOWED:
            return None
        if opcode.startswith("mov.") and len(parts) == 2:
            found = self._definitions.get(parts[1], [])
            if len(found) != 1 or turn.get(found[0], len(turn)) >= turn[index]:
                return None
            return self._step(found[0], counter, turn, followed + 1)
        added = self._addition(index)
        return added[1] if added is not None and added[0] == counter else None

    def _addition(self, index: int) -> tuple[str, int] | None:
        """(register, constant) of an instruction that adds them."""
        _, guard, opcode, operands = self._items[index]
        parts = [part.strip() for part in (operands or "").split(",")]
        if guard is not None or not opcode.startswith(("add.s", "add.u")) or len(parts) != 3:
            return None
        constant = self._constant(parts[2])
        return (parts[1], constant) if constant is not None else None


def _items_of(block: Block) -> range:
    return range(block.start, block.end)


def _definitions(items: Sequence[Item], shapes: Sequence[Shape]) -> Definitions:
    """Name to the items that may write it."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for index, (item, shape) in enumerate(zip(items, shapes, strict=True)):
        operands, targets = item[3] or "", shape.targets
        if targets is None:
            targets = tuple(slice(*span) for span in written(operands)) if item[2][0].isalpha() else ()
        for target in targets:
            found[operands[target]].append(index)
    return dict(found)


def _times(first: int, step: int, test: _Test) -> int | None:
    """How often in a row the comparison holds; None where the counter would wrap around, or it never ends."""
    low, high = (-(1 << test.bits - 1), 1 << test.bits - 1) if test.signed else (0, 1 << test.bits)
    bound = test.bound if test.signed or test.bound >= 0 else test.bound + (1 << test.bits)
    if not low <= first < high or not low <= bound < high:
        return None
    if test.relation == "eq":
        return 1 if first == bound else 0
    if test.relation == "ne":
        distance, rest = divmod(bound - first, step)
        return distance if not rest and distance >= 0 else None
    upward = test.relation in ("lt", "le")
    if upward != (step > 0):
        return None if _holds(first, bound, test.relation) else 0
    limit = bound + (test.relation == "le") - (test.relation == "ge")
    distance = limit - first
    count = max(-(-distance // step), 0)
    last = first + count * step
    return count if low <= last < high and count < _TOO_MANY else None


def _holds(first: int, bound: int, relation: str) -> bool:
    return (
        first < bound + (relation == "le") if relation in ("lt", "le") else first > bound - (relation == "ge")
    )
