"""How often a loop runs, where the text proves it: a counter from a constant by a constant step to a constant bound.

The proof asks for: one way out of the loop, by one ``setp`` of the counter against a constant, in the block that begins
or ends every pass; a counter with one definition before the loop and one in it. All else is not known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from irdiff.api import Loop
from irdiff_ptx.control import Block, Flow
from irdiff_ptx.items import Items

_COMPARE = re.compile(r"setp\.(lt|le|gt|ge|ne|eq)\.([subb])(32|64)\Z")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]{1,16}|\d{1,19})\Z")
_FOLLOWED = 16
"""Moves followed from a register to the constant that it holds."""
_TOO_MANY = 1 << 40
_MOST_SEARCHED = 16


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

    def __init__(self, items: Items, flow: Flow) -> None:
        self._items = items
        self._blocks = flow.blocks
        self._successors = flow.successors
        self._inner: dict[str, list[Loop]] = {}
        for inner in flow.loops:
            parts = inner.id.split("/")
            for end in range(1, len(parts)):
                self._inner.setdefault("/".join(parts[:end]), []).append(inner)
        self._definitions = _Definitions(items)

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
        order = _Order([self._blocks[block] for block in dict.fromkeys(once)])
        counter, compared, ahead = test.counter, test.place, 0
        stepped = self._definitions.of(counter)
        if len(stepped) == 1 and (sum_of := self._addition(stepped[0])) is not None and stepped[0] in order:
            (counter, ahead), compared = sum_of, stepped[0]
        found = self._definitions.of(counter)
        if len(found) != 2 or compared not in order:
            return None
        inside = [self._blocks[block] for block in loop.blocks]
        before = [index for index in found if not any(index in _items_of(block) for block in inside)]
        within = [index for index in found if index in order]
        if len(before) != 1 or len(within) != 1:
            return None
        start, step = self._assigned(before[0]), self._step(within[0], counter, order)
        if start is None or not step or before[0] > min(block.start for block in inside):
            return None
        first = start + ahead + (step if order.turn(within[0]) < order.turn(compared) else 0)
        going_on = _times(first, step, test)
        if going_on is None:
            return None
        return going_on + (1 if leaving[0] == latches[0] else 0)

    def _test(self, way_out: int, loop: Loop) -> _Test | None:
        block = self._blocks[way_out]
        _, guard, opcode, operands = self._items[block.end - 1]
        if not guard or not opcode.startswith("bra") or not operands:
            return None
        targets = self._successors[way_out]
        if len(targets) != 2:
            return None
        jumps_back = self._jump_target(block, targets) in loop.blocks
        predicate = guard.strip().lstrip("@")
        found = self._definitions.of(predicate.lstrip("!"))
        if len(found) != 1 or not block.start <= found[0] < block.end:
            return None
        _, other_guard, compare, words = self._items[found[0]]
        match = _COMPARE.match(compare)
        parts = [part.strip() for part in words.split(",")]
        if match is None or other_guard or len(parts) != 3:
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
        if guard or not opcode.startswith("mov.") or followed > _FOLLOWED:
            return None
        return self._constant(operands.rpartition(",")[2].strip(), followed + 1)

    def _constant(self, text: str, followed: int = 0) -> int | None:
        """A literal, or a register that is moved one just once."""
        if _NUMBER.match(text):
            return int(text, 0) if text.lstrip("-").startswith("0x") else int(text)
        found = self._definitions.of(text)
        return self._assigned(found[0], followed) if len(found) == 1 else None

    def _step(self, index: int, counter: str, order: _Order, followed: int = 0) -> int | None:
        """What the one definition in the loop adds to the counter."""
        _, guard, opcode, operands = self._items[index]
        parts = [part.strip() for part in operands.split(",")]
        if guard or followed > _FOLLOWED:
            return None
        if opcode.startswith("mov.") and len(parts) == 2:
            found = self._definitions.of(parts[1])
            if len(found) != 1 or found[0] not in order or order.turn(found[0]) >= order.turn(index):
                return None
            return self._step(found[0], counter, order, followed + 1)
        added = self._addition(index)
        return added[1] if added is not None and added[0] == counter else None

    def _addition(self, index: int) -> tuple[str, int] | None:
        """(register, constant) of an instruction that adds them."""
        _, guard, opcode, operands = self._items[index]
        parts = [part.strip() for part in operands.split(",")]
        if guard or not opcode.startswith(("add.s", "add.u")) or len(parts) != 3:
            return None
        constant = self._constant(parts[2])
        return (parts[1], constant) if constant is not None else None


def _items_of(block: Block) -> range:
    return range(block.start, block.end)


class _Order:
    """The order in which the items run of the blocks that every pass runs just once."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks

    def __contains__(self, index: int) -> bool:
        return any(index in _items_of(block) for block in self._blocks)

    def turn(self, index: int) -> int:
        """When an item of these blocks runs."""
        behind = 0
        for block in self._blocks:
            if index in _items_of(block):
                return behind + index - block.start
            behind += block.end - block.start
        raise ValueError(index)


class _Definitions:
    """Name to the places of the items that may write it. A proof asks for few: those are searched for."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._text = "\n".join([*items.texts, ""])
        self._searched: dict[str, list[int]] = {}
        self._all: dict[str, list[int]] = {}

    def of(self, name: str) -> Sequence[int]:
        """The places of the items that may write the name."""
        if name in self._searched:
            return self._searched[name]
        if name and len(self._searched) < _MOST_SEARCHED:
            self._searched[name] = found = self._search(name)
            return found
        if not self._all:
            self._all = _definitions(self._items)
        return self._all.get(name, ())

    def _search(self, name: str) -> list[int]:
        items, whole = self._items, self._text
        found: list[int] = []
        index = start = 0
        at = whole.find(name)
        while at >= 0:
            index += whole.count("\n", start, at)
            text = items.texts[index]
            if any(text[target] == name for target in items.shapes[index].targets):
                found.append(index)
            start, at = at, whole.find(name, whole.find("\n", at))
        return found


def _definitions(items: Items) -> dict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for index, (text, shape) in enumerate(zip(items.texts, items.shapes, strict=True)):
        for target in shape.targets:
            found[text[target]].append(index)
    return found


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
