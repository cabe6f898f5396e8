"""Arguments whose specialization changes nothing in the machine code are named, and only those."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

import corpus
from command import irdiff
from irdiff.api import Artifact, Context, Coverage, Fact, FactSpec, Summary
from irdiff.engine.specializations import specializations
from irdiff.engine.summarize import Reader
from irdiff.model.report import Specialization
from irdiff.present.specializations import sentence, values_text
from toy_stages import NoTools, bundle, registry, stage

SPECS = (
    FactSpec(id="one.arguments", title="arguments", kind="record", role="arguments"),
    FactSpec(id="one.options", title="options", kind="record", role="options"),
    FactSpec(id="one.print", title="what executes", kind="token", role="fingerprint"),
)


def _summarize(artifact: Artifact, context: Context) -> Summary:
    """Three lines: arguments ``x:i32 y:ptr``, options, the code."""
    arguments, options, code = artifact.read().decode().split("\n")
    facts = [
        Fact(id="one.arguments", value=dict(part.split(":") for part in arguments.split())),
        Fact(id="one.options", value={"warps": options}),
    ]
    if code:
        facts.append(Fact(id="one.print", value=code))
    return Summary(facts=tuple(facts), coverage=Coverage(understood=1, total=1))


def found(*entries: str, target: str = "90") -> dict[str, Specialization]:
    made = registry(msgspec.structs.replace(stage("one"), facts=SPECS, summarize=_summarize))
    bundles = [bundle("k", path=f"{n}", target=target, one=text) for n, text in enumerate(entries)]
    kernels = Reader(made, NoTools(), canonical=False).read(bundles)
    return {one.argument: one for one in specializations(kernels, made.facts)}


def test_an_argument_that_splits_the_cache_for_nothing_is_named() -> None:
    told = found("n:i32 m:i32\n4\nA", "n:i32d m:i32\n4\nA", "n:i32 m:i32d\n4\nB")
    assert (told["n"].buys_nothing, told["n"].entries, told["n"].codes) == (True, 2, 1)
    assert (told["m"].buys_nothing, told["m"].entries, told["m"].codes) == (False, 2, 2)


def test_constexprs_that_are_not_recorded_hide_nothing() -> None:
    entries = [f"n:{kind}\n4\n{code}" for kind in ("i32", "i32d") for code in "AB"]
    assert found(*entries)["n"].buys_nothing
    assert not found(*entries[:3])["n"].buys_nothing


@pytest.mark.parametrize(
    "entries",
    [
        ("n:i32 m:i32\n4\nA", "n:i32d m:i32d\n4\nA"),
        ("n:i32\n4\nA", "n:i32d\n8\nA"),
        ("n:i32\n4\n", "n:i32d\n4\n"),
        ("n:i32\n4\nA", "n:i32\n4\nA"),
        ("n:i32\n4\nA",),
    ],
    ids=["two arguments differ", "options differ", "no machine code", "nothing differs", "one entry"],
)
def test_nothing_is_said_where_the_argument_is_not_the_only_difference(entries: tuple[str, ...]) -> None:
    assert found(*entries) == {}


def test_a_value_that_became_part_of_the_code_is_a_value_too() -> None:
    told = found("n:i32 m:i32\n4\nA", "m:i32\n4\nB")["n"]
    assert (told.values, told.buys_nothing) == (("", "i32"), False)
    assert values_text(told.values) == "i32, or a constant"


def test_the_sentence_names_kernel_argument_values_and_count() -> None:
    one = Specialization(
        kernel="k",
        target="cuda:90",
        argument="heads",
        values=("i32", "i32, tt.divisibility = 16"),
        entries=2,
        codes=1,
        buys_nothing=True,
    )
    assert sentence(one) == (
        "k (cuda:90): the specialization of heads (with and without tt.divisibility = 16) buys nothing: "
        "2 entries, same machine code (by fingerprint)"
    )


def test_the_recorded_case_of_an_unused_argument(tmp_path: Path) -> None:
    for side in corpus.case("unused-arg-splits-cache"):
        for folder in side.iterdir():
            if folder.is_dir():
                (tmp_path / folder.name).symlink_to(folder)
    shown = irdiff("show", str(tmp_path), "--specializations")
    assert shown.code == 0
    words = " ".join(shown.out.split())
    assert (
        "the specialization of heads (with and without tt.divisibility = 16) buys nothing: 2 entries" in words
    )
    listed = json.loads(irdiff("show", str(tmp_path), "-f", "json").out)["specializations"]
    assert [(one["argument"], one["buys_nothing"]) for one in listed] == [("heads", True)]


def test_a_stride_whose_divisibility_is_worth_something_is_not_said_to_buy_nothing() -> None:
    tree = corpus.BUNDLES / "triton-3.6.0/sm_90"
    listed = json.loads(irdiff("show", str(tree), "-f", "json").out)["specializations"]
    assert [(one["kernel"], one["buys_nothing"]) for one in listed] == [("matmul_strided_kernel", False)]
    assert "buys nothing" not in irdiff("show", str(tree)).out
