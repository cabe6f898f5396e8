"""Expressions over facts: what they mean, three-valued, and that a wrong one is an error with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.config.expressions import parse_expression
from irdiff.engine.gate.expressions import holds, measured
from irdiff.errors import UsageError
from irdiff.model.facts import FactSpec, Value

FACTS = {
    "kernel.mma_class": FactSpec(
        id="kernel.mma_class", title="class", kind="token", order=("fma", "mma.sync", "wgmma")
    )
}


class Pair:
    def __init__(self, **known: tuple[Value | None, Value | None]) -> None:
        self._known = {name.replace("__", "."): pair for name, pair in known.items()}

    def values(self, fact_id: str, scope: str = "") -> tuple[Value | None, Value | None]:
        return self._known.get(f"{fact_id}@{scope}" if scope else fact_id, (None, None))


PAIR = Pair(
    sass__registers=(64, 72),
    kernel__occupancy=(50.0, 25.0),
    kernel__mma_class=("wgmma", "mma.sync"),
    ptx__opcodes=({"bar.sync": 4, "mov": 9}, {"bar.sync": 6, "mov": 9}),
    ptx__header=({"version": "8.8", "lto": None}, {"version": "8.8"}),
    meta__flags=(True, False),
    ptx__names=(("a", "b"), ("a",)),
)


def judged(text: str, pair: Pair = PAIR) -> bool | None:
    return holds(parse_expression(text, where="test"), pair, FACTS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sass.registers <= 168", True),
        ("sass.registers <= 71", False),
        ("168 >= sass.registers", True),
        ("sass.registers <= before", False),
        ("sass.registers <= before * 1.125", True),
        ("sass.registers <= 1.1 * before", False),
        ("before < sass.registers", True),
        ("before(sass.registers) == 64", True),
        ("2 * before(sass.registers) > sass.registers", True),
        ("kernel.occupancy >= before", False),
        ('kernel.mma_class == "mma.sync"', True),
        ('kernel.mma_class >= "wgmma"', False),
        ('kernel.mma_class >= "fma"', True),
        ("kernel.mma_class >= before", False),
        ('ptx.opcodes["bar.sync"] <= 6', True),
        ("ptx.opcodes['bar.sync'] <= before", False),
        ('ptx.opcodes["absent"] == 0', True),
        ("ptx.opcodes == 15", True),
        ('ptx.header["version"] == "8.8"', True),
        ('ptx.header["absent"] == "8.8"', None),
        ("ptx.header == 2", None),
        ("meta.flags == false", True),
        ("meta.flags != before", True),
        ("ptx.names == 1", True),
        ("not sass.registers > 100", True),
        ("sass.registers > 100 or kernel.occupancy < 30", True),
        ("sass.registers > 100 and kernel.occupancy < 30", False),
        ("not (sass.registers > 100 or kernel.occupancy < 30)", False),
        ("sass.stack <= 0", None),
        ("sass.stack <= 0 and sass.registers > 100", False),
        ("sass.stack <= 0 or sass.registers < 100", True),
        ("sass.stack <= 0 or sass.registers > 100", None),
        ("not sass.stack <= 0", None),
        ("sass.registers @ loop0 < 3", None),
        ('sass.registers == "many"', None),
    ],
)
def test_what_an_expression_means(text: str, expected: bool | None) -> None:
    assert judged(text) is expected


def test_a_loop_is_named_behind_an_at() -> None:
    pair = Pair(**{"ptx__barriers@loop0/loop1": ({"bar.sync": 1}, {"bar.sync": 2})})
    assert judged('ptx.barriers["bar.sync"] @ loop0/loop1 <= before', pair) is False
    expression = parse_expression('ptx.barriers["bar.sync"] @ loop0/loop1 <= before', where="test")
    assert measured(expression, pair) == (('ptx.barriers["bar.sync"] @ loop0/loop1', 1, 2),)


def test_what_it_rests_on_is_told_once() -> None:
    expression = parse_expression("sass.registers <= before * 2 and sass.registers < 255", where="test")
    assert measured(expression, PAIR) == (("sass.registers", 64, 72),)


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("", "a fact such as", 1),
        ("sass.registers", "one of <= < >=", 15),
        ("sass.registers <= ", "a fact such as", 19),
        ("sass.registers <= 3 4", "and, or, or the end", 21),
        ("1 < sass.registers < 3", "two comparisons in a row", 20),
        ("1 < 2", "it names no fact", 1),
        ("before < 2", "it names no fact", 1),
        ("before < before", "it names no fact", 1),
        ("(sass.registers < 3", "a closing parenthesis", 20),
        ("sass.registers ~ 3", "this means nothing here", 16),
        ("sass.registers < __import__('os')", "a fact such as", 18),
        ('3 * "x" < sass.registers', "only a fact can be multiplied", 1),
        ("sass.registers @ 3 < 3", "a loop is expected", 18),
        ("ptx.opcodes[bar] < 3", "a key in quotes", 13),
    ],
)
def test_a_wrong_expression_is_an_error_with_its_place(text: str, message: str, at: int) -> None:
    with pytest.raises(UsageError) as caught:
        parse_expression(text, where="irdiff.toml: check.expect 1")
    assert message in caught.value.message
    assert f"at character {at} of" in caught.value.message
    assert caught.value.where == "irdiff.toml: check.expect 1"


@given(st.text(alphabet="()<>=!. *@[]\"'abs0123456789\n", max_size=200) | st.text(max_size=100))
def test_any_text_is_an_expression_or_a_usage_error(text: str) -> None:
    try:
        judged(text)
    except UsageError:
        return


@pytest.mark.parametrize("text", ["(" * 3000, "not " * 400 + "a.b < 1", "(" * 300 + "a.b < 1" + ")" * 300])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        judged(text)
