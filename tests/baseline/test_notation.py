"""Any value on one line of text, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.model.notation import (
    NotationError,
    key_text,
    parse_key,
    parse_scalar,
    parse_value,
    scalar_text,
    value_text,
)

TEXT = (
    st.text()
    | st.text(alphabet='ab 0,{}[]"\\=#\n\t\x7f\u2028é:.-')
    | st.sampled_from(["true", "null", "1e5", "nan", "-inf", "007"])
)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUE = (
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | TEXT
    | st.lists(TEXT).map(tuple)
    | st.dictionaries(TEXT, st.integers(min_value=0))
    | st.dictionaries(TEXT, SCALAR)
)


def _same(one: object, other: object) -> bool:
    """Equal, and of the same types: ``1`` is not ``true``, and ``1`` is not ``1.0``."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


@given(VALUE)
def test_a_value_is_read_back_as_it_was(value):
    assert _same(parse_value(value_text(value)), value)


@given(SCALAR)
def test_a_field_is_read_back_as_it_was(value):
    assert _same(parse_scalar(scalar_text(value)), value)


@given(TEXT)
def test_a_name_is_read_back_as_it_was(text):
    assert parse_key(key_text(text)) == text


@given(VALUE)
def test_no_value_reaches_another_line_or_hides_a_character(value):
    assert value_text(value).isprintable()


@given(st.text(alphabet='ab10, {}[]"\\=ntrue.-e\x7f'))
def test_what_is_no_value_is_an_error_of_the_notation_and_nothing_else(text):
    try:
        value = parse_value(text)
    except NotationError:
        return
    assert _same(parse_value(value_text(value)), value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"bar.sync": 4, "cp.async.cg 16 src-size": 5}, "{bar.sync 4, cp.async.cg 16 src-size 5}"),
        ({"64x32xbf16, masked": 1}, '{"64x32xbf16, masked" 1}'),
        ({"num_warps": 4, "arch": "sm90"}, "{arch = sm90, num_warps = 4}"),
        (("16", "32"), "[16, 32]"),
        ("!tt.ptr<f16>, tt.divisibility = 16", "!tt.ptr<f16>, tt.divisibility = 16"),
        ("12.8", '"12.8"'),
        (75.0, "75.0"),
        ({}, "{}"),
        ((), "[]"),
        (None, "null"),
    ],
)
def test_values_look_like_what_a_reviewer_expects(value, text):
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{bar.sync}", "tally"),
        ("{a 1, a 2}", "twice"),
        ("[a", "not closed"),
        ("[a,b]", "list"),
        ("[a, ]", "list"),
        ('"half', "JSON"),
        ("", "missing"),
        (" a", "spaces"),
        ("a\u2028b", "printable"),
        ("9" * 5000, "digits"),
        (json.dumps("a") + "b", "JSON"),
    ],
)
def test_an_error_says_what_is_wrong(text, what):
    with pytest.raises(NotationError, match=what):
        parse_value(text)
