"""What a judgement says: levels, tolerances, expectations, and what has no say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

import toy_stages
from gate.gated import CLEAN, SPILLS, TODAY, gated, judgement, spilling
from irdiff.api import Fact, FactSpec, Fired, RuleSpec, RuleView, Scope, StageSpec, Tolerance
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.gate.findings import lowered
from irdiff.engine.gate.judge import Gate
from irdiff.engine.summarize import Reader
from irdiff.model.codec import decode_report, encode
from irdiff.model.policy import Comparison, Expectation, Operand, Override, Policy, Selection
from irdiff.present.gate import gate_view
from irdiff.registry import PluginProblem, Registry
from toy_stages import bundle, registry, stage


def test_a_finding_names_kernel_rule_fact_and_both_values() -> None:
    found = spilling()
    (finding,) = found.findings
    assert (found.failed, found.unsure) == (True, False)
    assert (finding.rule, finding.kernel, finding.target, finding.fact) == (
        "RES101", "kernel", "cuda:90", "two.spills",
    )  # fmt: skip
    assert (finding.before, finding.after, finding.decided) == (0, 2, "default")
    assert finding.message == "two spills 0 → 2"
    assert (found.rules["RES101"].judged, found.rules["RES101"].level) == (1, "error")


def test_a_saved_report_says_the_same() -> None:
    report = gated(bundle(**CLEAN), bundle(**SPILLS))
    assert decode_report(encode(report), where="report") == report
    assert "two.spills" in report.facts


def test_pairs_may_be_judged_after_they_were_compared() -> None:
    chosen = registry()
    reader = Reader(chosen, toy_stages.NoTools(), canonical=True)
    before, after = reader.read_both([bundle(**CLEAN)], [bundle(**SPILLS)])
    report = Comparer(chosen, reader).compare(
        Side(described="a", kernels=tuple(before)), Side(described="b", kernels=tuple(after))
    )
    gate = Gate(chosen, Policy())
    marked = gate.each(before[0], after[0], report.kernels[0])
    later = gate.judged(msgspec.structs.replace(report, kernels=(marked,)), today=TODAY)
    assert later == gated(bundle(**CLEAN), bundle(**SPILLS))


@pytest.mark.parametrize(
    ("policy", "failed", "levels", "why"),
    [
        (Policy(levels={"RES101": "warn"}), False, ["warn"], []),
        (Policy(levels={"RES*": "off"}), False, [], ["off (policy: check.rules RES*)"]),
        (Policy(forced={"RES101": "off"}, levels={"RES101": "error"}), False, [], ["off (--rule RES101)"]),
        (
            Policy(tolerances={"RES101": Tolerance(absolute=2)}),
            False,
            [],
            ["within the tolerance of 2 (policy: check.tolerance RES101)"],
        ),
        (Policy(tolerances={"RES101": Tolerance(absolute=1)}), True, ["error"], []),
        (
            Policy(
                overrides=(
                    Override(
                        selection=Selection(kernels=("kern*",)), levels={"RES101": "warn"}, where="here"
                    ),
                )
            ),
            False,
            ["warn"],
            [],
        ),
    ],
)
def test_a_policy_decides_and_what_it_silences_is_listed(
    policy: Policy, failed: bool, levels: list[str], why: list[str]
) -> None:
    both = registry(rules=(*registry().rules, _other()))
    found = spilling(policy, using=both)
    assert found.failed == failed
    assert [finding.level for finding in found.findings] == levels
    assert [each.why for each in found.silenced] == why


def _other() -> RuleSpec:
    """A rule that never fires, so that another one is enabled where RES101 is off."""
    return RuleSpec(code="ZZZ1", title="nothing", level="warn", role="spills")


def test_a_tolerance_is_applied_to_numbers_that_a_rule_compares() -> None:
    def grown(view: RuleView) -> Iterable[Fired]:
        for change in view.changes("spills"):
            yield Fired(message="more", change=change, before=float(change.before), after=float(change.after))  # type: ignore[arg-type]

    rule = RuleSpec(
        code="RES9", title="more", level="error", role="spills", judge=grown, tolerance=Tolerance(absolute=2)
    )
    found = spilling(using=registry(rules=(rule,)))
    assert (found.failed, [each.why for each in found.silenced]) == (
        False, ["within the tolerance of 2 (default)"],
    )  # fmt: skip


def test_what_led_to_the_same_machine_code_is_silenced() -> None:
    before, after = bundle(one="add x", two="add x"), bundle(one="add x\nspill x", two="add x")
    found = judgement(
        gated(before, after, using=registry(stage("one"), stage("two", after=("one",), machine_code=True)))
    )
    assert not found.findings
    report = gated(bundle(one="add x", two="add x", layout="dump"), bundle(one="spill x", layout="dump"))
    assert [each.rule for each in judgement(report).findings] == ["RES101"]


def test_the_lowest_stage_that_both_sides_know_judges() -> None:
    before, after = bundle(one="add x", two="add x"), bundle(one="spill x\nspill x", two="spill x")
    (finding,) = judgement(gated(before, after)).findings
    assert (finding.fact, finding.after) == ("two.spills", 1)


def test_two_targets_are_compared_by_rules_that_hold_for_both_alone() -> None:
    sides = bundle(**CLEAN), bundle(**SPILLS, target="100")
    assert not judgement(gated(*sides)).findings
    across = msgspec.structs.replace(registry().rules[0], across_targets=True)
    assert judgement(gated(*sides, using=registry(rules=(across,)))).failed


def _estimating() -> StageSpec:
    made = stage("two", machine_code=True)

    def summarize(artifact: Any, context: Any) -> Any:
        summary = made.summarize(artifact, context)
        facts = tuple(msgspec.structs.replace(fact, exactness="estimate") for fact in summary.facts)
        return msgspec.structs.replace(summary, facts=facts)

    return msgspec.structs.replace(made, summarize=summarize)


def test_an_estimate_is_a_warning_unless_the_policy_says_otherwise() -> None:
    using = registry(stage("one"), _estimating())
    found = spilling(using=using)
    assert (found.failed, [each.level for each in found.findings]) == (False, ["warn"])
    assert "estimate" in found.findings[0].decided
    assert spilling(Policy(estimates=True), using=using).failed


def test_a_rule_that_raises_is_named_and_the_others_judge() -> None:
    def broken(view: RuleView) -> Iterable[Fired]:
        raise ZeroDivisionError("a plugin's own mistake")

    rules = (*registry().rules, RuleSpec(code="BAD1", title="bad", level="warn", role="spills", judge=broken))
    found = spilling(using=registry(rules=rules))
    assert (found.failed, found.unsure) == (True, True)
    (told,) = found.unjudged
    assert (told.code, told.rules) == ("rule-failed", ("BAD1",))
    assert "ZeroDivisionError: a plugin's own mistake" in told.message
    assert not spilling(Policy(levels={"BAD1": "off"}), using=registry(rules=rules)).unsure


def test_a_rule_that_raises_leaves_a_comparison_as_it_is() -> None:
    def broken(view: RuleView) -> Iterable[Fired]:
        raise ZeroDivisionError

    rules = (*registry().rules, RuleSpec(code="BAD1", title="bad", level="warn", role="spills", judge=broken))
    report = toy_stages.compare([bundle(**CLEAN)], [bundle(**SPILLS)], registry(rules=rules))
    assert [change.rules for change in report.kernels[0].changes if change.rules] == [("RES101",)]


def test_a_plugin_that_was_skipped_is_refused() -> None:
    problem = PluginProblem(plugin="bad", distribution="bad-dist", version="1", reason="no")
    found = judgement(gated(bundle(**CLEAN), bundle(**CLEAN), using=registry(problems=(problem,))))
    assert (found.failed, found.unsure, [each.code for each in found.unjudged]) == (
        False, True, ["plugin-skipped"],
    )  # fmt: skip


def expecting(text: str, bound: float, *, if_known: bool = False, fact: str = "two.spills") -> Policy:
    expression = Comparison(operator="<=", measured=Operand(fact=fact), bound=Operand(constant=bound))
    return Policy(
        levels={"RES101": "off"},
        expectations=(Expectation(code="MY1", text=text, expression=expression, if_known=if_known),),
    )


def test_an_expectation_that_does_not_hold_is_a_finding_with_its_values() -> None:
    found = spilling(expecting("two.spills <= 1", 1))
    (finding,) = found.findings
    assert (found.failed, finding.rule, finding.before, finding.after) == (True, "MY1", 0, 2)
    assert finding.message == "two.spills 0 → 2"  # the expression is the title of the rule
    assert not spilling(expecting("two.spills <= 2", 2)).failed


def test_an_expectation_on_a_fact_that_is_not_known_could_not_be_judged() -> None:
    sides = bundle(one="add x", layout="dump"), bundle(one="add y", layout="dump")
    found = judgement(gated(*sides, expecting("two.spills <= 1", 1)))
    assert (found.failed, [each.code for each in found.unjudged]) == (False, ["unknown-fact"])
    assert not judgement(gated(*sides, expecting("two.spills <= 1", 1, if_known=True))).unsure


def test_kernels_that_are_not_selected_are_not_judged() -> None:
    before = [bundle("keep", path="a", **CLEAN), bundle("leave", path="b", **CLEAN)]
    after = [
        bundle("keep", path="a", **SPILLS),
        bundle("leave", path="b", one="BROKEN", two="add x\nspill x"),
    ]
    found = judgement(gated(before, after, Policy(selection=Selection(exclude=("leave",)))))
    assert ({each.kernel for each in found.findings}, found.unsure) == ({"keep"}, False)


def test_errors_come_first() -> None:
    more = FactSpec(id="two.adds", title="adds", kind="count", role="adds")
    two = stage("two", machine_code=True)
    two = msgspec.structs.replace(two, facts=(more, *(f for f in two.facts if f.id != "two.adds")))
    warn = RuleSpec(code="AAA1", title="adds", level="warn", role="adds", fires=lambda change: True)
    before, after = bundle(one="add x", two="add x"), bundle(one="add x", two="spill x")
    found = judgement(
        gated(before, after, using=registry(stage("one"), two, rules=(warn, *registry().rules)))
    )
    assert [each.rule for each in found.findings] == ["RES101", "AAA1"]


def test_a_rule_on_an_earlier_stage_alone_has_no_say_where_the_machine_code_is_the_same() -> None:
    fact = FactSpec(id="one.adds", title="adds", kind="count", role="adds")
    one = stage("one")
    one = msgspec.structs.replace(one, facts=(fact, *(f for f in one.facts if f.id != "one.adds")))
    rule = RuleSpec(code="ADD1", title="adds", level="error", role="adds", fires=lambda change: True)
    using = registry(one, stage("two", after=("one",), machine_code=True), rules=(rule,))
    before = bundle(one="add x", two="add x")
    same = judgement(gated(before, bundle(one="add x\nadd y", two="add x"), using=using))
    assert not same.findings
    assert [(each.rule, each.why) for each in same.silenced] == [("ADD1", "the machine code is the same")]
    other = judgement(gated(before, bundle(one="add x\nadd y", two="add z"), using=using))
    assert [each.rule for each in other.findings] == ["ADD1"]
    launch = msgspec.structs.replace(rule, launch=True)
    speaks = registry(*using.stages, rules=(launch,))
    assert judgement(gated(before, bundle(one="add x\nadd y", two="add x"), using=speaks)).failed


def test_kernels_that_may_not_be_the_same_one_fail_nothing() -> None:
    assert lowered("error", "default", exact=True, confidence=0.72) == ("error", "default")
    level, decided = lowered("error", "default", exact=True, confidence=0.42)
    assert (level, decided) == (
        "warn", "default; a warning because the kernels are paired with confidence 0.42",
    )  # fmt: skip


def test_a_fact_that_repeats_another_leaves_the_say_to_it() -> None:
    # The text and the binary of one code both know the spills: changes are told of the text, so rules must go by it.
    text, binary = stage("one"), stage("two", after=("one",), machine_code=True)
    repeated = tuple(
        msgspec.structs.replace(spec, repeats="one.spills") if spec.id == "two.spills" else spec
        for spec in binary.facts
    )
    using = registry(text, msgspec.structs.replace(binary, facts=repeated))
    spilled = "add x\nspill x"
    found = judgement(gated(bundle(one="add x", two="add x"), bundle(one=spilled, two=spilled), using=using))
    assert [(each.rule, each.fact) for each in found.findings] == [("RES101", "one.spills")]


def _summing() -> Registry:
    """Stages with a loop of which they count the additions, and not the spills."""
    made = stage("two", machine_code=True)

    def summarize(artifact: Any, context: Any) -> Any:
        summary = made.summarize(artifact, context)
        inside = Fact(id="two.adds", value=1, scope="loop0")
        return msgspec.structs.replace(summary, facts=(*summary.facts, inside), scopes=(Scope(id="loop0"),))

    return registry(stage("one"), msgspec.structs.replace(made, summarize=summarize))


@pytest.mark.parametrize(
    ("fact", "after", "expected"),
    [
        ("two.spills", "add x\nspill x", "unknown-fact"),  # of the whole kernel alone
        ("two.spills", "add x\nadd y", ""),  # none anywhere, so none in a loop
        ("two.adds", "add x\nadd y", ""),  # counted by loops
    ],
)
def test_a_fact_that_is_not_kept_by_loops_is_not_known_in_one(fact: str, after: str, expected: str) -> None:
    within = Comparison(operator="<=", measured=Operand(fact=fact, scope="loop0"), bound=Operand(constant=1))
    policy = Policy(
        levels={"RES101": "off"},
        expectations=(Expectation(code="MY1", text=f"{fact} @ loop0 <= 1", expression=within),),
    )
    before = bundle(one="add x", two=after + "\nadd z")
    found = judgement(gated(before, bundle(one="add x", two=after), policy, using=_summing()))
    assert ([each.code for each in found.unjudged], found.failed) == ([expected] if expected else [], False)


def test_settings_that_select_no_kernel_are_told() -> None:
    anything = Comparison(operator="<=", measured=Operand(fact="two.spills"), bound=Operand(constant=9))

    def own(code: str, *kernels: str, level: Any = "error") -> Expectation:
        chosen = Selection(kernels=kernels)
        return Expectation(code=code, text="", expression=anything, selection=chosen, level=level)

    policy = Policy(
        path="irdiff.toml",
        expectations=(
            own("MY1", "kern*"),
            own("MY2", "kren*"),
            own("MY3", "nothing", level="off"),
            own("MY4", "fresh"),
        ),
        overrides=(
            Override(selection=Selection(kernels=("fresh",)), levels={"RES101": "warn"}, where="override 1"),
            Override(selection=Selection(targets=("hip:*",)), levels={"RES101": "warn"}, where="override 2"),
        ),
    )
    report = gated([bundle(**CLEAN)], [bundle(**CLEAN), bundle("fresh", path="b", one="x", two="y")], policy)
    told = [each for each in report.issues if each.code == "selects-nothing"]
    assert {each.severity for each in told} == {"warning"}
    assert [each.where for each in told] == [
        "irdiff.toml: check.expect MY2",
        "irdiff.toml: check.expect MY4",
        "override 2",
    ]
    screen = " ".join(gate_view(report).notes)
    assert "check.expect MY2: it selects no kernel that is compared" in screen
    assert not judgement(report).unsure
