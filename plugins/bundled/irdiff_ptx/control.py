"""Blocks and loops of PTX: where control can go, from labels and branches (PTX ISA 9.7.12).

Labels inside the braces of an inline-assembly block are local to it, and the waits that spin there
(``mbarrier.try_wait`` until done) are no loops of the program: LLVM IR sees one instruction.
"""

from __future__ import annotations

import re

import msgspec

from irdiff.api import Loop, find_loops
from irdiff_ptx.reader import Item

_NAMES = re.compile(r"[\w$%]+")
_ENDS = frozenset({"ret", "exit", "trap"})


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Items that run one after the other: ``items[start:end]``."""

    start: int
    end: int


def blocks_and_loops(items: tuple[Item, ...]) -> tuple[tuple[Block, ...], tuple[Loop, ...]]:
    """The basic blocks of every function body, and the loops among them."""
    blocks: list[Block] = []
    successors: list[list[int]] = []
    for start, end in _bodies(items):
        _add_body(items, start, end, blocks, successors)
    return tuple(blocks), find_loops(successors)


def _bodies(items: tuple[Item, ...]) -> list[tuple[int, int]]:
    """Ranges of items between the outermost braces."""
    found: list[tuple[int, int]] = []
    depth = start = 0
    for index, item in enumerate(items):
        if item[2] == "{":
            depth += 1
            if depth == 1:
                start = index + 1
        elif item[2] == "}" and depth:
            depth -= 1
            if depth == 0:
                found.append((start, index))
    if depth:
        found.append((start, len(items)))
    return found


def _add_body(
    items: tuple[Item, ...], start: int, end: int, blocks: list[Block], successors: list[list[int]]
) -> None:
    labels: dict[str, int] = {}
    tables: dict[str, list[str]] = {}
    jumps: list[int] = []
    depth = 0
    for index in range(start, end):
        _, guard, opcode, operands = items[index]
        if opcode == "{":
            depth += 1
        elif opcode == "}":
            depth -= 1
        elif opcode == ":" and depth == 0:
            labels.setdefault(operands or "", index)
            if index + 1 < end and items[index + 1][2] == ".branchtargets":
                tables[operands or ""] = _NAMES.findall(items[index + 1][3] or "")[1:]
        elif opcode.startswith(("bra", "brx")) or (opcode in _ENDS and guard is None):
            jumps.append(index)
    leaders = sorted({start, *labels.values(), *(index + 1 for index in jumps if index + 1 < end)})
    first = len(blocks)
    block_at = {leader: first + position for position, leader in enumerate(leaders)}
    for position, leader in enumerate(leaders):
        stop = leaders[position + 1] if position + 1 < len(leaders) else end
        blocks.append(Block(start=leader, end=stop))
        successors.append(_targets(items[stop - 1] if stop > leader else None, labels, tables, block_at, stop))


def _targets(
    last: Item | None, labels: dict[str, int], tables: dict[str, list[str]], block_at: dict[int, int], stop: int
) -> list[int]:
    """Blocks that control may go to after the item that ends a block."""
    following = [block_at[stop]] if stop in block_at else []
    if last is None:
        return following
    _, guard, opcode, operands = last
    if opcode in _ENDS:
        return [] if guard is None else following
    if not opcode.startswith(("bra", "brx")):
        return following
    names = _NAMES.findall(operands or "")
    if opcode.startswith("brx"):
        names = [target for name in names for target in tables.get(name, ())]
    reached = [block_at[labels[name]] for name in names if name in labels]
    # A branch whose label is local to an inline-assembly block stays inside it.
    return sorted({*reached, *following}) if guard is not None or not reached else sorted(set(reached))
