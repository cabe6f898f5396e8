"""Which setting wins: defaults, tables, globs, overrides and the command line; tolerances and selections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.config.expressions import parse_expression
from irdiff.engine.gate.names import check_names
from irdiff.engine.gate.policy import Decider, selects, within
from irdiff.errors import UsageError
from irdiff.model.facts import FactSpec
from irdiff.model.gate import Tolerance
from irdiff.model.policy import Expectation, Override, Policy, Selection
from irdiff.model.rules import RuleSpec

RULES = (
    RuleSpec(code="RES101", title="spills", level="error", role="spills"),
    RuleSpec(code="RES104", title="shared", level="warn", role="shared", tolerance=Tolerance(percent=10)),
    RuleSpec(code="LAY102", title="layouts", level="warn", role="layouts"),
)
ATTENTION = Override(
    selection=Selection(kernels=("attn_*",)),
    levels={"RES101": "warn", "LAY*": "error"},
    tolerances={"RES104": Tolerance(absolute=64)},
    where="irdiff.toml: check.override 1",
)


def level(
    policy: Policy, code: str, kernel: str = "matmul", target: str | None = "cuda:90"
) -> tuple[str, str]:
    return Decider(policy, RULES).level(code, kernel, target)


def test_without_a_policy_the_rule_decides() -> None:
    assert level(Policy(), "RES101") == ("error", "default")
    assert Decider(Policy(), RULES).tolerance("RES104", "k", None) == (Tolerance(percent=10), "default")


def test_a_code_wins_over_a_glob_and_a_later_glob_over_an_earlier() -> None:
    policy = Policy(path="irdiff.toml", levels={"RES*": "warn", "R*": "off", "RES101": "error"})
    assert level(policy, "RES101") == ("error", "irdiff.toml: check.rules RES101")
    assert level(policy, "RES104") == ("off", "irdiff.toml: check.rules R*")


def test_an_override_holds_for_its_kernels_and_the_last_wins() -> None:
    later = Override(
        selection=Selection(targets=("cuda:100",)),
        levels={"RES101": "off"},
        where="irdiff.toml: check.override 2",
    )
    policy = Policy(path="irdiff.toml", levels={"RES101": "error"}, overrides=(ATTENTION, later))
    assert level(policy, "RES101") == ("error", "irdiff.toml: check.rules RES101")
    assert level(policy, "RES101", "attn_fwd") == ("warn", "irdiff.toml: check.override 1 RES101")
    assert level(policy, "RES101", "attn_fwd", "cuda:100") == ("off", "irdiff.toml: check.override 2 RES101")
    assert level(policy, "LAY102", "attn_fwd") == ("error", "irdiff.toml: check.override 1 LAY*")
    decider = Decider(policy, RULES)
    assert decider.tolerance("RES104", "attn_fwd", None) == (
        Tolerance(absolute=64),
        "irdiff.toml: check.override 1 tolerance RES104",
    )


def test_the_command_line_wins_over_everything() -> None:
    policy = Policy(levels={"RES101": "off"}, overrides=(ATTENTION,), forced={"RES*": "error"})
    assert level(policy, "RES101", "attn_fwd") == ("error", "--rule RES*")


def test_an_expectation_has_its_own_level() -> None:
    mine = Expectation(
        code="MY001", text="a.b < 1", expression=parse_expression("a.b < 1", where=""), level="warn"
    )
    assert level(Policy(path="p", expectations=(mine,)), "MY001") == ("warn", "p: check.expect MY001")


@pytest.mark.parametrize(
    ("selection", "kernel", "target", "expected"),
    [
        (Selection(), "k", None, True),
        (Selection(kernels=("attn_*",)), "attn_fwd", None, True),
        (Selection(kernels=("attn_*",)), "Attn_fwd", None, False),
        (Selection(kernels=("attn_*",), exclude=("*_bwd",)), "attn_bwd", None, False),
        (Selection(targets=("cuda:*",)), "k", "cuda:90", True),
        (Selection(targets=("cuda:*",)), "k", "hip:gfx942", False),
        (Selection(targets=("cuda:*",)), "k", None, False),
        (Selection(targets=("*",)), "k", None, True),
    ],
)
def test_what_a_selection_holds(
    selection: Selection, kernel: str, target: str | None, expected: bool
) -> None:
    assert selects(selection, kernel, target) is expected


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_tolerance_lets_pass_what_it_says_and_no_tolerance_only_what_is_equal(
    before: float, after: float
) -> None:
    assert within(Tolerance(), before, after) == (before == after)
    assert within(Tolerance(absolute=abs(after - before)), before, after)
    assert within(Tolerance(percent=10), 100, 110)
    assert not within(Tolerance(percent=10), 100, 111)


@pytest.mark.parametrize(
    ("policy", "where", "message"),
    [
        (Policy(path="p", levels={"RES110": "off"}), "p: check.rules", "no rule is called 'RES110'"),
        (Policy(path="p", levels={"ABC*": "off"}), "p: check.rules", "no rule is called 'ABC*'"),
        (Policy(path="p", tolerances={"X": Tolerance()}), "p: check.tolerance", "no rule is called 'X'"),
        (Policy(forced={"X": "off"}), "--rule", "no rule is called 'X'"),
        (
            Policy(
                path="p",
                expectations=(
                    Expectation(
                        code="MY001",
                        text="",
                        expression=parse_expression("sass.register < 1", where=""),
                    ),
                ),
            ),
            "p: check.expect MY001",
            "no fact is called 'sass.register'",
        ),
        (
            Policy(
                path="p",
                expectations=(
                    Expectation(code="RES101", text="", expression=parse_expression("a.b < 1", where="")),
                ),
            ),
            "p: check.expect",
            "code RES101 is one of irdiff's rules",
        ),
    ],
)
def test_a_name_that_nobody_registers_is_an_error(policy: Policy, where: str, message: str) -> None:
    facts = {"sass.registers": FactSpec(id="sass.registers", title="registers", kind="count")}
    with pytest.raises(UsageError) as caught:
        check_names(policy, RULES, facts)
    assert caught.value.where == where
    assert caught.value.message == message


WORDS = {
    "a.class": FactSpec(id="a.class", title="class", kind="token", order=("fma", "mma.sync", "wgmma")),
    "a.target": FactSpec(id="a.target", title="target", kind="token"),
    "a.registers": FactSpec(id="a.registers", title="registers", kind="count"),
    "a.options": FactSpec(id="a.options", title="options", kind="record"),
}


def compared(text: str) -> Policy:
    own = Expectation(code="MY001", text=text, expression=parse_expression(text, where=""))
    return Policy(path="irdiff.toml", expectations=(own,))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            'a.class >= "wgma"',
            "a.class is never 'wgma'",
            "did you mean wgmma? it is one of fma, mma.sync, wgmma",
        ),
        ('"wgma" <= before(a.class)', "a.class is never 'wgma'", "did you mean wgmma?"),
        (
            'not (a.registers < 3 or a.class == "x")',
            "a.class is never 'x'",
            "it is one of fma, mma.sync, wgmma",
        ),
        ('a.class != "fma + mma"', "a.class is never 'mma'", "it is one of"),
        ('a.class >= "fma + wgmma"', "a.class is never 'fma + wgmma'", "it is one of"),
        ('a.target >= "cuda:90"', "the values of a.target have no order", "compare it with =="),
        ('a.registers == "64"', "a.registers is never a text", "without quotes"),
    ],
)
def test_a_word_that_a_fact_never_is_is_an_error_of_the_configuration(
    text: str, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_names(compared(text), RULES, WORDS)
    assert caught.value.where == "irdiff.toml: check.expect MY001"
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        'a.class >= "wgmma"',
        'a.class == "fma + wgmma"',
        "a.class >= before",
        "a.class >= 1",
        'a.target == "cuda:90"',
        'a.options["arch"] == "sm90"',
        "a.registers <= 64",
    ],
)
def test_a_word_that_a_fact_may_be_is_none(text: str) -> None:
    check_names(compared(text), RULES, WORDS)
