"""Every registered rule: its documentation, its examples, and that a policy can name it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from irdiff.api import Judgement, RuleExample, RuleSpec
from irdiff.engine.gate.examples import judge_example
from irdiff.plugins import load_plugins

REGISTRY = load_plugins(external=False)
RULES = [pytest.param(rule, id=rule.code) for rule in REGISTRY.rules]
LEVELS = {
    "error": "RES101 RES103 RES105 MMA101 MMA102 MEM101 PIPE101 LAY101 BUILD101 BUILD102",
    "warn": "RES102 RES104 RES106 MMA103 MEM102 PIPE102 PIPE103 LAY102 LAY103 BAR101 NUM101 SIZE101 BUILD103 OPT101",
}


def examples() -> Iterator[object]:
    for rule in REGISTRY.rules:
        for number, example in enumerate(rule.examples):
            name = f"{rule.code}-{'fires' if example.fires else 'quiet'}-{number}"
            yield pytest.param(rule, example, id=name)


EXAMPLES = list(examples())


def judgement_of(example: RuleExample) -> Judgement:
    judged = judge_example(example, REGISTRY).judgement
    assert isinstance(judged, Judgement)
    return judged


def test_every_rule_of_the_design_is_there_with_its_level() -> None:
    for level, codes in LEVELS.items():
        assert {rule.code for rule in REGISTRY.rules if rule.level == level} == set(codes.split())
    assert {rule.level for rule in REGISTRY.rules} == set(LEVELS)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_says_when_it_fires_why_that_matters_and_what_to_do(rule: RuleSpec) -> None:
    for text in (rule.doc, rule.why, rule.advice):
        assert len(text) > 30
        assert text.endswith((".", "`.", ")."))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_has_an_example_that_fires_and_one_that_does_not(rule: RuleSpec) -> None:
    assert {example.fires for example in rule.examples} == {True, False}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_judges_roles_that_some_fact_has(rule: RuleSpec) -> None:
    roles = {spec.role for spec in REGISTRY.facts.values()}
    assert {rule.role, *rule.also} - {""} <= roles


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_an_example_fires_or_stays_quiet_as_it_says(rule: RuleSpec, example: RuleExample) -> None:
    judged = judgement_of(example)
    told = {finding.rule for finding in judged.findings} | {
        code for each in judged.unjudged if each.code == "unreadable" for code in each.rules
    }
    assert (rule.code in told) == example.fires
    if rule.role:  # an example without a fact of the role would be quiet whatever the rule does
        facts = {name.partition(" ")[0] for name in (*example.before, *example.after)}
        assert {REGISTRY.facts[fact].role for fact in facts} & {rule.role, *rule.also}


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_an_example_fails_at_its_level_alone(rule: RuleSpec, example: RuleExample) -> None:
    judged = judgement_of(example)
    if example.fires and rule.level == "error" and not rule.uncertain:
        assert judged.failed
    expected = (rule.uncertain and example.fires) or example.gone or example.failed[1]
    assert judged.unsure == expected
