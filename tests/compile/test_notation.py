"""The notation of signatures."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from irdiff.compile.items import (
    SCALARS,
    Argument,
    LaterItem,
    TupleItem,
    TypeItem,
    spell,
    spell_signature,
    value_item,
)
from irdiff.compile.notation import parse_option, parse_signature, parse_values
from irdiff.errors import UsageError

INTEGERS = [name for name in SCALARS if name[0] in "iu" and name not in ("i1", "u1")]
values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20)
).map(value_item)
scalars = st.sampled_from(SCALARS).map(lambda name: TypeItem(type=name))
hinted = st.builds(
    lambda name, hint: TypeItem(type=name, hints=(hint,)),
    st.sampled_from(INTEGERS),
    st.sampled_from(["16", "1"]),
)
pointers = st.builds(
    lambda star, name, hints: TypeItem(type=star + name, hints=hints),
    st.sampled_from(["*", "*k", "**"]),
    st.sampled_from(SCALARS),
    st.sampled_from([(), ("16",), ("range32",), ("16", "range32")]),
)
descriptors = st.builds(
    lambda name, sizes: TypeItem(type=f"tensordesc<{name}[{', '.join(map(str, sizes))}]>"),
    st.sampled_from(SCALARS),
    st.lists(st.integers(1, 4096), min_size=1, max_size=5),
)
leaves = st.one_of(values, scalars, hinted, pointers, descriptors, st.just(LaterItem()))
items = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3).map(lambda found: TupleItem(items=tuple(found))),
    max_leaves=8,
)


@given(st.lists(items, max_size=6), st.lists(items, max_size=3))
def test_a_spelled_signature_reads_back_as_itself(by_position, by_name):
    signature = tuple(Argument(item=item) for item in by_position) + tuple(
        Argument(name=f"arg_{number}", item=item) for number, item in enumerate(by_name)
    )
    assert parse_signature(spell_signature(signature)) == signature


@given(st.lists(items, min_size=1, max_size=4))
def test_a_list_of_values_reads_back_as_itself(found):
    assert list(parse_values(", ".join(map(spell, found)), where="--set X")) == found


def refusal(text):
    """The error that a text is refused with, or None where it is a signature."""
    try:
        parse_signature(text)
    except UsageError as error:
        return error
    return None


@given(st.text(max_size=60))
def test_any_text_is_a_signature_or_a_usage_error(text):
    error = refusal(text)
    assert error is None or ("expected" in error.message and error.hint.splitlines()[-1].strip() == "^")


@given(st.text(alphabet="*kfpi0123456789:16,()<>[]'\"=- .einftensordc\\", max_size=40))
def test_any_text_of_the_notations_letters_is_a_signature_or_a_usage_error(text):
    error = refusal(text)
    assert error is None or "expected" in error.message
    if error is None:
        assert parse_signature(spell_signature(parse_signature(text))) == parse_signature(text)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("*fp16:16, fp17, 256", 10, "'fp17' is no type; expected fp16"),
        ("float32", 0, "'float32' is no type; expected fp32"),
        ("*fp16:8", 6, "'8' is no hint that Triton knows here; expected :16 or :range32"),
        ("fp32:16", 5, "'16' is no hint that Triton knows here; expected no hint behind this type"),
        ("*fp16:1", 6, "'1' is no hint that Triton knows here"),
        ("i32:16:1", 7, "'1' does not go with the hint before it"),
        ("(i32, fp32", 0, "this tuple is not closed; expected a closing parenthesis"),
        ("i32 fp32", 4, "'f' cannot follow an item; expected a comma"),
        ("relu", 0, "a string is written 'relu'"),
        ("'relu", 0, "this string is not closed"),
        ("tensordesc<fp16>", 15, "'[' is missing; expected a descriptor as tensordesc<fp16[128, 64]>"),
        ("tensordesc<fp16[0]>", 16, "a block size is missing"),
        ("x=i32, fp32", 7, "an item by position cannot follow one by name"),
        ("x=i32, x=i64", 7, "x is given twice"),
        ("i32,,i32", 4, "',' starts no item"),
        ("*", 1, "the end is no type"),
        ("(" * 40, 16, "nested too deeply"),
    ],
)
def test_an_error_points_at_its_place_and_says_what_is_expected(text, column, message):
    with pytest.raises(UsageError) as raised:
        parse_signature(text)
    assert message in raised.value.message
    shown, caret = raised.value.hint.splitlines()
    assert shown == text
    assert caret == "  " + " " * column + "^"


def test_the_caret_stays_under_its_place_in_a_long_text():
    text = "i32, " * 200 + "fp17" + ", i32" * 200
    with pytest.raises(UsageError) as raised:
        parse_signature(text)
    shown, caret = raised.value.hint.splitlines()
    assert len(shown) < 80
    assert shown[len(caret) - 3 :].startswith("fp17")


def test_option_values_are_literals_or_words_and_commas_make_lists():
    assert parse_option("64,128", where="x") == (value_item(64), value_item(128))
    assert parse_option("tf32", where="x") == (value_item("tf32"),)
    assert parse_option("True", where="x") == (value_item(True),)
    assert parse_option("-O1 --maxrregcount=64", where="x") == (value_item("-O1 --maxrregcount=64"),)
    assert parse_option("'a,b'", where="x") == (value_item("a,b"),)
    assert len(parse_option("('tf32', 'ieee'), ('ieee',)", where="x")) == 2
