"""Loops of a control-flow graph: which blocks repeat, which loop holds which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

DEEPEST = 16
"""Loops nested deeper than this count as part of the sixteenth (it bounds the work on hostile input)."""


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """One loop: the blocks that can reach each other, entered at ``header``."""

    id: str
    """``loop0``, ``loop0/loop1``: numbered by the place of the header over the whole artifact."""
    header: int
    """The block where control enters, as an index."""
    blocks: frozenset[int]
    """Every block of it, those of nested loops included."""


def find_loops(successors: Sequence[Sequence[int]]) -> tuple[Loop, ...]:
    """The loops of a graph, in the order of their headers.

    ``successors[i]`` holds the blocks that control may go to after block ``i``; blocks are numbered in the
    order of the text. A loop is a strongly connected part; inside it, nested loops are those that
    remain without its header. Neither the order of the blocks nor the way a loop is entered matters.
    """
    predecessors: list[list[int]] = [[] for _ in successors]
    for block, targets in enumerate(successors):
        for target in targets:
            predecessors[target].append(block)
    found: list[tuple[int, frozenset[int], int]] = []
    work: list[tuple[Iterable[int], int, int]] = [(range(len(successors)), -1, 0)]
    while work:
        blocks, parent, depth = work.pop()
        for part in _strongly_connected(blocks, successors):
            header = _header(part, predecessors)
            found.append((header, part, parent))
            if depth + 1 < DEEPEST:
                work.append((sorted(part - {header}), len(found) - 1, depth + 1))
    order = sorted(range(len(found)), key=lambda index: found[index][0])
    number = {index: position for position, index in enumerate(order)}
    ids: dict[int, str] = {}
    for index in range(len(found)):  # a parent is always found before what it holds
        parent = found[index][2]
        own = f"loop{number[index]}"
        ids[index] = own if parent < 0 else f"{ids[parent]}/{own}"
    return tuple(Loop(id=ids[index], header=found[index][0], blocks=found[index][1]) for index in order)


def _header(part: frozenset[int], predecessors: Sequence[Sequence[int]]) -> int:
    """The first block entered from outside, else the first block."""
    entered = [block for block in part if any(before not in part for before in predecessors[block])]
    return min(entered or part)


def _strongly_connected(  # noqa: C901  # one algorithm, which is clearer whole
    blocks: Iterable[int], successors: Sequence[Sequence[int]]
) -> list[frozenset[int]]:
    """The parts of more than one block, or of one that branches to itself (Tarjan's method, without recursion)."""
    inside = set(blocks)
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    parts: list[frozenset[int]] = []
    for root in sorted(inside):
        if root in index:
            continue
        path: list[tuple[int, int]] = [(root, 0)]
        while path:
            block, position = path.pop()
            if position == 0:
                index[block] = low[block] = len(index)
                stack.append(block)
                on_stack.add(block)
            targets = successors[block]
            while position < len(targets):
                target = targets[position]
                position += 1
                if target not in inside:
                    continue
                if target not in index:
                    path.append((block, position))
                    path.append((target, 0))
                    break
                if target in on_stack:
                    low[block] = min(low[block], index[target])
            else:
                if low[block] == index[block]:
                    part = set()
                    while block not in part:
                        top = stack.pop()
                        on_stack.discard(top)
                        part.add(top)
                    if len(part) > 1 or block in targets:
                        parts.append(frozenset(part))
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[block])
    return parts
