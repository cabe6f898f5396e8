"""A baseline in the place of what was compiled before: the same verdict, and nothing claimed that it cannot know."""

from __future__ import annotations

import json
from datetime import date

import msgspec
import pytest

import corpus
import toy_stages as toy
from irdiff.api import FactSpec, RuleSpec
from irdiff.baseline.read import parse_baseline
from irdiff.baseline.record import recorded
from irdiff.baseline.side import kernels_of, read_side
from irdiff.baseline.write import baseline_text
from irdiff.cli.session import session
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.gate.judge import Gate
from irdiff.engine.hunks import with_hunks
from irdiff.engine.summarize import Reader
from irdiff.errors import InputError
from irdiff.model.policy import Policy
from irdiff.registry import PluginInfo

TODAY = date(2030, 1, 1)
RULES = (
    RuleSpec(code="TOY101", title="spills grow", level="error", role="spills", fires=lambda change: True),
)


def _text(kernels, registry):
    provenance = frozenset(name for name, spec in registry.facts.items() if spec.provenance)
    return baseline_text(recorded(kernels, registry), provenance)


def _against(before, after, writing=None, reading=None, **options):
    """The report of a baseline of toy bundles, written under one registry and read under another one."""
    writing = writing or toy.registry(rules=RULES)
    reading = reading or writing
    text = _text(Reader(writing, toy.NoTools(), canonical=True).read(before), writing)
    reader = Reader(reading, toy.NoTools(), canonical=True, **options)
    switched_off = options.get("switched_off", frozenset())
    kernels, issues = kernels_of(
        parse_baseline(text, where="k.baseline"), reading, where="k.baseline", switched_off=switched_off
    )
    after = tuple(reader.read(after))
    report = Comparer(reading, reader).compare(
        Side(described="k.baseline", kernels=kernels, issues=issues), Side(described="after", kernels=after)
    )
    return report, kernels, after, reader


def _changed(report):
    return [(change.fact, change.before, change.after, change.effect) for change in report.changes]


def test_against_its_own_baseline_a_kernel_is_equivalent():
    bundles = [toy.bundle(one="add x\nadd y", two="spill a"), toy.bundle("other", one="", two="add z")]
    report, *_ = _against(bundles, bundles)
    assert report.verdict == "equivalent"
    assert not report.changes
    assert not report.issues
    assert [kernel.path_before for kernel in report.kernels] != [
        kernel.path_after for kernel in report.kernels
    ]


def test_a_fact_that_moved_is_told_with_both_values():
    report, *_ = _against(
        [toy.bundle(one="add x", two="")], [toy.bundle(one="add x", two="spill a\nspill b")]
    )
    assert ("two.spills", 0, 2, "worse") in _changed(report)
    assert report.kernels[0].stages["one"].sameness == "equivalent"
    assert report.kernels[0].stages["two"].sameness == "changed"
    assert report.kernels[0].first_divergence.stage == "two"


def test_code_that_moved_without_a_fact_is_unexplained_and_no_number_of_lines_is_made_up():
    report, *_ = _against([toy.bundle(one="add x", two="")], [toy.bundle(one="add y", two="")])
    (change,) = report.changes
    assert (change.fact, change.effect, change.delta) == ("one.unexplained", "unexplained", None)


def test_a_comment_changes_nothing():
    report, *_ = _against([toy.bundle(one="add x", two="")], [toy.bundle(one="# why\nadd x", two="")])
    assert report.verdict == "equivalent"


def test_a_fact_that_is_not_recorded_is_no_change():
    """``one.adds`` has neither direction nor role."""
    report, kernels, *_ = _against(
        [toy.bundle(one="add x", two="")], [toy.bundle(one="add x\nadd x", two="")]
    )
    assert "one.adds" not in {fact.id for fact in kernels[0].facts()}
    assert [fact for fact, *_ in _changed(report)] == ["one.unexplained"]


def test_lines_are_not_in_a_baseline_and_asking_for_them_says_so():
    report, before, after, reader = _against(
        [toy.bundle(one="add x", two="")], [toy.bundle(one="add y", two="")]
    )
    shown = with_hunks(report, before, after, reader, "one")
    assert "a baseline records no lines" in shown.kernels[0].hunks.missing


