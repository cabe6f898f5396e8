"""Blocks and loops of PTX: where control can go, from labels and branches (PTX ISA 9.7.12).

Labels inside the braces of an inline-assembly block are local to it, and the waits that spin there
(``mbarrier.try_wait`` until done) are no loops of the program: LLVM IR sees one instruction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from irdiff.api import Loop, find_loops
from irdiff_ptx.opcodes import ENDS, JUMPS
from irdiff_ptx.reader import Item

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


def control_flow(items: tuple[Item, ...], odd: Sequence[int]) -> Flow:
    """The basic blocks of every function body, and the loops among them.

    ``odd`` are the places of all items but those instructions behind which the next one runs.
    """
    blocks: list[Block] = []
    successors: list[list[int]] = []
    body: list[int] = []
    depth = start = 0
    for index in odd:
        word = items[index][2]
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


def _add_body(
    items: tuple[Item, ...],
    start: int,
    end: int,
    marks: list[int],
    blocks: list[Block],
    successors: list[list[int]],
) -> None:
    """One function: ``items[start:end]``, of which ``marks`` are the braces, labels and branches."""
    labels: dict[str, int] = {}
    tables: dict[str, list[str]] = {}
    jumps: list[int] = []
    used: set[str] = set()
    depth = 0
    for index in marks:
        _, guard, word, operands = items[index]
        depth += (word == "{") - (word == "}")
        if word == ":" and depth == 0:
            labels.setdefault(operands or "", index)
            if index + 1 < end and items[index + 1][2] == ".branchtargets":
                tables[operands or ""] = _NAMES.findall(items[index + 1][3] or "")[1:]
        elif word.startswith(JUMPS) or (word in ENDS and guard is None):
            jumps.append(index)
            used.update(_NAMES.findall(operands or ""))
    used.update(name for names in tables.values() for name in names)
    entered = [index for name, index in labels.items() if name in used]
    leaders = sorted({start, *entered, *(index + 1 for index in jumps if index + 1 < end)})
    first = len(blocks)
    block_at = {leader: first + position for position, leader in enumerate(leaders)}
    for position, leader in enumerate(leaders):
        stop = leaders[position + 1] if position + 1 < len(leaders) else end
        blocks.append(Block(start=leader, end=stop))
        successors.append(
            _targets(items[stop - 1] if stop > leader else None, labels, tables, block_at, stop)
        )


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
        return [] if guard is None else following
    if not opcode.startswith(JUMPS):
        return following
    names = _NAMES.findall(operands or "")
    if opcode.startswith("brx"):
        names = [target for name in names for target in tables.get(name, ())]
    reached = [block_at[labels[name]] for name in names if labels.get(name) in block_at]
    # A branch whose label is local to an inline-assembly block stays inside it.
    return sorted({*reached, *following}) if guard is not None or not reached else sorted(set(reached))
