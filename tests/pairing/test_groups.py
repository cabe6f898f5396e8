"""Kernels that changed alike are told as one group, the worst and slowest first, and 1,000 of them fit a screen."""

from __future__ import annotations

import random

import msgspec
import pytest

from irdiff.api import Artifact, Context, Coverage, Fact, Scope, Summary
from irdiff.engine.times import timed
from irdiff.engine.trips import with_trips
from irdiff.model.codec import decode_report, encode
from irdiff.model.report import Change, Report
from irdiff.present.groups import groups, signature
from irdiff.present.ranking import ranked
from irdiff.present.terminal import render
from irdiff.present.view import view
from toy_stages import bundle, compare, registry, stage

LONG = "triton_per_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_native_batch_norm_backward_threshold"


def changed(report: Report) -> list[list[str]]:
    found = groups([kernel for kernel in report.kernels if kernel.status == "changed"], report)
    return [[kernel.name for kernel in group] for group in found]


def tree(side: str, texts: dict[str, str]) -> list[object]:
    return [bundle(name, path=f"{side}/{name}", one="add x", two=text) for name, text in texts.items()]


def three_groups() -> Report:
    before = {"a": "add x", "b": "add x", "c": "spill x", "d": "add x", "e": "add x"}
    after = {"a": "spill x", "b": "spill x\nspill x", "c": "add x", "d": "add y", "e": "add x"}
    return compare(tree("b", before), tree("a", after))  # type: ignore[arg-type]


def test_one_signature_is_one_group_and_the_worst_comes_first() -> None:
    assert changed(three_groups()) == [["a", "b"], ["d"], ["c"]]


def test_a_group_says_by_how_much_its_fact_moved() -> None:
    report = three_groups()
    found = groups([kernel for kernel in report.kernels if kernel.status == "changed"], report)
    assert signature(found[0], report).startswith("two spills +1 to +2")
    assert signature(found[2], report).startswith("two spills 1 → 0")


@pytest.mark.parametrize("kinds", [1, 4, 30, 1000])
def test_a_thousand_kernels_fit_a_screen_however_many_ways_they_changed(kinds: int) -> None:
    made = registry(*(stage(f"s{n}", machine_code=n == 9) for n in range(10)))
    chance = random.Random(kinds)
    patterns = [
        [chance.choice(["add x", "spill x", "add x\nadd y"]) for _ in range(10)] for _ in range(kinds)
    ]
    before = [
        bundle(f"{LONG}_{n}", path=f"b/{n}", **{f"s{s}": "add x" for s in range(10)}) for n in range(1000)
    ]
    after = [
        bundle(f"{LONG}_{n}", path=f"a/{n}", **{f"s{s}": patterns[n % kinds][s] for s in range(10)})
        for n in range(1000)
    ]
    report = compare(before, after, made)
    lines = render(view(report)).splitlines()
    assert len(lines) < 50
    told = groups([kernel for kernel in report.kernels if kernel.status == "changed"], report)
    assert sum(map(len, told)) == sum(kernel.status == "changed" for kernel in report.kernels)
    if len(told) > 10:
        assert any("more group" in line and "--all" in line for line in lines)
        assert len(view(report, everything=True).blocks) == len(told)
    assert len(view(report, top=1).blocks) <= 2


def test_groups_are_ranked_by_the_time_they_take() -> None:
    spilling = {"a": ["two"], "b": ["one", "two"], "c": ["two"], "d": ["one", "two"], "e": []}
    same = {"one": "add x", "two": "add x"}
    before = [bundle(name, path=f"b/{name}", **same) for name in spilling]
    after = [
        bundle(name, path=f"a/{name}", **same | dict.fromkeys(stages, "spill x"))
        for name, stages in spilling.items()
    ]
    report = compare(before, after)
    assert changed(report) == [["a", "c"], ["b", "d"]]
    weighed = timed(report, {"b": 1.0, "d": 6.0, "a": 2.0, "elsewhere": 1.0}, "times.csv")
    assert changed(weighed) == [["d", "b"], ["a", "c"]]
    text = render(view(weighed))
    assert "2 kernels  d (and 1 more)   worse   70 % of the time" in text
    assert "2 kernels  a (and 1 more)   worse   20 % of the time" in text
    assert "no time of c, e" in text
    assert render(view(decode_report(encode(weighed), where="saved"))) == text


def test_times_change_neither_groups_nor_verdicts() -> None:
    report = three_groups()
    weighed = timed(report, {"b": 1.0, "a": 0.5}, "times.csv")
    assert sorted(map(sorted, changed(weighed))) == sorted(map(sorted, changed(report)))
    assert changed(weighed)[0] == ["b", "a"]
    assert weighed.verdict == report.verdict


def test_times_of_other_kernels_are_said_to_be_of_no_use() -> None:
    weighed = timed(three_groups(), {"elsewhere": 1.0}, "times.csv")
    assert [issue.code for issue in weighed.issues] == ["no-times"]


def test_a_renamed_kernel_has_the_time_of_either_name() -> None:
    report = three_groups()
    kernels = (msgspec.structs.replace(report.kernels[0], name_after="new"), *report.kernels[1:])
    weighed = timed(msgspec.structs.replace(report, kernels=kernels), {"new": 3.0, "b": 1.0}, "times.csv")
    assert changed(weighed)[0] == ["a", "b"]


def _looping(artifact: Artifact, context: Context) -> Summary:
    """``spill`` and a loop on each line: ``loop0 8``; ``loop0/loop1 ?`` is a loop of unknown trips."""
    facts, scopes = [Fact(id="one.spills", value=0)], []
    for line in artifact.read().decode().splitlines():
        name, trips, spills = line.split()
        scopes.append(Scope(id=name, trip_count=int(trips) if trips.isdigit() else None))
        facts.append(Fact(id="one.spills", scope=name, value=int(spills)))
    return Summary(facts=tuple(facts), scopes=tuple(scopes), coverage=Coverage(understood=1, total=1))


def test_a_change_in_a_loop_counts_as_often_as_the_loop_runs() -> None:
    made = msgspec.structs.replace(stage("one"), summarize=_looping)
    before = "loop0 8 1\nloop0/loop1 100 1\nloop2 ? 1\nloop2/loop3 5 1"
    after = "loop0 8 2\nloop0/loop1 100 2\nloop2 ? 2\nloop2/loop3 5 2"
    report = compare([bundle(one=before)], [bundle(one=after)], registry(made))
    changes = report.kernels[0].changes
    trips = {change.scope.partition("/")[2]: change.trips for change in changes}
    assert trips == {
        "loop0": 8,
        "loop0/loop1": 800,
        "loop2": msgspec.UNSET,
        "loop2/loop3": msgspec.UNSET,
    }
    places = [change.scope.partition("/")[2] for change in ranked(changes, report)]
    assert places[:2] == ["loop0/loop1", "loop0"]


def test_the_longer_run_of_two_counts() -> None:
    change = Change(fact="one.spills", scope="k/loop0", before=1, after=2, delta=1, effect="worse")
    (found,) = with_trips([change], "k", [Scope(id="loop0", trip_count=4)], [Scope(id="loop0", trip_count=9)])
    assert found.trips == 9
