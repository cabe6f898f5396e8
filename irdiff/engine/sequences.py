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


def _changed_runs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, int, int]]:
    from rapidfuzz.distance import Indel, Levenshtein

    numbers: dict[str, int] = {}
    coded_before = [numbers.setdefault(line, len(numbers)) for line in before]
    coded_after = [numbers.setdefault(line, len(numbers)) for line in after]
    large = len(before) > LARGE and len(after) > LARGE
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