def test_a_stage_that_is_gone_or_new_is_missing_as_between_two_trees():
    report, *_ = _against([toy.bundle(one="add x", two="")], [toy.bundle(one="add x")])
    assert report.kernels[0].stages["two"].sameness == "missing"
    assert report.verdict == "incomplete"


def test_a_kernel_that_was_damaged_when_the_baseline_was_written_never_passes():
    report, *_ = _against([toy.bundle(one="BROKEN", two="add x")], [toy.bundle(one="add x", two="add x")])
    assert report.verdict == "incomplete"
    assert any("when the baseline was written" in issue.message for issue in report.kernels[0].issues)


def _version(version):
    info = PluginInfo(name="toy", distribution="toy", version=version, bundled=True, status="loaded")
    return toy.registry(rules=RULES, owners={"one": info, "two": info})


def test_another_version_of_a_plugin_is_no_false_alarm_and_no_silent_pass():
    """The form may be spelled otherwise there: recorded facts decide, and the report says so."""
    same = [toy.bundle(one="add x", two="")]
    report, *_ = _against(same, [toy.bundle(one="add y", two="")], _version("1"), _version("2"))
    assert report.verdict == "equivalent"
    assert [issue.code for issue in report.issues] == ["baseline-of-another-version"]
    assert "written by toy 1, read by toy 2" in report.issues[0].message
    report, *_ = _against(same, [toy.bundle(one="spill y", two="")], _version("1"), _version("2"))
    assert ("one.spills", 0, 1, "worse") in _changed(report)
    assert all(change.effect != "unexplained" for change in report.changes)


def test_forms_made_with_other_normalisations_are_not_compared():
    one = [toy.bundle(one="# a\nadd x", two="")]
    report, *_ = _against(one, one, switched_off=frozenset({"comments"}))
    assert report.verdict == "equivalent"


def _summarize_only(stage, facts):
    """The stage's own summary with the facts that are declared alone."""
    declared = {fact.id for fact in facts}

    def summarize(artifact, context):
        summary = stage.summarize(artifact, context)
        kept = tuple(fact for fact in summary.facts if fact.id in declared)
        return msgspec.structs.replace(summary, facts=kept)

    return summarize


def _without(fact_id, **changes):
    """The toy registry with a fact less, or with another declaration of it."""
    whole = toy.registry(rules=RULES)
    stages = []
    for stage in whole.stages:
        facts = tuple(
            msgspec.structs.replace(fact, **changes) if fact.id == fact_id else fact
            for fact in stage.facts
            if changes or fact.id != fact_id
        )
        stages.append(msgspec.structs.replace(stage, facts=facts, summarize=_summarize_only(stage, facts)))
    return toy.registry(*stages, rules=RULES)


@pytest.mark.parametrize("reading", [_without("two.spills"), _without("two.spills", kind="flag")])
def test_a_fact_of_a_rule_that_no_plugin_knows_any_more_could_not_be_judged(reading):
    same = [toy.bundle(one="add x", two="spill a")]
    report, *_ = _against(same, same, toy.registry(rules=RULES), reading)
    (issue,) = (issue for issue in report.issues if issue.code == "baseline-fact-unknown")
    assert issue.severity == "error"
    assert "two.spills" in issue.message
    assert "write the baseline again" in issue.hint
    assert report.verdict == "incomplete"


def test_a_fact_that_no_rule_judges_is_a_warning_where_it_is_gone():
    directed = FactSpec(id="two.adds", title="additions", kind="count", better="lower")
    stage = toy.stage("two", machine_code=True)
    writing = toy.registry(
        toy.stage("one"), msgspec.structs.replace(stage, facts=(directed, stage.facts[1])), rules=RULES
    )
    same = [toy.bundle(one="add x", two="add a")]
    report, *_ = _against(same, same, writing, _without("two.adds"))
    assert [(issue.code, issue.severity) for issue in report.issues] == [("baseline-fact-unknown", "warning")]
    assert report.verdict == "equivalent"


