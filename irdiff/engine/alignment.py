"""Alignment of two canonical texts: which line of one is which line of the other, whatever the names are called.

Names are numbered in order of first use, so one inserted line changes every later one. Lines are therefore
aligned with their names masked, then by their opcodes alone inside what is left; then once more with the names
that this alignment found to be the same, and the better of the two stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from irdiff.engine.masked import NAME, Side, Step
from irdiff.engine.operands import operands_moved
from irdiff.engine.sequences import equal_pairs

SURE = 1 << 20
"""Weight of what a line says of names when no other line looks like it."""


class _Task(NamedTuple):
    """Both sides and how their lines may be recognised, the surest way first."""

    before: Side
    after: Side
    levels: tuple[tuple[Sequence[str], Sequence[str]], ...]
    order_free: Callable[[str], bool] | None


def align(before: Side, after: Side, order_free: Callable[[str], bool] | None = None) -> tuple[Step, ...]:
    """Every line of both sides in order, each in one step."""
    levels = ((before.masked, after.masked), (before.keys, after.keys))
    steps = _checked(_Task(before, after, levels, order_free))
    if all(step.kind in ("same", "order") for step in steps):
        return steps
    known = (_translated(before, after, steps), [line.strip() for line in after.lines])
    again = _checked(_Task(before, after, (known, *levels), order_free))
    return min(steps, again, key=_differences)


def _checked(task: _Task) -> tuple[Step, ...]:
    steps = _structure(task)
    moved = operands_moved(task.before, task.after, steps)
    return tuple(
        step._replace(kind="changed") if step.kind == "same" and at in moved else step
        for at, step in enumerate(steps)
    )


def _differences(steps: Sequence[Step]) -> int:
    """Lines that differ, a changed one counted on both sides."""
    return sum(
        step.before[1] - step.before[0] + step.after[1] - step.after[0]
        for step in steps
        if step.kind not in ("same", "order")
    )


def _translated(before: Side, after: Side, steps: Sequence[Step]) -> list[str]:
    """The lines before in the names that the other side mostly uses where these stand."""
    votes: dict[str, Counter[str]] = {}
    alike = Counter(before.masked)
    for step in steps:
        if step.kind not in ("same", "changed"):
            continue
        i, j = step.before[0], step.after[0]
        if before.masked[i] != after.masked[j]:
            continue
        weight = SURE // alike[before.masked[i]]  # one of many alike may be the wrong one
        for here, there in zip(before.names[i], after.names[j], strict=False):
            votes.setdefault(here, Counter())[there] += weight
    meant = {name: max(found, key=lambda other: (found[other], other)) for name, found in votes.items()}
    lines: list[str] = []
    for parts, names in zip(before.parts, before.names, strict=True):
        words = [meant.get(name, NAME + name) for name in names]
        lines.append(
            "".join(word for pair in zip_longest(parts, words, fillvalue="") for word in pair).strip()
        )
    return lines


def _structure(task: _Task) -> list[Step]:
    before, after = task.before, task.after
    start = 0
    shortest = min(len(before.lines), len(after.lines))
    while start < shortest and before.lines[start] == after.lines[start]:
        start += 1
    end = 0
    surest = task.levels[0]
    while end < shortest - start and surest[0][-1 - end] == surest[1][-1 - end]:
        end += 1
    ends = (len(before.lines) - end, len(after.lines) - end)
    steps = _pairs(before, after, [(at, at) for at in range(start)])
    steps += _middle(task, (start, ends[0]), (start, ends[1]))
    return steps + _pairs(before, after, [(ends[0] + at, ends[1] + at) for at in range(end)])


def _pairs(before: Side, after: Side, pairs: Sequence[tuple[int, int]]) -> list[Step]:
    return [
        Step("same" if before.whole[i] == after.whole[j] else "changed", (i, i + 1), (j, j + 1))
        for i, j in pairs
    ]


def _middle(task: _Task, here: tuple[int, int], there: tuple[int, int]) -> list[Step]:
    """What lies between the equal ends: runs that a scheduler may reorder first, then lines."""
    before, after, order_free = task.before, task.after, task.order_free
    if order_free is None or here[0] == here[1] or there[0] == there[1]:
        return _gap(task, here, there)
    runs_before = _runs(before, here, order_free)
    runs_after = _runs(after, there, order_free)
    tokens = (
        [_token(before, run) for run in runs_before],
        [_token(after, run) for run in runs_after],
    )
    steps: list[Step] = []
    at = (here[0], there[0])
    for i, j in equal_pairs(*tokens):
        one, other = runs_before[i], runs_after[j]
        if one[1] - one[0] < 2:
            continue  # a lone line says nothing of where a run belongs
        steps += _gap(task, (at[0], one[0]), (at[1], other[0]))
        if before.masked[one[0] : one[1]] == after.masked[other[0] : other[1]]:
            steps += _pairs(before, after, list(zip(range(*one), range(*other), strict=True)))
        else:
            steps.append(Step("order", one, other))
        at = (one[1], other[1])
    return steps + _gap(task, (at[0], here[1]), (at[1], there[1]))


def _runs(side: Side, within: tuple[int, int], order_free: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Ranges of lines that may change places with each other; every other line is a range of its own."""
    runs: list[tuple[int, int]] = []
    free_before = False
    for at in range(*within):
        free = order_free(side.lines[at])
        if free and free_before:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
        free_before = free
    return runs


def _token(side: Side, run: tuple[int, int]) -> str:
    return "\n".join(sorted(side.masked[run[0] : run[1]]))


def _gap(task: _Task, here: tuple[int, int], there: tuple[int, int], level: int = 0) -> list[Step]:
    """Lines aligned in the surest way, those between in the next one."""
    steps: list[Step] = []
    if here[0] == here[1] or there[0] == there[1] or level == len(task.levels):
        steps += [Step("removed", (at, at + 1), (there[0], there[0])) for at in range(*here)]
        return steps + [Step("added", (here[1], here[1]), (at, at + 1)) for at in range(*there)]
    lines_before, lines_after = task.levels[level]
    i, j = here[0], there[0]
    for low, high in equal_pairs(lines_before[here[0] : here[1]], lines_after[there[0] : there[1]]):
        one, other = here[0] + low, there[0] + high
        if i < one or j < other:
            steps += _gap(task, (i, one), (j, other), level + 1)
        steps += _pairs(task.before, task.after, [(one, other)])
        i, j = one + 1, other + 1
    if i < here[1] or j < there[1]:
        steps += _gap(task, (i, here[1]), (j, there[1]), level + 1)
    return steps
