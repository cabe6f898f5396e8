"""How often a loop runs, where the text proves it: a scalar counter from a constant by a constant step to a bound.

The proof asks for: one way out of the loop, by one ``s_cmp`` of the counter against a constant, in the block that
begins or ends every pass; the counter written once in the loop, by adding a constant, in such a block too; and a
constant moved to it on the way in. All else is not known: AMD's registers are physical, and one name holds many values.
"""

from __future__ import annotations

import re

import msgspec
from irdiff.api import Loop

from irdiff_amdgcn.control import Flow, target_of
from irdiff_amdgcn.operands import number, registers, split
from irdiff_amdgcn.reader import Item

_COMPARE = re.compile(r"s_cmpk?_(eq|lg|ne|gt|ge|lt|le)_([iu])32\Z")
_ADD = ("s_add_i32", "s_add_u32", "s_addk_i32", "s_add_co_i32", "s_addk_co_i32", "s_add_co_u32", "s_sub_i32",
        "s_sub_u32", "s_sub_co_i32", "s_sub_co_u32")  # fmt: skip
_MOVE = ("s_mov_b32", "s_movk_i32", "s_mov_b64")
_SWAPPED = {"eq": "eq", "lg": "lg", "gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
_DENIED = {"eq": "lg", "lg": "eq", "gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}
_NOT_WRITTEN = ("s_cmp", "s_bitcmp", "s_waitcnt", "s_wait_", "s_store", "s_barrier", "s_branch", "s_cbranch")
_SETS_SCC = re.compile(
    r"s_(?:cmpk?|bitcmp\d|add|addc|addk|sub|subb|and|or|xor|not|nand|nor|xnor|andn\d|orn\d|lshl|lshr|ashr|bfe|min|max|abs|"
    r"absdiff|bcnt\d|wqm|quadmask|lshl\d_add)(?:_|\Z)"
)
_CALLS = ("s_swappc", "s_call", "s_setpc")
"""What a function that is called writes is not followed."""
_FOLLOWED = 32
_TOO_MANY = 1 << 32


class _Test(msgspec.Struct, frozen=True, kw_only=True):
    counter: int
    """Number of the scalar register."""
    relation: str
    """The counter's to the bound, under which the loop goes on."""
    signed: bool
    bound: int
    place: int
    """Index of the comparison."""


class TripCounts:
    """The trip counts of the loops of one file."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._calls = any(item.word.startswith(_CALLS) for item in flow.instructions)
        self._before: list[list[int]] = [[] for _ in flow.successors]
        for block, targets in enumerate(flow.successors):
            for target in targets:
                self._before[target].append(block)

    def of(self, loop: Loop) -> int | None:
        """Passes through the loop once it is entered; None where the text does not prove it."""
        flow = self._flow
        ways_out = [
            block
            for block in sorted(loop.blocks)
            if any(target not in loop.blocks for target in flow.successors[block])
        ]
        latches = [block for block in self._before[loop.header] if block in loop.blocks]
        if (
            self._calls
            or len(ways_out) != 1
            or len(latches) != 1
            or ways_out[0] not in (loop.header, latches[0])
        ):
            return None
        once = (loop.header, latches[0])
        inner = [each for each in flow.loops if each.id.startswith(f"{loop.id}/")]
        if any(each.blocks & set(once) for each in inner):
            return None
        test = self._test(ways_out[0], loop)
        if test is None:
            return None
        order = [index for block in dict.fromkeys(once) for index in range(*flow.blocks[block])]
        turn = {index: position for position, index in enumerate(order)}
        written = [
            index
            for block in loop.blocks
            for index in range(*flow.blocks[block])
            if test.counter in _written(flow.instructions[index])
        ]
        if len(written) != 1 or written[0] not in turn:
            return None
        step = _step(flow.instructions[written[0]], test.counter)
        start = self._start(loop, test.counter)
        if not step or start is None:
            return None
        first = start + (step if turn[written[0]] < turn[test.place] else 0)
        going_on = _times(first, step, test)
        if going_on is None:
            return None
        return going_on + (1 if ways_out[0] == latches[0] else 0)

    def _test(self, way_out: int, loop: Loop) -> _Test | None:
        start, end = self._flow.blocks[way_out]
        branch = self._flow.instructions[end - 1]
        if branch.word not in ("s_cbranch_scc0", "s_cbranch_scc1"):
            return None
        for index in range(end - 2, start - 1, -1):
            item = self._flow.instructions[index]
            match = _COMPARE.match(item.word)
            if match is None:
                if _SETS_SCC.match(item.word) or "saveexec" in item.word or item.word.startswith("s_setreg"):
                    return None
                continue
            words = split(item.operands)
            if len(words) != 2:
                return None
            relation = {"ne": "lg"}.get(match[1], match[1])
            left, right = _scalar(words[0]), number(words[1])
            if left is None:
                left, right, relation = _scalar(words[1]), number(words[0]), _SWAPPED[relation]
            if left is None or right is None:
                return None
            holds = branch.word.endswith("1")
            jumps_back = self._target(branch) in loop.blocks
            if holds != jumps_back:
                relation = _DENIED[relation]
            return _Test(counter=left, relation=relation, signed=match[2] == "i", bound=right, place=index)
        return None

    def _target(self, branch: Item) -> int | None:
        """The block that a branch names."""
        name = target_of(branch)
        return self._flow.label_blocks.get(name) if name is not None else None

    def _start(self, loop: Loop, counter: int) -> int | None:
        """The constant in the counter where the loop is entered, the same on every way in."""
        entries = [block for block in self._before[loop.header] if block not in loop.blocks]
        found = {self._value(block, counter) for block in entries}
        return found.pop() if len(found) == 1 else None

    def _value(self, block: int, counter: int) -> int | None:
        """The constant in a scalar register at the end of a block."""
        for _ in range(_FOLLOWED):
            start, end = self._flow.blocks[block]
            for index in range(end - 1, start - 1, -1):
                item = self._flow.instructions[index]
                if counter in _written(item):
                    return _moved(item, counter)
            before = self._before[block]
            if len(before) != 1:
                return self._joined(block, counter)
            block = before[0]
        return None

    def _joined(self, block: int, counter: int) -> int | None:
        """Past a block that several lead to (an `if` under a mask): where their common way splits, if none writes."""
        seen = {block}
        work = list(self._before[block])
        ends: set[int | None] = set()
        while work and len(seen) < _FOLLOWED:
            current = work.pop()
            if current in seen:
                continue
            seen.add(current)
            start, end = self._flow.blocks[current]
            values = [
                _moved(self._flow.instructions[index], counter)
                for index in range(end - 1, start - 1, -1)
                if counter in _written(self._flow.instructions[index])
            ]
            if values:
                ends.add(values[0])
            elif not self._before[current]:
                ends.add(None)
            else:
                work += self._before[current]
        return ends.pop() if len(ends) == 1 and not work else None


def _scalar(text: str) -> int | None:
    found = list(registers(text))
    return found[0][1] if len(found) == 1 and found[0][0] == "s" and found[0][1] == found[0][2] else None


def _written(item: Item) -> range:
    """The scalar registers that an instruction may write: those of its first operand."""
    if item.word.startswith(_NOT_WRITTEN):
        return range(0)
    for position, operand in enumerate(split(item.operands)[:2]):
        if position and not item.word.startswith("v_"):
            break
        for kind, first, last in registers(operand):
            if kind == "s" and (position == 0 or "_co_" in item.word or "div_scale" in item.word):
                return range(first, last + 1)
    return range(0)


def _moved(item: Item, counter: int) -> int | None:
    words = split(item.operands)
    if item.word not in _MOVE or len(words) != 2:
        return None
    value = number(words[1])
    if item.word == "s_mov_b64":
        first = _written(item)
        return value if value is not None and counter == first.start else 0 if value is not None else None
    return (
        value - (1 << 16) if item.word == "s_movk_i32" and value is not None and value >= 1 << 15 else value
    )


def _step(item: Item, counter: int) -> int | None:
    """What an instruction adds to the counter."""
    words = split(item.operands)
    if item.word not in _ADD:
        return None
    sign = -1 if "sub" in item.word else 1
    if item.word.startswith("s_addk"):
        value = number(words[-1])
        if value is not None and value >= 1 << 15:
            value -= 1 << 16
        return value if len(words) == 2 else None
    if len(words) != 3:
        return None
    if _scalar(words[1]) == counter:
        value = number(words[2])
    elif _scalar(words[2]) == counter and sign > 0:
        value = number(words[1])
    else:
        return None
    if value is None:
        return None
    return sign * (value - (1 << 32) if value >= 1 << 31 else value)


def _times(first: int, step: int, test: _Test) -> int | None:
    """How often in a row the comparison holds; None where the counter would wrap around, or it never ends."""
    low, high = (-(1 << 31), 1 << 31) if test.signed else (0, 1 << 32)
    bound = test.bound
    if test.signed and bound >= 1 << 31:
        bound -= 1 << 32
    elif not test.signed and bound < 0:
        bound += 1 << 32
    if not low <= first < high or not low <= bound < high:
        return None
    if test.relation == "eq":
        return 1 if first == bound else 0
    if test.relation == "lg":
        distance, rest = divmod(bound - first, step)
        return distance if not rest and 0 <= distance < _TOO_MANY else None
    upward = test.relation in ("lt", "le")
    if upward != (step > 0):
        return None
    limit = bound + (test.relation == "le") - (test.relation == "ge")
    count = max(-(-(limit - first) // step), 0)
    last = first + count * step
    return count if low <= last < high else None
