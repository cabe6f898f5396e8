"""Which kernels of two trees are the same one: exact steps first, then the likest, in any order of files."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from irdiff.api import Artifact, Bundle, Context, Coverage, Fact, FactSpec, StageSpec, Summary
from irdiff.engine.pair import Pairs, pair
from irdiff.engine.summarize import Reader
from irdiff.registry import Registry
from toy_stages import NoTools, bundle, registry, stage


def _tallying(stage_id: str) -> StageSpec:
    """A stage whose facts are the options in its first line and how often each word begins a line."""
    specs = (
        FactSpec(id=f"{stage_id}.options", title="options", kind="record", role="options"),
        FactSpec(id=f"{stage_id}.ops", title="operations", kind="tally"),
    )

    def summarize(artifact: Artifact, context: Context) -> Summary:
        first, _, rest = artifact.read().decode().partition("\n")
        words: dict[str, int] = {}
        for word in rest.split():
            words[word] = words.get(word, 0) + 1
        options = dict(part.split("=") for part in first.split() if "=" in part)
        facts = (
            Fact(id=f"{stage_id}.options", value=dict(options)),
            Fact(id=f"{stage_id}.ops", value=dict(sorted(words.items()))),
        )
        return Summary(facts=facts, coverage=Coverage(understood=1, total=1))

    return msgspec.structs.replace(stage(stage_id), facts=specs, summarize=summarize)


USING: Registry = registry(_tallying("one"))


def paired(before: Sequence[Bundle], after: Sequence[Bundle]) -> Pairs:
    reader = Reader(USING, NoTools(), canonical=True)
    return pair(*reader.read_both(before, after), USING.facts)


def made(name: str, path: str, options: str, operations: str, **fields: object) -> Bundle:
    return msgspec.structs.replace(
        bundle(name, path=path, one=f"{options}\n{operations}"),
        **fields,  # type: ignore[arg-type]
    )


def told(found: Pairs) -> set[tuple[str, str, str]]:
    return {(one.bundle.path, other.bundle.path, how.method) for one, other, how in found.pairs}


names = st.sampled_from(["k", "k_1", "k_2", "k_10", "mul_add_0", "mul_add_1", "add", "other"])
options = st.sampled_from(["", "warps=4", "warps=8", "warps=8 stages=2", "stages=3"])
operations = st.lists(st.sampled_from(["add", "mul", "load", "store", "dot"]), max_size=6).map(" ".join)


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Bundle], list[Bundle]]:
    sides = []
    for side in ("before", "after"):
        count = draw(st.integers(1, 7))
        sides.append(
            [
                made(
                    draw(names),
                    f"{side}/{n}",
                    draw(options),
                    draw(operations),
                    hash=draw(st.sampled_from([None, "x", "y"])),
                )
                for n in range(count)
            ]
        )
    return sides[0], sides[1]


@given(trees())
def test_every_kernel_is_in_one_pair_or_in_one_list(sides: tuple[list[Bundle], list[Bundle]]) -> None:
    found = paired(*sides)
    before = [one.bundle.path for one, _, _ in found.pairs] + [kernel.bundle.path for kernel in found.removed]
    after = [other.bundle.path for _, other, _ in found.pairs] + [
        kernel.bundle.path for kernel in found.added
    ]
    assert sorted(before) == sorted(kernel.path for kernel in sides[0])
    assert sorted(after) == sorted(kernel.path for kernel in sides[1])


@given(trees())
def test_pairing_after_with_before_mirrors_pairing_before_with_after(
    sides: tuple[list[Bundle], list[Bundle]],
) -> None:
    there, back = paired(*sides), paired(sides[1], sides[0])
    mirrored = {(other.bundle.path, one.bundle.path, how) for one, other, how in back.pairs}
    assert {(one.bundle.path, other.bundle.path, how) for one, other, how in there.pairs} == mirrored
    assert [kernel.bundle.path for kernel in there.removed] == [kernel.bundle.path for kernel in back.added]


@given(trees(), st.randoms(use_true_random=False))
def test_the_order_of_files_changes_nothing(
    sides: tuple[list[Bundle], list[Bundle]], chance: random.Random
) -> None:
    shuffled = [chance.sample(side, len(side)) for side in sides]
    expected, found = paired(*sides), paired(*shuffled)
    assert [(o.bundle.path, n.bundle.path, how) for o, n, how in expected.pairs] == [
        (o.bundle.path, n.bundle.path, how) for o, n, how in found.pairs
    ]


@given(trees())
def test_kernels_of_one_name_are_left_on_one_side_at_most(
    sides: tuple[list[Bundle], list[Bundle]],
) -> None:
    found = paired(*sides)
    removed = {kernel.bundle.name for kernel in found.removed}
    assert not removed & {kernel.bundle.name for kernel in found.added}


@given(st.lists(st.tuples(names, options, operations), min_size=1, max_size=7))
def test_a_tree_is_paired_with_its_copy_entry_by_entry(described: list[tuple[str, str, str]]) -> None:
    kernels = [made(name, f"tree/{n}", *rest, hash=f"h{n}") for n, (name, *rest) in enumerate(described)]
    found = paired(kernels, kernels)
    assert all(
        one.bundle.path == other.bundle.path and how.confidence == 1 for one, other, how in found.pairs
    )
    assert len(found.pairs) == len(kernels)


def test_the_steps_are_taken_in_their_order() -> None:
    before = [
        made("k", "b/entry", "warps=1", "add", hash="x"),
        made("k", "b/described", "warps=2", "add mul"),
        made("k", "b/ir", "", "dot dot"),
        made("k", "b/nearest", "warps=4 stages=2", "add load"),
        made("mm_two_stage", "b/name", "warps=4", "load load dot store"),
        made("gone", "b/gone", "warps=4", "store"),
    ]
    after = [
        made("k", "a/entry", "warps=9", "mul", hash="x"),
        made("k", "a/described", "warps=2", "add mul mul"),
        made("k", "a/ir", "# a comment", "dot dot"),
        made("k", "a/nearest", "warps=4 stages=3", "add load"),
        made("mm_two_stage_fast", "a/name", "warps=4", "load load dot store"),
        made("new", "a/new", "warps=4", "dot dot dot"),
    ]
    found = paired(before, after)
    methods = {one.rpartition("/")[2]: (other.rpartition("/")[2], how) for one, other, how in told(found)}
    assert {name: other for name, (other, _) in methods.items()} == {
        name: name for name in ("entry", "described", "ir", "nearest", "name")
    }
    assert methods["entry"][1] == "entry"
    assert methods["described"][1] == "specialization"
    assert methods["nearest"][1] == "nearest"
    assert methods["name"][1] == "name"
    confidences = {how.method: how.confidence for _, _, how in found.pairs}
    assert confidences["entry"] > confidences["specialization"] > confidences["nearest"]
    assert [kernel.bundle.name for kernel in found.removed] == ["gone"]
    assert [kernel.bundle.name for kernel in found.added] == ["new"]


def test_renumbered_kernels_are_paired_by_what_they_do_and_not_by_their_number() -> None:
    kinds = ["add add", "mul mul load", "dot dot store", "load store store store"]
    before = [made(f"fused_{n}", f"b/{n}", "warps=4", kind) for n, kind in enumerate(kinds)]
    after = [made(f"fused_{n + 1}", f"a/{n}", "warps=4", kind) for n, kind in enumerate(kinds)]
    after.append(made("fused_0", "a/new", "warps=4", "exp exp"))
    found = paired(before, after)
    assert {(one, other) for one, other, _ in told(found)} == {(f"b/{n}", f"a/{n}") for n in range(4)}
    assert [kernel.bundle.path for kernel in found.added] == ["a/new"]


def test_numbered_kernels_that_do_the_same_keep_their_numbers() -> None:
    before = [made(f"k_{n}", f"b/{n}", "warps=4", "add") for n in range(5)]
    after = [made(f"k_{n}", f"a/{9 - n}", "warps=8", "add") for n in range(5)]
    found = paired(before, after)
    assert all(one.bundle.name == other.bundle.name for one, other, _ in found.pairs)


def test_the_sum_of_all_pairs_decides_and_not_the_likest_pair() -> None:
    """Of features with the target: b/1 and a/1 share 4 of 6, but then b/2 and a/2 share 1 of 4."""
    before = [made("k", "b/1", "p=1 q=1 r=1 s=2", "add"), made("k", "b/2", "p=1 q=1", "add")]
    after = [made("k", "a/1", "p=1 q=1 r=1 s=1", "add"), made("k", "a/2", "r=1", "add")]
    assert {(one, other) for one, other, _ in told(paired(before, after))} == {("b/1", "a/2"), ("b/2", "a/1")}


@given(st.integers(1, 12), st.integers(1, 12), st.randoms(use_true_random=False))
def test_configurations_in_both_sets_find_each_other_whatever_else_was_tried(
    most_before: int, most_after: int, chance: random.Random
) -> None:
    every = [f"warps={warps} stages={stages}" for warps in (1, 2, 4, 8) for stages in (1, 2, 3)]
    tried = [chance.sample(every, most) for most in (most_before, most_after)]
    before = [made("k", f"b/{option}", option, "add") for option in tried[0]]
    after = [made("k", f"a/{option}", option, "add mul") for option in tried[1]]
    found = paired(before, after)
    both = set(tried[0]) & set(tried[1])
    kept = {one[2:] for one, other, _ in told(found) if one[2:] == other[2:]}
    assert len(found.pairs) == min(most_before, most_after)
    assert kept == both or len(found.pairs) == 1


def test_copies_of_one_entry_are_told_apart_by_the_folders_they_lie_in() -> None:
    before = [made("k", f"run1/rank{n}/HASH", "warps=4", "add", hash="x") for n in range(4)]
    after = [made("k", f"run2/rank{n}/HASH", "warps=4", "add", hash="x") for n in (3, 1, 0)]
    found = paired(before, after)
    assert all(
        one.bundle.path.split("/")[1] == other.bundle.path.split("/")[1] for one, other, _ in found.pairs
    )
    assert [kernel.bundle.path for kernel in found.removed] == ["run1/rank2/HASH"]


def test_kernels_that_share_neither_words_nor_code_are_not_paired() -> None:
    before = [made("alpha", "b/1", "warps=4", "add"), made("beta", "b/2", "warps=4", "dot")]
    after = [made("gamma", "a/1", "warps=4", "add"), made("delta", "a/2", "warps=4", "mul")]
    found = paired(before, after)
    assert not found.pairs
    assert (len(found.removed), len(found.added)) == (2, 2)


def test_an_option_that_one_side_does_not_know_tells_nothing_apart() -> None:
    before = [made("k", f"b/{n}", f"warps={n}", "add") for n in range(3)]
    after = [made("k", f"a/{n}", f"warps={n} new_option={n % 2}", "mul") for n in range(3)]
    assert told(paired(before, after)) == {(f"b/{n}", f"a/{n}", "specialization") for n in range(3)}


def test_a_group_too_large_for_one_table_is_still_paired_whole() -> None:
    kernels = [
        [made("k", f"{side}/{n}", "", f"add mul {side} {'dot ' * (n % 7)}") for n in range(1003)]
        for side in "ba"
    ]
    found = paired(*kernels)
    assert (len(found.pairs), found.removed, found.added) == (1003, (), ())
