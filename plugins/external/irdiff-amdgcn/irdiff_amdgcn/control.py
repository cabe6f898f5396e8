"""Blocks and loops of AMDGPU assembly: where control can go, from labels and branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec
from irdiff.api import Loop, find_loops

from irdiff_amdgcn.operands import LABEL
from irdiff_amdgcn.reader import Item

_ENDS = ("s_endpgm", "s_branch", "s_setpc", "s_rfe", "s_trap", "s_code_end")
_BRANCHES = ("s_branch", "s_cbranch_")


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """Where control can go in one file."""

    instructions: tuple[Item, ...]
    """The instructions of every function, in the order of the text."""
    blocks: tuple[tuple[int, int], ...]
    """Basic blocks: ``instructions[start:end]``."""
    successors: tuple[tuple[int, ...], ...]
    """For each block those that may follow it."""
    loops: tuple[Loop, ...]
    label_blocks: dict[str, int]
    """Label to the block that begins with it."""

    def inside(self, loop: Loop) -> list[Item]:
        """The instructions of a loop, those of its inner loops too."""
        return [
            item
            for block in sorted(loop.blocks)
            for item in self.instructions[self.blocks[block][0] : self.blocks[block][1]]
        ]


def target_of(item: Item) -> str | None:
    """The label that a branch names."""
    if not item.word.startswith(_BRANCHES):
        return None
    found = LABEL.search(item.operands)
    return found.group() if found else None


def control_flow(items: Sequence[Item]) -> Flow:
    """The blocks of every function, and the loops among them. A function begins where a label without ``.L`` stands."""
    instructions: list[Item] = []
    labels: dict[str, int] = {}
    for item in items:
        if item.section != ".text" and not item.section.startswith(".text."):
            continue
        if item.kind == "label":
            labels.setdefault(item.word, len(instructions))
        elif item.kind == "instruction":
            instructions.append(item)
    functions = {0, *(place for name, place in labels.items() if not name.startswith(".L"))}
    starts = _leaders(instructions, labels, functions)
    number = {start: block for block, start in enumerate(starts)}
    ends = [*starts[1:], len(instructions)]
    blocks = tuple(zip(starts, ends, strict=True)) if starts else ()
    successors = []
    for _, end in blocks:
        last = instructions[end - 1]
        falls_through = end in number and end not in functions and not last.word.startswith(_ENDS)
        target = number.get(labels.get(target_of(last) or "", -1))
        following = {number[end]} if falls_through else set()
        successors.append(tuple(sorted(following if target is None else {*following, target})))
    return Flow(
        instructions=tuple(instructions),
        blocks=blocks,
        successors=tuple(successors),
        loops=find_loops(successors),
        label_blocks={name: number[place] for name, place in labels.items() if place in number},
    )


def _leaders(
    instructions: Sequence[Item], labels: Mapping[str, int], functions: AbstractSet[int]
) -> list[int]:
    """The first instruction of each block."""
    leaders = set(functions)
    for index, item in enumerate(instructions):
        target = target_of(item)
        if target is not None and target in labels:
            leaders.add(labels[target])
        if target is not None or item.word.startswith(_ENDS):
            leaders.add(index + 1)
    return sorted(leader for leader in leaders if leader < len(instructions))
