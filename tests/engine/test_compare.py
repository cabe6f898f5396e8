"""What a comparison says of kernels: sameness, reasons, first divergence, verdicts, pairing."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.api import (
    Artifact,
    Context,
    Coverage,
    Explanation,
    Fact,
    FactSpec,
    StageSpec,
    Summary,
)
from irdiff.engine.sequences import hunks
from irdiff.model.codec import decode_report, encode
from irdiff.registry import PluginProblem
from toy_stages import bundle, compare, registry, stage


def test_equal_code_with_other_comments_is_equivalent_and_says_why() -> None:
    report = compare([bundle(one="# a\nadd x", two="add y")], [bundle(one="# b\nadd x", two="add y")])
    assert report.verdict == "equivalent"
    assert report.kernels[0].stages["one"].reasons == ("comments",)
    assert report.kernels[0].machine_code == "identical"


def test_a_switched_off_normalisation_makes_its_difference_count() -> None:
    sides = [bundle(one="# a", two="add y")], [bundle(one="# b", two="add y")]
    assert compare(*sides).verdict == "equivalent"
    assert compare(*sides, switched_off=frozenset({"comments"})).verdict == "changed"


def _prints() -> StageSpec:
    """A stage whose only fact is a fingerprint: the lines that are no comment."""
    made = stage("one", machine_code=True)
    spec = FactSpec(id="one.print", title="what executes", kind="token", role="fingerprint")

    def summarize(artifact: Artifact, context: Context) -> Summary:
        text = artifact.read().decode()
        kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        return Summary(facts=(Fact(id="one.print", value=kept),), coverage=Coverage(understood=1, total=1))

    return msgspec.structs.replace(made, facts=(spec,), summarize=summarize)


def test_a_switched_off_normalisation_counts_though_fingerprints_leave_it_out() -> None:
    sides = [bundle(one="# a\nadd x")], [bundle(one="# b\nadd x")]
    assert compare(*sides, registry(_prints())).verdict == "equivalent"
    off = compare(*sides, registry(_prints()), switched_off=frozenset({"comments"}))
    assert off.verdict == "changed"


def test_code_that_reads_alike_and_has_other_bits_is_changed() -> None:
    def summarize(artifact: Artifact, context: Context) -> Summary:
        return Summary(
            facts=(Fact(id="one.print", value=artifact.read().hex()),),
            coverage=Coverage(understood=1, total=1),
        )

    made = msgspec.structs.replace(_prints(), summarize=summarize)
    report = compare([bundle(one="add x")], [bundle(one="add x\n")], registry(made))
    (kernel,) = report.kernels
    assert (kernel.status, kernel.machine_code) == ("changed", "changed")
    assert "one.unexplained" in {change.fact for change in kernel.changes}


def test_files_of_different_stages_are_said_to_share_nothing() -> None:
    report = compare([bundle(one="add x", layout="file")], [bundle(two="add x", layout="file")])
    (issue,) = report.kernels[0].issues
    assert (report.verdict, issue.code) == ("incomplete", "no-common-stage")
    assert "before is ONE, after is TWO" in issue.message


def test_an_option_that_a_stage_folds_is_not_the_cause() -> None:
    made = stage("zero")
    spec = FactSpec(id="zero.options", title="options", kind="record", role="options")

    def summarize(artifact: Artifact, context: Context) -> Summary:
        text = artifact.read().decode()
        return Summary(
            facts=(Fact(id="zero.options", value={"warps": text}),), coverage=Coverage(understood=1, total=1)
        )

    made = msgspec.structs.replace(made, facts=(spec,), summarize=summarize, pipeline=False)
    using = registry(made, stage("one", after=("zero",)))
    causes = []
    for after in ("# 8", "8"):  # a comment is folded, anything else is not
        report = compare([bundle(zero="# 4", one="add x")], [bundle(zero=after, one="add y")], using)
        begins = report.kernels[0].first_divergence
        assert begins is not None
        causes.append(begins.cause)
    assert causes == ["the one passes", "option warps: # 4 -> 8"]


def test_the_first_stage_that_differs_is_named_with_the_part_that_writes_it() -> None:
    report = compare([bundle(one="add x", two="add x")], [bundle(one="add x", two="spill x")])
    begins = report.kernels[0].first_divergence
    assert begins is not None
    assert (begins.stage, begins.fact_stage, begins.cause) == ("two", "two", "the two passes")


def test_a_rule_is_named_on_the_change_it_fires_on() -> None:
    report = compare([bundle(one="add x", two="add x")], [bundle(one="add x", two="spill x")])
    change = next(change for change in report.kernels[0].changes if change.fact == "two.spills")
    assert (change.before, change.after, change.delta, change.effect, change.rules) == (
        0,
        1,
        1,
        "worse",
        ("RES101",),
    )
    assert report.direction == "worse"


def test_better_and_worse_together_are_mixed() -> None:
    report = compare([bundle(one="spill x", two="add x")], [bundle(one="add x", two="spill x")])
    assert report.direction == "mixed"


def test_an_unexplained_change_names_the_lines_that_differ() -> None:
    report = compare([bundle(one="add x\nadd y", two="")], [bundle(one="add x\nadd z", two="")])
    (change,) = report.kernels[0].changes
    assert (change.fact, change.effect) == ("one.unexplained", "unexplained")
    assert (change.evidence_before, change.evidence_after) == ((2,), (2,))


def test_a_changed_stage_beside_an_unreadable_one_is_changed_and_keeps_the_error() -> None:
    report = compare([bundle(one="BROKEN", two="add x")], [bundle(one="add x", two="spill x")])
    assert report.verdict == "changed"
    assert [issue.code for issue in report.kernels[0].issues] == ["unreadable"]


def test_a_plugins_exception_names_the_stage_and_stops_nothing_else() -> None:
    report = compare([bundle(one="BUG", two="add x")], [bundle(one="add x", two="add x")])
    (issue,) = report.kernels[0].issues
    assert "ZeroDivisionError" in issue.message
    assert report.kernels[0].stages["two"].sameness == "identical"


def test_a_stage_without_a_plugin_is_compared_line_by_line() -> None:
    before, after = bundle(one="", two="", fork="a\nb"), bundle(one="", two="", fork="a\nc")
    report = compare([before], [after])
    assert report.kernels[0].stages["fork"].sameness == "changed"
    assert report.kernels[0].changes[0].fact == "fork.unexplained"


def test_a_dump_folder_is_not_blamed_for_what_it_never_holds() -> None:
    report = compare([bundle(one="add x", layout="dump")], [bundle(one="add x", layout="dump")])
    assert report.verdict == "identical"
    assert report.kernels[0].machine_code == "unknown"


def test_two_sides_without_a_pair_are_incomplete_not_equal() -> None:
    report = compare([bundle("a", one=""), bundle("b", one="")], [bundle("c", one=""), bundle("d", one="")])
    assert report.verdict == "incomplete"
    assert [kernel.name for kernel in (*report.removed, *report.added)] == ["a", "b", "c", "d"]


def test_added_and_removed_kernels_are_listed_and_change_no_verdict() -> None:
    same = {"one": "add x", "two": "add x"}
    report = compare([bundle("a", **same), bundle("b", **same)], [bundle("a", **same), bundle("c", **same)])
    assert report.verdict == "identical"
    assert [kernel.name for kernel in report.removed] == ["b"]
    assert [kernel.name for kernel in report.added] == ["c"]


@given(
    st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7), st.randoms()
)
def test_every_kernel_is_in_one_pair_or_listed_and_the_order_of_files_does_not_matter(
    before: list[str], after: list[str], chance: random.Random
) -> None:
    old = [bundle(name, path=f"old{n}", one=f"add {n}", two="") for n, name in enumerate(before)]
    new = [bundle(name, path=f"new{n}", one=f"add {n}", two="") for n, name in enumerate(after)]
    report = compare(old, new)
    paths_before = [k.path_before for k in report.kernels] + [k.path for k in report.removed]
    paths_after = [k.path_after for k in report.kernels] + [k.path for k in report.added]
    assert sorted(paths_before) == sorted(item.path for item in old)
    assert sorted(paths_after) == sorted(item.path for item in new)
    assert encode(compare(chance.sample(old, len(old)), chance.sample(new, len(new)))) == encode(report)


def test_specializations_of_one_name_pair_with_their_like() -> None:
    old = [
        bundle("k", target="80", path="o80", one="a", two=""),
        bundle("k", target="90", path="o90", one="b", two=""),
    ]
    new = [
        bundle("k", target="90", path="n90", one="c", two=""),
        bundle("k", target="80", path="n80", one="d", two=""),
    ]
    pairs = {(k.path_before, k.path_after) for k in compare(old, new).kernels}
    assert pairs == {("o80", "n80"), ("o90", "n90")}


def test_a_change_of_target_is_the_cause_and_makes_arch_bound_facts_incomparable() -> None:
    made = stage("one")
    spec = msgspec.structs.replace(made.facts[1], comparable_when=("target.arch",))
    made = msgspec.structs.replace(made, facts=(made.facts[0], spec))
    report = compare([bundle(one="add x")], [bundle(target="100", one="spill x")], registry(made))
    (kernel,) = report.kernels
    assert kernel.first_divergence is not None
    assert kernel.first_divergence.cause == "target cuda:90 -> cuda:100"
    assert next(c for c in kernel.changes if c.fact == "one.spills").effect == "incomparable"


def test_a_plugin_may_explain_and_its_failure_is_reported() -> None:
    problem = PluginProblem(
        plugin="bad", distribution="bad-dist", version="1", reason="irdiff_explain raised"
    )
    using = registry(
        explainers=(lambda kernel: Explanation(cause="a known bug", priority=5), lambda kernel: problem)
    )
    (kernel,) = compare([bundle(one="add x", two="")], [bundle(one="spill x", two="")], using).kernels
    assert kernel.first_divergence is not None
    assert kernel.first_divergence.cause == "a known bug"
    assert any("bad-dist" in issue.message for issue in kernel.issues)


def test_a_saved_report_is_the_same_bytes_after_loading() -> None:
    report = compare([bundle(one="add x", two="")], [bundle(one="spill x", two="")])
    data = encode(report)
    assert encode(decode_report(data, where="report.json")) == data


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"schema": 1}', b"\xff", b"[" * 5000])
def test_a_file_that_is_no_report_is_refused_with_its_name(data: bytes) -> None:
    from irdiff.errors import InputError

    with pytest.raises(InputError, match=r"report\.json"):
        decode_report(data, where="report.json")


LINES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=20)


@given(LINES, LINES)
def test_hunks_are_exactly_what_turns_one_sequence_into_the_other(
    before: list[str], after: list[str]
) -> None:
    made: list[str] = []
    place = 0
    for hunk in hunks(before, after):
        assert hunk.before[0] >= place
        made += before[place : hunk.before[0]]
        assert len(made) == hunk.after[0]
        made += after[hunk.after[0] : hunk.after[1]]
        place = hunk.before[1]
    assert made + before[place:] == after
    assert (hunks(before, after) == ()) == (before == after)


def test_a_side_that_was_not_read_to_its_end_gives_no_direction() -> None:
    from irdiff.api import Issue

    made = stage("one")

    def cut(artifact: object, context: object) -> object:
        summary = made.summarize(artifact, context)  # type: ignore[arg-type]
        if b"CUT" not in artifact.read():  # type: ignore[attr-defined]
            return summary
        return msgspec.structs.replace(
            summary, issues=(Issue(severity="error", code="truncated", message="cut"),)
        )

    using = registry(msgspec.structs.replace(made, summarize=cut, minimum_coverage=0.0))
    report = compare([bundle(one="spill x\nspill y")], [bundle(one="spill x\nCUT")], using)
    assert report.direction == "neutral"
    assert {change.effect for change in report.kernels[0].changes} == {"incomparable"}


def test_a_file_that_cannot_be_read_is_reported_once() -> None:
    from irdiff.api import Artifact, Issue

    def fail() -> bytes:
        raise PermissionError(13, "Permission denied")

    lost = Artifact(stage="one", suffix=".one", location="entry/kernel.one", read=fail)
    said = Issue(severity="error", code="unreadable-file", message="cannot be read", where="entry/kernel.one")
    made = msgspec.structs.replace(bundle(two=""), artifacts={"one": lost}, issues=(said,))
    (kernel,) = compare([made], [made]).kernels
    assert [issue.code for issue in kernel.issues if issue.where == "entry/kernel.one"] == ["unreadable-file"]
