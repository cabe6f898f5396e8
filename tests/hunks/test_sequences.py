"""Pairs of equal lines are in order, equal, and as many as there can be."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from irdiff.engine.sequences import equal_pairs, hunks

WORDS = st.lists(st.sampled_from("abc"), max_size=9)


def longest(before: list[str], after: list[str]) -> int:
    """Length of the longest common subsequence, by its definition."""
    row = [0] * (len(after) + 1)
    for one in before:
        last = list(row)
        for at, other in enumerate(after):
            row[at + 1] = last[at] + 1 if one == other else max(row[at], last[at + 1])
    return row[-1]


@given(WORDS, WORDS)
def test_pairs_are_a_longest_common_subsequence(before: list[str], after: list[str]) -> None:
    pairs = equal_pairs(before, after)
    assert all(before[i] == after[j] for i, j in pairs)
    assert all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(pairs))
    assert len(pairs) == longest(before, after)


def test_texts_too_large_to_align_differ_as_a_whole_at_once() -> None:
    before = [f"b{number}" for number in range(300_000)]
    after = [f"a{number}" for number in range(300_000)]
    started = time.perf_counter()
    (found,) = hunks(["same", *before, "end"], ["same", *after, "end"])
    assert (found.before, found.after) == ((1, 300_001), (1, 300_001))
    assert time.perf_counter() - started < 20
