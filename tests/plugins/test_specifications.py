"""A specification that is not as the API says rejects its plugin, and the line names the field."""

from __future__ import annotations

import re

import pytest

from fake_site import Site, registers

WRONG = {
    'stage("Bad")': r"stage 'Bad' must be a lower-case name .*",
    'StageSpec(id=5, title="x", suffixes=(".5",), facts=(), summarize=bool, canonical=bool)': (
        r"stage 5 must be a lower-case name .*"
    ),
    'StageSpec(id="bad", title=" ", suffixes=(".bad",), facts=(), summarize=bool, canonical=bool)': (
        "stage bad: title must be text and not empty"
    ),
    'StageSpec(id="bad", title="x", suffixes=(), facts=(), summarize=bool, canonical=bool)': (
        "stage bad claims no suffix"
    ),
    'StageSpec(id="bad", title="x", suffixes=[".bad"], facts=(), summarize=bool, canonical=bool)': (
        "stage bad: suffixes must be a tuple, not list"
    ),
    'StageSpec(id="bad", title="x", suffixes=(".bad",), facts=(), summarize=None, canonical=bool)': (
        "stage bad: summarize cannot be called"
    ),
    'stage("bad", "bad")': "stage bad: suffix 'bad' must begin with a dot .*",
    'stage("bad", "..")': "stage bad: suffix '..' must begin with a dot .*",
    'stage("bad", ".a/b")': "stage bad: suffix '.a/b' must begin with a dot .*",
    'stage("bad", after=("bad",))': "stage bad comes after itself",
    'stage("bad", after="base")': "stage bad: after must be a tuple, not str",
    'stage("bad", needs=(1,))': "stage bad: needs must hold text",
    'stage("bad", prepare=1)': "stage bad: prepare cannot be called",
    'stage("bad", produced_by=None)': "stage bad: produced_by must be text",
    'stage("bad", reported_as="")': "stage bad: reported_as '' must be a lower-case name .*",
    'stage("bad", pipeline=None)': "stage bad: pipeline must be true or false",
    'stage("bad", minimum_coverage=1.5)': "stage bad: minimum_coverage must be between 0 and 1",
    'stage("bad", minimum_coverage=True)': "stage bad: minimum_coverage must be between 0 and 1",
    'stage("bad", normalizations=("x",))': "stage bad: normalizations holds str, not Normalization",
    'stage("bad", normalizations=(Normalization(id="A", title="x"),))': "stage bad: normalization 'A' must be a .*",
    'stage("bad", normalizations=(Normalization(id="a", title="x"), Normalization(id="a", title="y")))': (
        "stage bad: normalization a is declared twice"
    ),
    'stage("bad", facts=[])': "stage bad: facts must be a tuple, not list",
    'stage("bad", facts=("bad.x",))': "stage bad: facts holds str, not FactSpec",
    'stage("bad", facts=(fact("other.x"),))': "stage bad: fact other.x must begin with bad.",
    'stage("bad", facts=(fact("bad"),))': "stage bad: fact id 'bad' is not like stage.thing",
    'stage("bad", facts=(fact("bad.X"),))': "stage bad: fact id 'bad.X' is not like stage.thing",
    'stage("bad", facts=(fact("bad.x", kind=""),))': "fact bad.x: kind must be text and not empty",
    'stage("bad", facts=(fact("bad.x", better="less"),))': r"stage bad: fact 'bad.x': Invalid enum value 'less' .*",
    'stage("bad", facts=(fact("bad.x", unit=1),))': r"stage bad: fact 'bad.x': Expected `str`, got `int` .*",
    'stage("bad", facts=(fact("bad.x", role=""),))': "fact bad.x: role '' must be a lower-case name",
    'stage("bad", facts=(fact("bad.x", tolerance=1.0),))': "fact bad.x: tolerance must be at least 0 and below 1",
    'stage("bad", facts=(fact("bad.x", tolerance=float("nan")),))': (
        "fact bad.x: tolerance must be at least 0 and below 1"
    ),
    'stage("bad", facts=(fact("bad.x", comparable_when=("",)),))': "fact bad.x: comparable_when holds an empty name",
    'DerivedSpec(id="sum", facts=(fact("base.x"),), derive=list)': (
        r"derivation sum: fact base.x must begin with bad\. or sum\."
    ),
    'DerivedSpec(id="sum", facts=(), derive=0)': "derivation sum: derive cannot be called",
    'SourceSpec(id="tape", title="x", recognizes=0, load=list)': "source tape: recognizes cannot be called",
    'ToolSpec(id="dis", variable="", hint="x")': "tool dis: variable must be text and not empty",
    'ToolSpec(id="dis", variable="X", hint="x", packages=("a",))': "tool dis: packages must hold pairs of text",
    'ToolSpec(id="dis", variable="X", hint="x", version_pattern="(")': (
        "tool dis: version_pattern is not a regular expression: .*"
    ),
    'ToolSpec(id="dis", variable="X", hint="x", version_pattern="1")': (
        "tool dis: version_pattern must be a regular expression with 1 groups or more"
    ),
    'KindSpec(id="curve", accepts=bool, compare=None, to_text=str, sign=bool)': "kind curve: compare cannot be called",
    'RuleSpec(code="res1", title="x", level="warn", role="r", fires=bool)': "rule code 'res1' is not like RES101",
    'RuleSpec(code="RES1", title="x", level="fatal", role="r", fires=bool)': (
        "rule RES1: level 'fatal' is none of error, warn, off"
    ),
    'RuleSpec(code="RES1", title="x", level="off", role="", fires=bool)': (
        "rule RES1: without a role it needs a function that judges"
    ),
    'RuleSpec(code="RES1", title="x", level="off", role="Regs", fires=bool)': (
        "rule RES1: role 'Regs' must be a lower-case name \\(letters, digits, _ and -\\)"
    ),
    'RuleSpec(code="RES1", title="x", level="off", role="r", judge=3)': "rule RES1: judge cannot be called",
    'RuleSpec(code="RES1", title="x", level="off", role="r", why=3)': "rule RES1: why must be text",
    'RuleSpec(code="RES1", title="x", level="off", role="r", launch=1)': "rule RES1: launch must be true or false",
    'RuleSpec(code="RES1", title="x", level="off", role="r", examples=("a",))': (
        "rule RES1: examples holds str, not RuleExample"
    ),
    'RuleSpec(code="RES1", title="x", level="off", role="r", tolerance=Tolerance(percent=-1))': (
        "rule RES1: tolerance: .*"
    ),
    'RendererSpec(id="poem", title="x", render=None)': "renderer poem: render cannot be called",
}
HOOKS = {
    "StageSpec": "stages",
    "stage": "stages",
    "DerivedSpec": "derived_facts",
    "SourceSpec": "sources",
    "ToolSpec": "tools",
    "KindSpec": "value_kinds",
    "RuleSpec": "rules",
    "RendererSpec": "renderers",
}


@pytest.mark.parametrize("item", WRONG)
def test_a_specification_that_is_not_as_it_should_be_rejects_its_plugin(site: Site, item: str) -> None:
    site.install("irdiff-bad", "0.3", bad=registers(HOOKS[item.split("(", 1)[0]], item))
    registry = site.load()
    (problem,) = registry.problems
    assert re.fullmatch(WRONG[item], problem.reason), problem.reason
    assert [stage.id for stage in registry.stages] == ["base", "good"]
