"""The opt-in contracts of the kit pass a stage that keeps their promises, and fail one for each promise broken."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from irdiff.api import Artifact, Canonical, Context, Fact, ParseError, Summary
from irdiff.testing import (
    DeterminismContract,
    Edit,
    EditContract,
    GoldenContract,
    TruncationContract,
    inserted,
    replaced,
    replaced_everywhere,
)
from irdiff.testing.golden import UPDATE
from plugins.test_stage_contract import SAMPLE, TOY, canonical, summarize

ADD = Edit(name="an add becomes a sub", apply=replaced(r"^add ", "sub "), facts=("toy.ops",))
COMMENT = Edit(name="comments added", apply=inserted("# more", "add|sub"), facts=("toy.lines",))
BREAD = Edit(name="another comment", apply=replaced_everywhere("^# .*$", "# butter"))


class TestToy(TruncationContract, EditContract, GoldenContract):
    stage = TOY
    samples = (SAMPLE, b"LIST\nadd 1\n")
    edits = (ADD,)
    respellings = (COMMENT, BREAD)
    goldens = Path(__file__).with_name("golden")


def kit(contract: type, **attributes: Any) -> Any:
    return type("Kit", (contract,), {"stage": TOY, "samples": (SAMPLE,), **attributes})()


def stage(**changes: Any) -> Any:
    return msgspec.structs.replace(TOY, **changes)


def deaf(artifact: Artifact, context: Context) -> Canonical:
    return Canonical.of(["the same"])


def forgetful(artifact: Artifact, context: Context) -> Summary:
    return msgspec.structs.replace(summarize(artifact, context), facts=())


def counting_comments(artifact: Artifact, context: Context) -> Summary:
    fact = Fact(id="toy.lines", value=artifact.read().count(b"butter"), evidence={"": (1,)})
    return msgspec.structs.replace(summarize(artifact, context), facts=(fact,))


def with_comments(artifact: Artifact, context: Context) -> Canonical:
    return canonical(artifact, Context(tools=context.tools, switched_off=frozenset({"comments"})))


def refusing(artifact: Artifact, context: Context) -> Summary:
    if artifact.read() != SAMPLE:
        raise ParseError("another file")
    return summarize(artifact, context)


def remembering(artifact: Artifact, context: Context) -> Summary:
    fact = Fact(id="toy.lines", value=7, evidence={"": (7,)})
    return msgspec.structs.replace(summarize(artifact, context), facts=(fact,))


def fragile(artifact: Artifact, context: Context) -> Summary:
    if artifact.read() != SAMPLE:
        raise IndexError("list index out of range")
    return summarize(artifact, context)


BROKEN = [
    ("a_prefix_is_read_for_what_it_holds", TruncationContract, {"samples": ()}, "samples is empty"),
    (
        "a_prefix_is_read_for_what_it_holds",
        TruncationContract,
        {"stage": stage(summarize=remembering)},
        "rests on line 7, which is not there",
    ),
    (
        "a_prefix_is_read_for_what_it_holds",
        TruncationContract,
        {"stage": stage(summarize=fragile)},
        "IndexError leaves the parser",
    ),
    (
        "a_prefix_does_not_pass_for_the_whole",
        TruncationContract,
        {"stage": stage(canonical=deaf)},
        "its canonical form is the whole file's, and toy.lines is another",
    ),
    ("an_edit_of_meaning_is_seen_and_its_fact_moves", EditContract, {"edits": ()}, "edits is empty"),
    (
        "an_edit_of_meaning_is_seen_and_its_fact_moves",
        EditContract,
        {"edits": (ADD,), "stage": stage(canonical=deaf)},
        "an add becomes a sub: the canonical form is the same",
    ),
    (
        "an_edit_of_meaning_is_seen_and_its_fact_moves",
        EditContract,
        {"edits": (ADD,), "stage": stage(summarize=forgetful)},
        "none of toy.ops moved, but nothing",
    ),
    (
        "an_edit_of_meaning_is_seen_and_its_fact_moves",
        EditContract,
        {"edits": (ADD,), "stage": stage(summarize=refusing)},
        "the stage refuses it",
    ),
    (
        "an_edit_of_meaning_is_seen_and_its_fact_moves",
        EditContract,
        {"edits": (Edit(name="nowhere", apply=replaced("^mul", "div")),)},
        "the edit 'nowhere' applies to no sample",
    ),
    ("an_edit_without_meaning_changes_nothing", EditContract, {"respellings": ()}, "respellings is empty"),
    (
        "an_edit_without_meaning_changes_nothing",
        EditContract,
        {"respellings": (BREAD,), "stage": stage(canonical=with_comments)},
        "'# bread' became '# butter'",
    ),
    (
        "an_edit_without_meaning_changes_nothing",
        EditContract,
        {"respellings": (BREAD,), "stage": stage(summarize=counting_comments)},
        "another comment: toy.lines moved",
    ),
    ("summaries_are_as_recorded", GoldenContract, {"samples": (), "goldens": Path()}, "samples is empty"),
    ("two_processes_say_the_same", DeterminismContract, {"samples": (), "plugin": "json"}, "samples is empty"),
    ("two_processes_say_the_same", DeterminismContract, {"plugin": "json"}, "has no attribute 'irdiff_stages'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("promise", "contract", "attributes", "says"), BROKEN, ids=lambda value: str(value)[:60]
)
def test_a_broken_promise_fails_its_test(promise: str, contract: type, attributes: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        getattr(kit(contract, **attributes), f"test_{promise}")()


def test_every_promise_is_broken_above() -> None:
    for contract in (TruncationContract, EditContract, GoldenContract, DeterminismContract):
        promises = {name.removeprefix("test_") for name in dir(contract) if name.startswith("test_")}
        assert promises == {promise for promise, which, _, _ in BROKEN if which is contract}


ORDER = """
import irdiff.api as api
def summarize(artifact, context):
    words = tuple({f"word{number}" for number in range(9)})
    return api.Summary(facts=(api.Fact(id="odd.words", value=words),))