def test_a_fact_that_rules_judge_only_now_is_told():
    same = [toy.bundle(one="add x", two="")]
    report, *_ = _against(
        same, same, _without("two.spills", role=None, better="neutral"), toy.registry(rules=RULES)
    )
    assert [issue.code for issue in report.issues] == []  # the other stage has a fact of that role
    bare = toy.registry(
        *(
            msgspec.structs.replace(toy.stage(name), facts=toy.stage(name).facts[:1])
            for name in ("one", "two")
        )
    )
    report, *_ = _against(same, same, bare, toy.registry(rules=RULES))
    assert [issue.code for issue in report.issues] == ["baseline-lacks-fact"]


def test_specializations_of_one_name_are_paired_each_with_its_own():
    kernels = [toy.bundle(one=f"add {n}", two="spill a\n" * n) for n in range(1, 4)]
    report, *_ = _against(kernels, list(reversed(kernels)))
    assert report.verdict == "equivalent"
    assert len(report.kernels) == 3


def test_a_file_that_is_not_there_or_holds_no_kernel_is_an_error_that_says_what_to_do(tmp_path):
    file = tmp_path / "k.baseline"
    with pytest.raises(InputError, match="cannot be read") as error:
        read_side(file, toy.registry())
    assert "irdiff baseline write" in error.value.hint
    file.write_bytes(_text([], toy.registry()))
    with pytest.raises(InputError, match="holds no kernel"):
        read_side(file, toy.registry())


CASES = ["pairs/spills", "pairs/moved", "pairs/mma_fallback", "fp-fusion-off", "unused-arg-splits-cache"]
"""Of each kind one: resources, the same code elsewhere, tensor instructions, arithmetic, arguments."""


@pytest.mark.parametrize("case", CASES)
def test_the_gate_finds_against_a_baseline_what_it_finds_against_the_artifacts(case):
    """The oracle is the comparison of both trees."""
    if case.startswith("pairs/"):
        before, after = (corpus.FIXTURES / case / side for side in ("before", "after"))
    else:
        before, after = corpus.case(case)
    with session(external=False) as run:
        bundles = [run.load(str(side)).bundles for side in (before, after)]
        reader = run.reader(canonical=True)
        read = [tuple(reader.read(side)) for side in bundles]
        text = _text(read[0], run.registry)
        kept, issues = kernels_of(parse_baseline(text, where="k"), run.registry, where="k")
        found = []
        for first in (Side(described="x", kernels=read[0]), Side(described="x", kernels=kept, issues=issues)):
            gate = Gate(run.registry, Policy())
            compared = Comparer(run.registry, reader, each=gate.each).compare(
                first, Side(described="y", kernels=read[1])
            )
            found.append(gate.judged(compared, today=TODAY))
    assert not issues
    findings = [
        [
            (each.rule, each.level, each.fact, each.scope, each.message, each.source)
            for each in one.judgement.findings
        ]
        for one in found
    ]
    assert findings[0] == findings[1]
    assert found[0].judgement.failed == found[1].judgement.failed
    assert found[0].judgement.unsure == found[1].judgement.unsure
    begins = [
        [
            (
                each.status,
                each.direction,
                each.first_divergence and (each.first_divergence.stage, each.first_divergence.cause),
            )
            for each in one.kernels
        ]
        for one in found
    ]
    same = {"identical": "equivalent"}
    assert [(same.get(s, s), d, f) for s, d, f in begins[0]] == begins[1]


def test_two_specializations_that_differ_in_one_argument_keep_their_places_when_the_code_changes():
    """Blocks are sorted by what tells them apart, so that a diff shows the facts that moved and no moved blocks."""
    manifest = json.loads((corpus.BUNDLES / "triton-3.6.0" / "sm_90" / "manifest.json").read_text())
    entries = manifest["entries"] if isinstance(manifest, dict) else manifest
    folder = corpus.BUNDLES / "triton-3.6.0" / "sm_90"
    paths = [folder / item["folder"] for item in entries if item["kernel"] == "vector_add_kernel"]
    with session(external=False) as run:
        bundles = [bundle for path in paths for bundle in run.load(str(path)).bundles]
        kernels = run.reader(canonical=True).read(bundles)
        text = _text(kernels, run.registry)
        assert _text(list(reversed(kernels)), run.registry) == text
