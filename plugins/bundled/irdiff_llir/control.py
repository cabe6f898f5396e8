"""Blocks and loops of LLVM IR functions, from labels and terminators."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from irdiff.api import Loop, find_loops
from irdiff_llir.opcodes import TERMINATORS
from irdiff_llir.reader import Item

_LABELS = re.compile(r"label %([-\w.$]+|\"[^\"]*\")")


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Items that run one after the other: ``items[start:end]``."""

    start: int
    end: int


def blocks_and_loops(
    items: tuple[Item, ...], odd: Iterable[int]
) -> tuple[tuple[Block, ...], tuple[Loop, ...]]:
    """The basic blocks of every function, and the loops among them.

    ``odd`` are the places of all items but those instructions behind which the next one runs.
    """
    blocks: list[Block] = []
    targets: list[list[str]] = []
    names: list[dict[str, int]] = []
    owner: list[int] = []
    start = -1
    for index in odd:
        _, _, opcode, text = items[index]
        if opcode == "{":
            names.append({})
            start = index + 1
        elif opcode == ":" and names:
            names[-1][text] = len(blocks)
            start = index
        elif start >= 0 and (opcode in TERMINATORS or opcode == "}"):
            if opcode == "}" and start == index:
                start = -1
                continue
            blocks.append(Block(start=start, end=index + (opcode != "}")))
            targets.append(_LABELS.findall(text) if opcode != "}" else [])
            owner.append(len(names) - 1)
            start = index + 1 if opcode != "}" else -1
    successors = [
        sorted(
            {names[function][name] for name in found if names[function].get(name, len(blocks)) < len(blocks)}
        )
        for function, found in zip(owner, targets, strict=True)
    ]
    return tuple(blocks), find_loops(successors)
