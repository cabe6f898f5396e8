"""Facts declared by a pattern: counted as any fact is, on the canonical form, with evidence and by loop."""

from __future__ import annotations

import re
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
import toy_stages
from irdiff.api import (
    Artifact,
    Canonical,
    Context,
    Coverage,
    Fact,
    ParseError,
    PatternFact,
    Scope,
    StageSpec,
    Summary,
    with_pattern_facts,
)
from irdiff.model import patterns
from irdiff.model.pattern_cost import LONGEST_LINE, PatternError, checked
from irdiff.testing import NoTools, StageContract
from plugins.test_stage_contract import SAMPLE, TOY
from ptx.ptx_samples import STAGE as PTX

ADDS = PatternFact(id="toy.adds", title="additions", pattern=r"add ", better="lower")
WORDS = PatternFact(id="toy.words", title="instructions", pattern=r"(?P<key>add|sub) \d+")


class TestToyWithPatterns(StageContract):
    stage = with_pattern_facts(TOY, (ADDS, WORDS))
    samples = (SAMPLE, b"LIST\nadd 1\n")


class TestPtxWithPatterns(StageContract):
    stage = with_pattern_facts(
        PTX,
        (PatternFact(id="ptx.my_loads", title="loads", pattern=r"(?:@!?%\w+ )?ld\.global\.(?P<key>\w+)"),),
    )
    samples = tuple(corpus.entry("3.6.0", "sm_90", "locked_sum_kernel").glob("*.ptx"))


def read(stage: StageSpec, data: bytes, *switched_off: str) -> Summary:
    artifact = Artifact.of_bytes(data, stage=stage.id, suffix=stage.suffixes[0])
    return stage.summarize(artifact, Context(tools=NoTools(), switched_off=frozenset(switched_off)))


def facts(stage: StageSpec, data: bytes = SAMPLE, scope: str = "") -> dict[str, Any]:
    return {fact.id: fact.value for fact in read(stage, data).facts if fact.scope == scope}


def counting(*pairs: tuple[str, str]) -> StageSpec:
    made = [PatternFact(id=f"toy.{name}", title=name, pattern=pattern) for name, pattern in pairs]
    return with_pattern_facts(TOY, made)


def test_lines_are_counted_with_their_places_whole_and_in_each_loop() -> None:
    stage = with_pattern_facts(TOY, (ADDS, WORDS))
    summary = read(stage, SAMPLE)
    found = {(fact.id, fact.scope): fact for fact in summary.facts if fact.id in ("toy.adds", "toy.words")}
    assert found["toy.adds", ""] == Fact(id="toy.adds", value=2, evidence={"": (3, 5)})
    assert found["toy.adds", "loop0"] == Fact(id="toy.adds", value=1, scope="loop0", evidence={"": (5,)})
    assert found["toy.words", ""].value == {"add": 2, "sub": 1}
    assert found["toy.words", ""].evidence == {"add": (3, 5), "sub": (6,)}
    assert found["toy.words", "loop0"].value == {"add": 1, "sub": 1}


def test_a_pattern_is_matched_at_the_beginning_of_a_line_alone() -> None:
    data = b"LIST\nadd 1\n   add 2\nsub add 3\n"
    assert facts(counting(("adds", "add"), ("explicit", "^add")), data)["toy.adds"] == 2
    assert facts(counting(("explicit", "^add")), data)["toy.explicit"] == 2


def test_what_a_normalisation_takes_away_is_not_counted() -> None:
    stage = counting(("notes", "# "))
    assert facts(stage)["toy.notes"] == 0
    off = {fact.id: fact.value for fact in read(stage, SAMPLE, "comments").facts if not fact.scope}
    assert off["toy.notes"] == 1


def test_the_declared_meaning_says_what_is_counted() -> None:
    (*_, adds, words) = with_pattern_facts(TOY, (ADDS, msgspec.structs.replace(WORDS, doc="Ours."))).facts
    assert (adds.kind, adds.unit, adds.better, adds.place, adds.exactness) == (
        "count",
        "lines",
        "lower",
        "line",
        "exact",
    )
    assert adds.doc == "Canonical lines that match `add ` from their beginning."
    assert (words.kind, words.doc) == (
        "tally",
        r"Ours. Canonical lines that match `(?P<key>add|sub) \d+` from their beginning, by the group `key`.",
    )


def test_a_stage_without_pattern_facts_is_the_stage_itself() -> None:
    assert with_pattern_facts(TOY, ()) is TOY


def test_the_canonical_form_is_made_once_for_a_content() -> None:
    calls = []

    def canonical(artifact: Artifact, context: Context) -> Canonical:
        calls.append(1)
        return TOY.canonical(artifact, context)

    stage = with_pattern_facts(msgspec.structs.replace(TOY, canonical=canonical), (ADDS,))
    artifact, context = Artifact.of_bytes(SAMPLE), Context(tools=NoTools())
    stage.summarize(artifact, context)
    stage.canonical(artifact, context)
    assert len(calls) == 1


def test_where_the_tool_is_missing_a_count_is_unknown_and_not_zero() -> None:
    def degraded(artifact: Artifact, context: Context) -> Summary:
        return Summary(degraded="no disassembler")

    stage = with_pattern_facts(msgspec.structs.replace(TOY, summarize=degraded), (ADDS,))
    assert read(stage, SAMPLE).facts == ()


