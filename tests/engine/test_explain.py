"""Where a change begins and why: every cause that the data shows, and silence where it does not say."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from irdiff.api import Artifact, Canonical, Context, Coverage, Fact, FactSpec, Summary
from irdiff.model.report import KernelReport
from irdiff.registry import Registry
from toy_stages import bundle, compare, registry, stage

ROLES = ("arguments", "specialization", "options", "environment")


def _describe(artifact: Artifact, context: Context) -> Summary:
    told = json.loads(artifact.read())
    facts = [Fact(id=f"zero.{name}", value=told[name]) for name in (*ROLES, "version") if name in told]
    return Summary(
        facts=tuple(facts),
        coverage=Coverage(understood=1, total=1),
        folded=tuple(told.get("folded", ())),
    )


def _text(artifact: Artifact, context: Context) -> Canonical:
    told = json.loads(artifact.read())
    kept = {name: value for name, value in told.items() if name not in ("version", "folded")}
    return Canonical.of([json.dumps(kept, sort_keys=True)], erased={"version": str(told.get("version"))})


def _timed(artifact: Artifact, context: Context) -> Canonical:
    """Lines ``word @when``: the form without its control words is digested too."""
    lines = artifact.read().decode().splitlines()
    return Canonical.of(
        lines, without={"control words": "\n".join(line.partition(" @")[0] for line in lines)}
    )


def stages() -> Registry:
    """``zero`` describes the compilation; ``one``, ``two`` and ``three`` are its steps."""
    specs = tuple(FactSpec(id=f"zero.{role}", title=role, kind="record", role=role) for role in ROLES)
    version = FactSpec(id="zero.version", title="version", kind="token", provenance=True)
    zero = msgspec.structs.replace(
        stage("zero"), facts=(*specs, version), summarize=_describe, canonical=_text, pipeline=False
    )
    one, two, three = (
        msgspec.structs.replace(made, version_facts=("zero.version",))
        for made in (
            stage("one", after=("zero",)),
            stage("two", after=("one",)),
            stage("three", after=("two",), machine_code=True),
        )
    )
    return registry(zero, one, two, msgspec.structs.replace(three, canonical=_timed))


def told(
    before: dict[str, Any],
    after: dict[str, Any],
    texts: dict[str, tuple[str, str]],
    names: tuple[str, str] = ("kernel", "kernel"),
) -> KernelReport:
    """The comparison of two kernels of which ``zero`` says so much; ``texts`` are their other stages."""
    sides = [
        bundle(
            name, path=f"p{at}", zero=json.dumps(described), **{key: pair[at] for key, pair in texts.items()}
        )
        for at, (name, described) in enumerate(zip(names, (before, after), strict=True))
    ]
    (kernel,) = compare(sides[:1], sides[1:], stages()).kernels
    return kernel


def cause(*arguments: Any, **options: Any) -> str | None:
    found = told(*arguments, **options).first_divergence
    assert found is not None
    return found.cause


FRONT = {"one": ("add x", "add y"), "two": ("add x", "spill x"), "three": ("add x", "spill x")}
BEHIND = {"one": ("add x", "add x"), "two": ("add x", "spill x"), "three": ("add x", "spill x")}
LAST = {"one": ("add x", "add x"), "two": ("add x", "add x"), "three": ("add x @1", "spill x @1")}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"arguments": {"n": "i32"}}, {"arguments": {"n": "i64"}}, "argument n: i32 -> i64"),
        (
            {"arguments": {"n": "i32, d = 16", "m": "i32"}},
            {"arguments": {"n": "i32", "m": "i64"}},
            "argument m: i32 -> i64; n: i32, d = 16 -> i32",
        ),
        (
            {"arguments": {"n": "i32"}},
            {"arguments": {"n": "i32", "s": "i32"}},
            "argument s: compiled in -> i32",
        ),
        (
            {"specialization": {"B": "constexpr 64"}},
            {"specialization": {"B": "constexpr 128"}},
            "constexpr B: 64 -> 128",
        ),
        (
            {"specialization": {"s": "constexpr 1"}},
            {"specialization": {"s": "i32"}},
            "argument s: constexpr 1 -> i32",
        ),
        ({"options": {"w": 4}}, {"options": {"w": 8}}, "option w: 4 -> 8"),
        ({"environment": {}}, {"environment": {"FLAG": "1"}}, "environment variable FLAG: unset -> 1"),
        ({"environment": {"FLAG": "0"}}, {"environment": {"FLAG": "1"}}, "environment variable FLAG: 0 -> 1"),
        ({}, {}, "the one passes"),
    ],
)
def test_what_differs_in_front_is_named(before: dict[str, Any], after: dict[str, Any], expected: str) -> None:
    assert cause(before, after, FRONT) == expected


def test_all_that_differs_is_named_and_not_the_first_alone() -> None:
    before = {
        "specialization": {"stride": "i32, d = 16", "B": "constexpr 64"},
        "options": {"w": 4},
        "environment": {"FLAG": "0"},
    }
    after = {
        "specialization": {"stride": "i32", "B": "constexpr 128"},
        "options": {"w": 8},
        "environment": {"FLAG": "1"},
    }
    assert cause(before, after, FRONT) == (
        "argument stride: i32, d = 16 -> i32; constexpr B: 64 -> 128; option w: 4 -> 8; "
        "environment variable FLAG: 0 -> 1"
    )


def test_a_compiler_of_another_version_is_named_beside_what_else_differs() -> None:
    before, after = {"options": {"w": 4}, "version": "3.6"}, {"options": {"w": 8}, "version": "3.7"}
    assert cause(before, after, BEHIND) == "option w: 4 -> 8; the two passes (3.6 -> 3.7)"


def test_an_attribute_explains_no_other_operations_so_the_front_end_is_named_too() -> None:
    before, after = {"arguments": {"n": "i32, d = 16"}}, {"arguments": {"n": "i32"}}
    attribute_alone = {**FRONT, "one": ("add x", "add x"), "two": ("add x", "add y")}
    assert cause(before, after, {**FRONT, "one": ("add x", "add x\nadd y")}) == (
        "argument n: i32, d = 16 -> i32; the one passes"
    )
    assert cause(before, after, attribute_alone) == "the two passes"


def test_an_argument_explains_nothing_behind_a_step_that_is_the_same() -> None:
    before, after = {"arguments": {"n": "i32"}}, {"arguments": {"n": "i64"}}
    assert cause(before, after, BEHIND) == "the two passes"


def test_what_one_side_alone_records_is_no_cause() -> None:
    for role in ("options", "specialization", "environment"):
        assert cause({role: {"x": "1"}}, {}, FRONT) == "the one passes"
    assert cause({"options": {"w": 4}}, {"options": {"w": 4, "more": True}}, BEHIND) == "the two passes"


def test_a_version_that_one_side_alone_records_is_another_version() -> None:
    before, after = {"options": {"w": 1}}, {"options": {"w": 0}, "version": "3.6"}
    assert cause(before, after, BEHIND) == "option w: 1 -> 0; the two passes"


def test_a_variable_of_another_release_may_have_been_set_before() -> None:
    before, after = {"environment": {}, "version": "1"}, {"environment": {"FLAG": "1"}, "version": "2"}
    assert cause(before, after, BEHIND) == "the two passes (1 -> 2)"


def test_values_that_say_nothing_are_no_cause() -> None:
    before = {"options": {"w": "a"}, "environment": {}, "folded": ["w"]}
    after = {"options": {"w": "b"}, "environment": {"PRINT": "1"}, "folded": ["w", "PRINT"]}
    assert cause(before, after, BEHIND) == "the two passes"
    only_here = {"options": {"w": "b"}, "environment": {}}
    assert cause(before, only_here, BEHIND) == "option w: a -> b"


def test_another_entry_name_is_the_cause_where_the_same_step_went_into_the_same_compiler() -> None:
    same = {"version": "1"}
    names = ("alpha", "beta")
    assert cause(same, same, LAST, names=names) == "entry name alpha -> beta"
    assert cause(same, {"version": "2"}, LAST, names=names) == "the three passes (1 -> 2)"
    assert cause({}, {}, LAST, names=names) == "the three passes"  # perhaps another version
    assert cause(same, same, FRONT, names=names) == "the one passes"  # perhaps another kernel


def test_a_machine_code_that_differs_in_its_control_words_alone_is_said_to() -> None:
    texts = {**LAST, "three": ("add x @1", "add x @2")}
    kernel = told({}, {}, texts)
    assert kernel.machine_code == "changed"
    assert kernel.first_divergence is not None
    assert kernel.first_divergence.cause == "the three passes: control words only"
    assert cause({}, {}, LAST) == "the three passes"
    option = ({"options": {"w": 4}}, {"options": {"w": 8}})
    assert cause(*option, texts) == "option w: 4 -> 8; control words only"


def test_causes_read_backwards_are_the_causes_of_the_reverse() -> None:
    before = {"specialization": {"n": "i32, d = 16", "B": "constexpr 1"}, "environment": {}, "version": "1"}
    after = {"specialization": {"n": "i32", "B": "constexpr 2"}, "environment": {"F": "1"}, "version": "1"}
    backwards = {key: (new, old) for key, (old, new) in FRONT.items()}
    there, back = cause(before, after, FRONT), cause(after, before, backwards)
    assert there is not None
    assert back is not None
    for way in (there, back):
        assert way.count(" -> ") == 3
    assert [part.split(" -> ")[0] for part in there.split("; ")] == [
        "argument n: i32, d = 16",
        "constexpr B: 1",
        "environment variable F: unset",
    ]
    assert [part.split(" -> ")[1] for part in back.split("; ")] == ["i32, d = 16", "1", "unset"]


def test_worse_ir_with_the_same_machine_code_is_neutral() -> None:
    texts = {"one": ("add x", "spill x"), "two": ("spill x", "add x"), "three": ("add x", "add x")}
    kernel = told({}, {}, texts)
    assert (kernel.status, kernel.direction, kernel.machine_code) == ("changed", "neutral", "identical")
    assert {change.effect for change in kernel.changes} >= {"worse", "better"}


def test_evidence_both_ways_is_mixed_and_never_summed() -> None:
    texts = {"one": ("add x", "spill x\nspill x"), "two": ("spill x", "add x"), "three": ("add x", "add y")}
    assert told({}, {}, texts).direction == "mixed"
