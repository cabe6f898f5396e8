"""The assignment is the best there is: compared with every other on small tables, and with itself mirrored."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.engine.assignment import assign


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    rows = draw(st.integers(1, 5))
    columns = draw(st.integers(rows, 6))
    scores = st.integers(0, draw(st.sampled_from([1, 3, 10_000])))
    return [[draw(scores) for _ in range(columns)] for _ in range(rows)]


@given(tables())
def test_no_other_assignment_has_a_larger_sum(scores: list[list[int]]) -> None:
    found = assign(scores)
    assert len(set(found)) == len(scores)
    every = itertools.permutations(range(len(scores[0])), len(scores))
    best = max(sum(line[column] for line, column in zip(scores, chosen, strict=True)) for chosen in every)
    assert sum(line[column] for line, column in zip(scores, found, strict=True)) == best


@given(st.permutations(range(30)))
def test_a_planted_assignment_is_found_whatever_the_order(places: list[int]) -> None:
    scores = [[10 - abs(row - column) for column in places] for row in range(30)]
    scores = [[max(score, 0) for score in line] for line in scores]
    assert [places[column] for column in assign(scores)] == list(range(30))


def test_the_best_sum_is_taken_and_not_the_best_pair_first() -> None:
    assert assign([[10, 9], [9, 0]]) == [1, 0]


def test_more_rows_than_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="more rows"):
        assign([[1], [2]])


def test_nothing_is_assigned_to_nothing() -> None:
    assert assign([]) == []