def canonical(artifact, context): return api.Canonical.of(())
STAGE = api.StageSpec(id="odd", title="odd", suffixes=(".odd",), summarize=summarize, canonical=canonical,
                      facts=(api.FactSpec(id="odd.words", title="words", kind="sequence", doc="x"),))
def irdiff_stages(): return (STAGE,)
"""


def test_the_order_of_a_set_shows_in_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd_stage_of_a_test.py").write_text(ORDER)
    monkeypatch.syspath_prepend(str(tmp_path))
    import odd_stage_of_a_test  # type: ignore[import-not-found]  # just written

    odd = {"stage": odd_stage_of_a_test.STAGE, "plugin": "odd_stage_of_a_test"}
    with pytest.raises(AssertionError, match="sample 0: the answer depends on the process"):
        kit(DeterminismContract, **odd).test_two_processes_say_the_same()
    (tmp_path / "odd_stage_of_a_test.py").write_text(
        ORDER.replace('tuple({f"word{number}" for number in range(9)})', '("one", "two")')
    )
    kit(DeterminismContract, **odd).test_two_processes_say_the_same()


def test_a_golden_is_written_on_request_and_compared_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv(UPDATE, raising=False)
    goldens = tmp_path / "golden"
    here = kit(GoldenContract, samples=(SAMPLE, b"LIST\nadd 1\n"), goldens=goldens)
    with pytest.raises(AssertionError, match="is not there"):
        here.test_summaries_are_as_recorded()
    monkeypatch.setenv(UPDATE, "1")
    here.test_summaries_are_as_recorded()
    assert sorted(path.name for path in goldens.iterdir()) == ["sample-0.txt", "sample-1.txt"]
    assert (goldens / "sample-0.txt").read_text() == (
        "coverage: 8 of 8\ncanonical lines: 6\nerased: comments\ntoy.ops:\n  add: 2\n  sub: 1\ntoy.lines: 8\n"
        "\nloop0, 4 times\ntoy.ops:\n  add: 2\n  sub: 1\n"
    )
    monkeypatch.setenv("CI", "true")
    with pytest.raises(AssertionError, match="nothing may be recorded"):
        here.test_summaries_are_as_recorded()
    monkeypatch.delenv(UPDATE)
    here.test_summaries_are_as_recorded()
    with pytest.raises(AssertionError, match=r"no sample is called sample-1.txt"):
        kit(GoldenContract, goldens=goldens).test_summaries_are_as_recorded()
    (goldens / "sample-1.txt").write_text("coverage: 3 of 4\n")
    with pytest.raises(AssertionError, match=r"\n *- coverage: 3 of 4\n *\+ coverage: 3 of 3\n"):
        here.test_summaries_are_as_recorded()


def test_samples_of_one_name_have_goldens_of_their_own(tmp_path: Path) -> None:
    for folder, text in (("one", b"LIST\n"), ("two", b"LIST\nadd 1\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.toy").write_bytes(text)
    texts = kit(GoldenContract, samples=sorted(tmp_path.glob("*/x.toy")), goldens=tmp_path)._texts()
    names = [name for name, _ in texts]
    assert len(set(names)) == 2
    assert all(name.startswith("x.toy-") and name.endswith(".txt") for name in names)


def test_the_same_seed_makes_the_same_edits() -> None:
    apply = replaced(r"\d+", "9")
    assert apply(SAMPLE, random.Random(3)) == apply(SAMPLE, random.Random(3))
    assert len({apply(SAMPLE, random.Random(seed)) for seed in range(20)}) > 2
    assert replaced("mul", "x")(SAMPLE, random.Random(1)) is None
    assert replaced_everywhere("mul", "x")(SAMPLE, random.Random(1)) is None
    assert inserted("x", "mul")(SAMPLE, random.Random(1)) is None
