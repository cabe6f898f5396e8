"""What a comparison reads: nothing of what is the same, each content once, and never less than matters."""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from irdiff.api import Artifact, Bundle, Context, Summary
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.kernels import Kernel
from irdiff.engine.summarize import Reader
from irdiff.model.codec import encode
from irdiff.model.report import KernelReport, Report
from irdiff.registry import Registry
from toy_stages import NoTools, bundle, registry, stage


def counting() -> tuple[Registry, Counter[tuple[str, str]]]:
    """The toy registry, and how often each artifact was summarized or brought into canonical form."""
    calls: Counter[tuple[str, str]] = Counter()
    made = []
    for spec in (stage("one"), stage("two", after=("one",), machine_code=True)):

        def summarize(artifact: Artifact, context: Context, inner=spec.summarize) -> Summary:
            calls["summarize", artifact.read().decode()] += 1
            return inner(artifact, context)

        def canonical(artifact: Artifact, context: Context, inner=spec.canonical):
            calls["canonical", artifact.read().decode()] += 1
            return inner(artifact, context)

        made.append(msgspec.structs.replace(spec, summarize=summarize, canonical=canonical))
    return registry(*made), calls


def compared(
    before: list[Bundle], after: list[Bundle], using: Registry, *, lazy: bool = True, each: object = None
) -> Report:
    reader = Reader(using, NoTools(), canonical=True)
    sides = reader.read_both(before, after, lazy=lazy)
    return Comparer(using, reader, each=each).compare(  # type: ignore[arg-type]
        Side(described="before", kernels=tuple(sides[0])), Side(described="after", kernels=tuple(sides[1]))
    )


def tree(side: str, **changed: str) -> list[Bundle]:
    """Three kernels of one hash on both sides, ``k1="..."`` to change the second stage of one."""
    return [
        msgspec.structs.replace(
            bundle(f"k{n}", path=f"{side}/{n}", one=f"add {n}", two=changed.get(f"k{n}", f"add {n}{n}")),
            hash=f"h{n}",
        )
        for n in range(3)
    ]


def test_of_identical_trees_nothing_is_read() -> None:
    using, calls = counting()
    report = compared(tree("a"), tree("b"), using)
    assert report.verdict == "identical"
    assert not calls


def test_of_identical_kernels_with_other_hashes_nothing_is_made_canonical() -> None:
    using, calls = counting()
    after = [msgspec.structs.replace(one, hash=f"other {one.name}") for one in tree("b")]
    assert compared(tree("a"), after, using).verdict == "identical"
    assert {kind for kind, _ in calls} <= {"summarize"}


def test_of_a_changed_kernel_every_stage_is_read_once_and_of_others_none() -> None:
    using, calls = counting()
    report = compared(tree("a"), tree("b", k1="spill x"), using)
    assert report.verdict == "changed"
    assert calls == {
        ("summarize", "add 1"): 1,
        ("summarize", "add 11"): 1,
        ("summarize", "spill x"): 1,
        ("canonical", "add 11"): 1,
        ("canonical", "spill x"): 1,
    }


def test_of_a_kernel_that_is_only_spelled_differently_equal_stages_stay_unread() -> None:
    using, calls = counting()
    report = compared(tree("a"), tree("b", k1="# note\nadd 11"), using)
    assert report.verdict == "equivalent"
    assert ("summarize", "add 1") not in calls


def test_equal_contents_of_several_kernels_are_read_once() -> None:
    using, calls = counting()
    before = [bundle(f"k{n}", path=f"a{n}", one="add x", two=f"add {n}") for n in range(4)]
    after = [bundle(f"k{n}", path=f"b{n}", one="add x", two=f"spill {n}") for n in range(4)]
    compared(before, after, using)
    assert set(calls.values()) == {1}


def test_who_asks_for_facts_of_each_pair_gets_all_of_both_sides() -> None:
    using, _ = counting()
    seen: list[tuple[bool, bool, int]] = []

    def each(before: Kernel, after: Kernel, report: KernelReport) -> KernelReport:
        seen.append((before.whole, after.whole, len(list(before.facts())) + len(list(after.facts()))))
        return msgspec.structs.replace(report, target="asked")

    report = compared(tree("a"), tree("b", k1="spill x"), using, each=each)
    assert seen == [(True, True, 8)] * 3
    assert {kernel.target for kernel in report.kernels} == {"asked"}


def test_a_kernel_with_a_stage_missing_is_read_and_everything_wrong_is_told() -> None:
    using, _ = counting()
    report = compared([bundle(two="BROKEN")], [bundle(two="BROKEN")], using)
    assert {issue.code for issue in report.kernels[0].issues} == {"missing-stage", "unreadable"}


lines = st.lists(st.sampled_from(["add x", "spill x", "# a", "# b", "odd"]), max_size=3).map("\n".join)


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Bundle], list[Bundle]]:
    sides: list[list[Bundle]] = [[], []]
    for number in range(draw(st.integers(1, 4))):
        texts = [draw(lines), draw(lines)]
        for side in (0, 1):
            if draw(st.integers(0, 5)) == 0:
                continue
            fields = {
                name: draw(lines) if draw(st.booleans()) else text
                for name, text in zip(("one", "two"), texts, strict=True)
            }
            made = bundle(draw(st.sampled_from(["k", "k_1", "k_2"])), path=f"{side}/{number}", **fields)
            named = msgspec.structs.replace(made, hash=draw(st.sampled_from([None, "h", f"h{number}"])))
            if draw(st.booleans()):
                named = msgspec.structs.replace(named, target=None)
            sides[side].append(named)
    return sides[0], sides[1]


@given(trees())
def test_reading_what_matters_says_what_reading_everything_says(
    sides: tuple[list[Bundle], list[Bundle]],
) -> None:
    using, _ = counting()
    eager, lazy = (compared(*sides, using, lazy=lazy) for lazy in (False, True))
    assert _without_coverage(lazy) == _without_coverage(eager)


def _without_coverage(report: Report) -> bytes:
    """Issues of stages that are the same on both sides are not looked for, nor do they make a kernel incomplete."""
    kernels = [
        msgspec.structs.replace(
            kernel,
            issues=(),
            status="" if kernel.status in ("incomplete", "identical", "equivalent") else kernel.status,
        )
        for kernel in report.kernels
    ]
    verdict = report.verdict if report.verdict == "changed" else ""
    return encode(msgspec.structs.replace(report, kernels=tuple(kernels), issues=(), verdict=verdict))  # type: ignore[arg-type]
