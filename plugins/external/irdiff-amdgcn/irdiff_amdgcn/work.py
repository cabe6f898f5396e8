"""Tensor work of one wave: matrix instructions along the paths of the code, loops by their proven trip counts.

LLVM copies the end of a block into the blocks before it, so the same product can stand on two paths of which one is
taken: work is added up along paths, and is known where every path has the same. A block that is skipped where no lane
is active (``s_cbranch_execz``) counts as run: LLVM moves products into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from irdiff.api import Loop

from irdiff_amdgcn.control import Flow, target_of
from irdiff_amdgcn.opcodes import flops_of


def wave_work(flow: Flow, trips: Mapping[str, int | None]) -> dict[str, int]:
    """Operations by one wave: ``""`` in all, and of one pass through each loop by its id.

    ``trips`` has the trip count of each loop, None where it is not proven. What is not known is left out.
    """
    flow = msgspec.structs.replace(flow, successors=_with_active_lanes(flow))
    own = [
        sum(flops_of(item.word) or 0 for item in flow.instructions[start:end]) for start, end in flow.blocks
    ]
    known: dict[str, int | None] = {}
    for loop in sorted(flow.loops, key=lambda each: -each.id.count("/")):
        inner = [each for each in flow.loops if each.id.rpartition("/")[0] == loop.id]
        known[loop.id] = _along_paths(flow, own, loop.blocks, loop.header, inner, known, trips)
    outermost = [each for each in flow.loops if "/" not in each.id]
    if flow.blocks:
        known[""] = _along_paths(flow, own, range(len(flow.blocks)), 0, outermost, known, trips)
    return {scope: work for scope, work in known.items() if work is not None}


def _with_active_lanes(flow: Flow) -> tuple[tuple[int, ...], ...]:
    """Successors without the way around a block that some lane runs; the ways out of loops stay."""
    inside = [""] * len(flow.blocks)
    for loop in sorted(flow.loops, key=lambda each: each.id.count("/")):
        for block in loop.blocks:
            inside[block] = f"{loop.id}/"
    headers = {loop.header for loop in flow.loops}
    chosen = list(flow.successors)
    for block, (_, end) in enumerate(flow.blocks):
        last = flow.instructions[end - 1]
        targets = flow.successors[block]
        if not last.word.startswith("s_cbranch_exec") or len(targets) != 2:
            continue
        if any(target in headers or not inside[target].startswith(inside[block]) for target in targets):
            continue
        named = flow.label_blocks.get(target_of(last) or "")
        around = last.word.startswith("s_cbranch_execz")
        chosen[block] = tuple(target for target in targets if (target == named) != around)
    return tuple(chosen)


def _along_paths(
    flow: Flow,
    own: list[int],
    blocks: Iterable[int],
    entry: int,
    inner: list[Loop],
    known: Mapping[str, int | None],
    trips: Mapping[str, int | None],
) -> int | None:
    """Work from the entry of a region to its ends, its inner loops taken as one step each; None unless all paths agree.

    A region ends where no block of it follows, or where it begins again.
    """
    region = set(blocks)
    step = {block: block for block in region}
    weight: dict[int, int | None] = {block: own[block] for block in region}
    for loop in inner:
        step |= dict.fromkeys(loop.blocks, loop.header)
        once, times = known[loop.id], trips[loop.id]
        weight[loop.header] = 0 if once == 0 else None if once is None or times is None else once * times
    following: dict[int, set[int]] = {}
    ends: set[int] = set()
    for block in region:
        targets = {step[target] for target in flow.successors[block] if target in region and target != entry}
        following.setdefault(step[block], set()).update(targets - {step[block]})
        if entry in flow.successors[block] or not flow.successors[block]:
            ends.add(step[block])
    found: dict[int, set[int | None]] = {step[entry]: {0}}
    results: set[int | None] = set()
    for block in _in_order(following, step[entry]):
        added = weight[block]
        if len(found[block]) != 1:
            return None
        before = next(iter(found[block]))
        work = None if before is None or added is None else before + added
        if block in ends:
            results.add(work)
        for target in following[block]:
            found.setdefault(target, set()).add(work)
    return results.pop() if len(results) == 1 else None


def _in_order(following: Mapping[int, set[int]], entry: int) -> list[int]:
    """Steps that can be reached, each behind all that lead to it; there are no circles left in a region."""
    order: list[int] = []
    seen = {entry}
    stack = [(entry, iter(sorted(following[entry])))]
    while stack:
        block, targets = stack[-1]
        target = next((each for each in targets if each not in seen), None)
        if target is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(target)
            stack.append((target, iter(sorted(following[target]))))
    return order[::-1]
