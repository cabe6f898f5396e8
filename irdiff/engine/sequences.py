"""Alignment of line sequences: the one module that imports rapidfuzz.

Lines are interned to integers, equal ends trimmed, the middle aligned by rapidfuzz (Indel, or Levenshtein
above 20,000 lines a side where Indel's table would grow too large). Not difflib: on repetitive IR its
heuristics lose most matches.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

LARGE = 20_000
"""Lines a side above which the cheaper alignment is used."""
TOO_LARGE = 200_000
"""Lines a side above which nothing between the equal ends is aligned: it would take minutes."""


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """A run of lines that differ: half-open ranges of indexes into both sequences."""

    before: tuple[int, int]
    after: tuple[int, int]


def hunks(before: Sequence[str], after: Sequence[str]) -> tuple[Hunk, ...]:
    """The runs that differ, in order; empty for equal sequences."""
    start = 0
    shortest = min(len(before), len(after))
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    middle_before = before[start : len(before) - end]
    middle_after = after[start : len(after) - end]
    if not middle_before and not middle_after:
        return ()
    if not middle_before or not middle_after:
        return (Hunk(before=(start, start + len(middle_before)), after=(start, start + len(middle_after))),)
    return _dissolved(
        [
            Hunk(
                before=(start + low_before, start + high_before),
                after=(start + low_after, start + high_after),
            )
            for low_before, high_before, low_after, high_after in _changed_runs(middle_before, middle_after)
        ]
    )


def equal_pairs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Indexes of the lines that are kept, in order: as many as possible below LARGE lines a side."""
    start = 0
    shortest = min(len(before), len(after))
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    ends = (len(before) - end, len(after) - end)
    pairs = [(at, at) for at in range(start)]
    at = (start, start)
    middles = (before[start : ends[0]], after[start : ends[1]])
    changed = _changed_runs(*middles) if all(middles) else []
    for low_before, high_before, low_after, high_after in changed:
        pairs += zip(range(at[0], start + low_before), range(at[1], start + low_after), strict=True)
        at = (start + high_before, start + high_after)
    if all(middles):
        pairs += zip(range(at[0], ends[0]), range(at[1], ends[1]), strict=True)
    pairs += zip(range(ends[0], len(before)), range(ends[1], len(after)), strict=True)
    return pairs


def _changed_runs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, int, int]]:
    from rapidfuzz.distance import Indel, Levenshtein

    numbers: dict[str, int] = {}
    coded_before = [numbers.setdefault(line, len(numbers)) for line in before]
    coded_after = [numbers.setdefault(line, len(numbers)) for line in after]
    if len(before) * len(after) > TOO_LARGE * TOO_LARGE:
        return [(0, len(before), 0, len(after))]
    large = len(before) * len(after) > LARGE * LARGE
    found = (Levenshtein if large else Indel).opcodes(coded_before, coded_after)
    return [(op.src_start, op.src_end, op.dest_start, op.dest_end) for op in found if op.tag != "equal"]


def _dissolved(runs: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """Join runs with at most one equal line between them: a lone equal line between changes is chance."""
    joined: list[Hunk] = []
    for run in runs:
        if joined and run.before[0] - joined[-1].before[1] <= 1 and run.after[0] - joined[-1].after[1] <= 1:
            last = joined.pop()
            joined.append(Hunk(before=(last.before[0], run.before[1]), after=(last.after[0], run.after[1])))
        else:
            joined.append(run)
    return tuple(joined)
