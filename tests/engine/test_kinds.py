"""Each kind of value: its comparison, sign and text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.api import FactSpec, Value
from irdiff.model.kinds import standard_kinds

KINDS = standard_kinds()
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)
VALUES = {
    "count": st.integers(0, 99),
    "quantity": st.integers(-99, 99) | st.floats(-9, 9),
    "flag": st.booleans(),
    "token": st.text(max_size=4),
    "set": st.sets(st.text(max_size=2)).map(lambda items: tuple(sorted(items))),
    "tally": st.dictionaries(st.text(max_size=2), st.integers(0, 9), max_size=4),
    "record": st.dictionaries(st.text(max_size=2), SCALARS, max_size=4),
    "sequence": st.lists(st.text(max_size=2), max_size=4).map(tuple),
}


@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
def test_values_are_equal_exactly_where_there_is_no_delta(kind: str, data: st.DataObject) -> None:
    before: Value = data.draw(VALUES[kind])
    after: Value = data.draw(VALUES[kind])
    assert KINDS[kind].accepts(before)
    assert KINDS[kind].compare(before, before) is None
    same = before == after if kind != "tally" else _nonzero(before) == _nonzero(after)
    if kind == "record":
        known = [{k: v for k, v in value.items() if v is not None} for value in (before, after)]  # type: ignore[union-attr]
        same = known[0] == known[1] and all(type(known[1][k]) is type(v) for k, v in known[0].items())
    assert (KINDS[kind].compare(before, after) is None) == same
    assert isinstance(KINDS[kind].to_text(before), str)


def _nonzero(value: Value) -> object:
    assert isinstance(value, dict)
    return {key: count for key, count in value.items() if count}


@pytest.mark.parametrize("kind", ["count", "quantity", "tally"])
@given(data=st.data())
def test_the_sign_turns_round_with_the_sides(kind: str, data: st.DataObject) -> None:
    spec = FactSpec(id="x.y", title="t", kind=kind)
    before, after = data.draw(VALUES[kind]), data.draw(VALUES[kind])
    assert KINDS[kind].sign(before, after, spec) == -KINDS[kind].sign(after, before, spec)


def test_a_tally_measured_by_key_grows_with_its_keys_not_its_counts() -> None:
    spec = FactSpec(id="x.y", title="t", kind="tally", measure="key")
    assert KINDS["tally"].sign({"16": 2}, {"2": 16}, spec) == -1
    assert KINDS["tally"].sign({"4": 1}, {"4": 9}, spec) == 0
    assert KINDS["tally"].sign({"4": 1}, {"odd": 9}, spec) == 0


def test_a_difference_within_the_tolerance_has_no_sign() -> None:
    spec = FactSpec(id="x.y", title="t", kind="quantity", tolerance=0.02)
    assert KINDS["quantity"].sign(1000, 1010, spec) == 0
    assert KINDS["quantity"].sign(1000, 1030, spec) == 1


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("count", -1),
        ("count", True),
        ("flag", 1),
        ("tally", {"a": 1.5}),
        ("set", ("b", "a")),
        ("sequence", "a"),
    ],
)
def test_a_value_of_another_kind_is_not_accepted(kind: str, value: Value) -> None:
    assert not KINDS[kind].accepts(value)