def test_where_there_is_no_canonical_form_it_is_told() -> None:
    def broken(artifact: Artifact, context: Context) -> Canonical:
        raise ParseError("cut off", line=3)

    stage = with_pattern_facts(msgspec.structs.replace(TOY, canonical=broken), (ADDS, WORDS))
    summary = read(stage, SAMPLE)
    (issue,) = summary.issues
    assert (issue.severity, issue.code) == ("warning", "fact-not-counted")
    assert issue.message == "toy.adds, toy.words could not be counted: there is no canonical form: cut off"
    assert not {"toy.adds", "toy.words"} & {fact.id for fact in summary.facts}


def test_when_the_time_is_up_the_rest_is_unknown_and_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.1, *[100.0] * 9])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    stage = with_pattern_facts(TOY, (ADDS, WORDS))
    summary = read(stage, SAMPLE)
    assert [fact.id for fact in summary.facts if fact.id.startswith(("toy.a", "toy.w"))] == ["toy.adds"] * 2
    assert (
        summary.issues[-1].message
        == f"toy.words could not be counted: matching took longer than {patterns.SECONDS:g} s"
    )


def test_a_stage_without_places_is_counted_as_a_whole() -> None:
    def unplaced(artifact: Artifact, context: Context) -> Canonical:
        return Canonical.of(["add 1", "add 2"])

    def looped(artifact: Artifact, context: Context) -> Summary:
        return Summary(scopes=(Scope(id="loop0", first=1, last=9),), coverage=Coverage(understood=0, total=0))

    stage = with_pattern_facts(msgspec.structs.replace(TOY, canonical=unplaced, summarize=looped), (ADDS,))
    assert read(stage, SAMPLE).facts == (Fact(id="toy.adds", value=2),)


def test_it_is_compared_and_judged_like_any_fact() -> None:
    adds = PatternFact(
        id="one.prefetches", title="prefetches", pattern="prefetch", better="lower", role="spills"
    )
    using = toy_stages.registry(with_pattern_facts(toy_stages.stage("one"), (adds,)), toy_stages.stage("two"))
    before, after = toy_stages.bundle(one="add 1"), toy_stages.bundle(one="add 1\nprefetch x\nprefetch y")
    report = toy_stages.compare([before], [after], using)
    (change,) = [each for each in report.kernels[0].changes if each.fact == "one.prefetches"]
    assert (change.before, change.after, change.effect) == (0, 2, "worse")
    assert using.rules[0].fires(change)


REFUSED = {
    "(": "is no regular expression: missing ), unterminated subpattern at position 0",
    "a*": "matches an empty line, so it matches every line",
    "": "matches an empty line",
    ".*ld": "begins with anything",
    ".+": "begins with anything",
    "^.*?x": "begins with anything",
    "(.*)x": "begins with anything",
    "[^x]+y": "begins with anything",
    "(a+)+b": "a repetition holds another one",
    "(a|aa)+b": "a repetition holds another one",
    "(?:a?){20}b": "a repetition holds another one",
    "x(?:a{1,9})*b": "a repetition holds another one",
    "x" + ".*y" * 5: "in too many ways",
    "x" + "a?" * 40: "in too many ways",
    r"x(\w)\1": "uses groupref",
    "(?P<word>ld)": "the only named group is key, not word",
    "x" * 501: "longer than 500 characters",
    "x{9999999999999999999}": "is no regular expression",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_pattern_that_cannot_be_is_refused_with_a_reason(pattern: str) -> None:
    with pytest.raises(PatternError, match=re.escape(REFUSED[pattern])):
        checked(pattern)
    with pytest.raises(ValueError, match=re.escape(REFUSED[pattern])):
        counting(("x", pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        r"prefetch\.",
        r"^(?:@!?%p\d+ )?ld\.global(?:\.\w+)?\.(?P<key>v[24])",
        r"%\S+ = tt\.load\b",
        r"(?P<key>wgmma|mma)\.\w+",
        r"%\w+ = tt\.(?P<key>\w+) .*evict_first",
        r"(?:ab){3}c{2,5}",
        r"(?i)LDG",
        r"x(?=y)(?!z)",
    ],
)
def test_patterns_as_people_write_them_are_taken(pattern: str) -> None:
    assert checked(pattern).pattern == pattern


@given(
    st.recursive(
        st.sampled_from(["a", "b", "[ab]", ".", r"\w", " "]),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "{0,9}", "{3}"])).map(
                lambda t: f"(?:{t[0]}){t[1]}"
            ),
            st.lists(inner, min_size=2, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        ),
        max_leaves=8,
    ),
    st.sampled_from(["a", "ab", "aab", "b"]),
)
def test_no_pattern_that_is_taken_takes_long_on_any_line(pattern: str, unit: str) -> None:
    """The worst lines are long repetitions that almost match."""
    try:
        compiled = checked(f"a{pattern}#")
    except PatternError:
        return
    line = ("a" + unit * LONGEST_LINE)[:LONGEST_LINE]
    started = time.process_time()
    compiled.match(line)
    assert time.process_time() - started < 10
