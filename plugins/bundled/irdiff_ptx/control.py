"""Blocks and loops of PTX: where control can go, from labels and branches (PTX ISA 9.7.12).

Labels inside the braces of an inline-assembly block are local to it, and the waits that spin there
(``mbarrier.try_wait`` until done) are no loops of the program: LLVM IR sees one instruction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from irdiff.api import Loop, find_loops
from irdiff_ptx.items import Item, Items
from irdiff_ptx.opcodes import ENDS, JUMPS
from irdiff_ptx.shapes import TURNS

_NAMES = re.compile(r"[\w$%]+")


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Items that run one after the other: ``items[start:end]``."""

    start: int
    end: int


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """Where control can go in one file."""

    blocks: tuple[Block, ...]
    """The basic blocks of every function body, in the order of the text."""
    successors: tuple[tuple[int, ...], ...]
    """For each block those that may follow it."""
    loops: tuple[Loop, ...]

    def parts(self, loop: Loop) -> list[slice]:
        """The places of the items of a loop; blocks that meet are one part."""
        parts: list[slice] = []
        for block in sorted(loop.blocks):
            start, end = self.blocks[block].start, self.blocks[block].end
            if parts and parts[-1].stop == start:
                start = parts.pop().start
            parts.append(slice(start, end))
        return parts


def control_flow(items: Items, marks: Sequence[int]) -> Flow:
    """The basic blocks of every function body, and the loops among them; nothing where no branch goes back.

    ``marks`` are the places of the items that are no instructions.
    """
    if not _may_loop(items, marks):
        return Flow(blocks=(), successors=(), loops=())
    blocks: list[Block] = []
    successors: list[list[int]] = []
    body: list[int] = []
    depth = start = 0
    opcodes = items.opcodes
    for index in sorted((*marks, *items.where(TURNS))):
        word = opcodes[index]
        if word[0] in ".?":
            continue
        depth += (word == "{") - (word == "}")
        if depth == 1 and word == "{":
            start = index + 1
            body.clear()
            continue
        if depth == 0 and word == "}":
            _add_body(items, start, index, body, blocks, successors)
        body.append(index)
    if depth > 0:
        _add_body(items, start, len(items), body, blocks, successors)
    return Flow(blocks=tuple(blocks), successors=tuple(map(tuple, successors)), loops=find_loops(successors))


def _may_loop(items: Items, marks: Sequence[int]) -> bool:
    """Whether a branch names a label in front of it, or its labels are in a table."""
    opcodes = items.opcodes
    turning = items.where(TURNS)
    if any(opcodes[index].startswith("brx") for index in turning):
        return True
    named = [
        (index, _NAMES.findall(items.operands_at(index))) for index in turning if opcodes[index] not in ENDS
    ]
    labels: dict[str, int] = {}
    for index in marks:
        if named and opcodes[index] == ":":
            labels.setdefault(items.operands_at(index), index)
    return any(labels.get(name, index) < index for index, names in named for name in names)


def _add_body(
    items: Items,
    start: int,
    end: int,
    marks: list[int],
    blocks: list[Block],
    successors: list[list[int]],
) -> None:
    """One function: ``items[start:end]``, of which ``marks`` are the braces, labels and branches."""
    if start == end:
        return  # a body without any instruction
    labels: dict[str, int] = {}
    tables: dict[str, list[str]] = {}
    jumps: list[int] = []
    used: set[str] = set()
    depth = 0
    opcodes = items.opcodes
    for index in marks:
        word = opcodes[index]
        depth += (word == "{") - (word == "}")
        if word == ":":
            if depth == 0:
                name = items.operands_at(index)
                labels.setdefault(name, index)
                if index + 1 < end and opcodes[index + 1] == ".branchtargets":
                    tables[name] = _NAMES.findall(items.operands_at(index + 1))[1:]
        elif word.startswith(JUMPS) or (word in ENDS and not items[index][1]):
            jumps.append(index)
            used.update(_NAMES.findall(items.operands_at(index)))
    used.update(name for names in tables.values() for name in names)
    entered = [index for name, index in labels.items() if name in used]
    leaders = sorted({start, *entered, *(index + 1 for index in jumps if index + 1 < end)})
    first = len(blocks)
    block_at = {leader: first + position for position, leader in enumerate(leaders)}
    for position, leader in enumerate(leaders):
        stop = leaders[position + 1] if position + 1 < len(leaders) else end
        blocks.append(Block(start=leader, end=stop))
        is_jump = stop > leader and opcodes[stop - 1].startswith((*JUMPS, *ENDS))
        successors.append(_targets(items[stop - 1] if is_jump else None, labels, tables, block_at, stop))


def _targets(
    last: Item | None,
    labels: dict[str, int],
    tables: dict[str, list[str]],
    block_at: dict[int, int],
    stop: int,
) -> list[int]:
    """Blocks that control may go to after the item that ends a block."""
    following = [block_at[stop]] if stop in block_at else []
    if last is None:
        return following
    _, guard, opcode, operands = last
    if opcode in ENDS:
        return following if guard else []
    if not opcode.startswith(JUMPS):
        return following
    names = _NAMES.findall(operands)
    if opcode.startswith("brx"):
        names = [target for name in names for target in tables.get(name, ())]
    reached = [block_at[labels[name]] for name in names if labels.get(name) in block_at]
    # A branch whose label is local to an inline-assembly block stays inside it.
    return sorted({*reached, *following}) if guard or not reached else sorted(set(reached))
