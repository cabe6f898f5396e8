"""The contract kit passes a stage that keeps its promises, and fails one for each promise broken."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

import irdiff
from irdiff.api import (
    Artifact,
    Canonical,
    Context,
    Coverage,
    Fact,
    FactSpec,
    Normalization,
    ParseError,
    Scope,
    StageSpec,
    Summary,
)
from irdiff.damage import damage
from irdiff.testing import StageContract

SAMPLE = b"LIST 2026-01-01\n# bread\nadd 1\nloop\nadd 2\nsub 1\nend\n"


def read(artifact: Artifact) -> list[str]:
    lines = artifact.read().decode("utf-8", "replace").split("\n")
    if not lines[0].startswith("LIST"):
        raise ParseError("it does not begin with LIST", line=1)
    return lines


def summarize(artifact: Artifact, context: Context) -> Summary:
    lines = context.once("lines", lambda: read(artifact))
    where: dict[str, list[int]] = {"add": [], "sub": []}
    unknown = []
    for number, line in enumerate(lines[1:], 2):
        word = line.split(" ")[0]
        if word in where:
            where[word].append(number)
        elif word not in ("", "#", "loop", "end"):
            unknown.append((number, line))
    evidence = {word: tuple(places) for word, places in where.items() if places}
    tally = {word: len(places) for word, places in evidence.items()}
    facts = [
        Fact(id="toy.ops", value=dict(tally), evidence=evidence),
        Fact(id="toy.lines", value=len(lines), evidence={"": (1,)}),
    ]
    scopes = []
    if "loop" in lines and "end" in lines:
        scopes.append(Scope(id="loop0", first=lines.index("loop") + 1, last=len(lines), trip_count=4))
        facts.append(Fact(id="toy.ops", scope="loop0", value=dict(tally), evidence=evidence))
    return Summary(
        facts=tuple(facts),
        scopes=tuple(scopes),
        coverage=Coverage(
            understood=len(lines) - len(unknown), total=len(lines), unknown=tuple(unknown[:50])
        ),
    )


def canonical(artifact: Artifact, context: Context) -> Canonical:
    lines = context.once("lines", lambda: read(artifact))
    kept = [
        (number, line)
        for number, line in enumerate(lines[1:], 2)
        if not (line.startswith("#") and context.normalizes("comments"))
    ]
    erased = {"comments": str(len(lines) - len(kept))} if context.normalizes("comments") else {}
    return Canonical.of((line for _, line in kept), places=(number for number, _ in kept), erased=erased)


TOY = StageSpec(
    id="toy",
    title="toy",
    suffixes=(".toy",),
    facts=(
        FactSpec(id="toy.ops", title="operations", kind="tally", doc="Operations by name."),
        FactSpec(id="toy.lines", title="lines", kind="count", doc="Lines of the file."),
    ),
    summarize=summarize,
    canonical=canonical,
    normalizations=(Normalization(id="comments", title="comments"),),
)


class TestToy(StageContract):
    stage = TOY
    samples = (SAMPLE, b"LIST\nadd 1\n")


class TestToyWithFilesAndPreparation(StageContract):
    stage = msgspec.structs.replace(
        TOY, prepare=lambda artifacts, tools: {item.sha256: 1 for item in artifacts}
    )
    samples = (Path(__file__).with_name("sample.toy"),)


def altered(**fields: Any) -> Callable[[Artifact, Context], Summary]:
    """A summarize whose summary has other fields; callables get the true summary."""

    def changed(artifact: Artifact, context: Context) -> Summary:
        summary = summarize(artifact, context)
        return msgspec.structs.replace(
            summary, **{name: value(summary) if callable(value) else value for name, value in fields.items()}
        )

    return changed


def with_fact(fact: Fact) -> Callable[[Artifact, Context], Summary]:
    return altered(facts=lambda summary: (*summary.facts, fact))


def counting(artifact: Artifact, context: Context) -> Summary:
    return altered(facts=(Fact(id="toy.lines", value=next(COUNTER) + 1, evidence={"": (1,)}),))(
        artifact, context
    )


def reordering(artifact: Artifact, context: Context) -> Summary:
    words = ["add", "sub"] if next(COUNTER) % 2 else ["sub", "add"]
    fact = Fact(id="toy.ops", value=dict.fromkeys(words, 1), evidence={"add": (3,), "sub": (6,)})
    return altered(facts=(fact,))(artifact, context)


def depending_on_place(artifact: Artifact, context: Context) -> Canonical:
    return Canonical.of([artifact.location])


def depending_on_calls(artifact: Artifact, context: Context) -> Canonical:
    first = context.once("calls", lambda: [0])
    first[0] += 1
    return Canonical.of([str(first[0])])


def unplaced(artifact: Artifact, context: Context) -> Canonical:
    return msgspec.structs.replace(canonical(artifact, context), places=(1,))


def erasing(artifact: Artifact, context: Context) -> Canonical:
    return msgspec.structs.replace(canonical(artifact, context), erased={"paths": "x"})


def deaf(artifact: Artifact, context: Context) -> Canonical:
    return msgspec.structs.replace(canonical(artifact, context), erased={"comments": "x"})


def fragile(artifact: Artifact, context: Context) -> Summary:
    if artifact.read() not in (SAMPLE,):
        raise IndexError("list index out of range")
    return summarize(artifact, context)


def fragile_canonical(artifact: Artifact, context: Context) -> Canonical:
    if artifact.read() not in (SAMPLE,):
        raise RecursionError
    return canonical(artifact, context)


def slow(artifact: Artifact, context: Context) -> Summary:
    time.sleep(0.13 if artifact.read() != SAMPLE else 0)
    return summarize(artifact, context)


def endless(artifact: Artifact, context: Context) -> Summary:
    while artifact.read() != SAMPLE:
        try:
            time.sleep(0.001)
        except Exception:  # noqa: BLE001  # what must not be able to hide the time limit
            continue
    return summarize(artifact, context)


def boasting(artifact: Artifact, context: Context) -> Summary:
    if artifact.read() != SAMPLE:
        return Summary(coverage=Coverage(understood=2, total=1))
    return summarize(artifact, context)


COUNTER = itertools.count()


@dataclass
class Broken:
    promise: str
    says: str
    stage: StageSpec
    more: dict[str, Any]


def broken(promise: str, says: str, **changes: Any) -> Broken:
    more = {name: changes.pop(name) for name in ("samples", "seconds") if name in changes}
    return Broken(promise, says, msgspec.structs.replace(TOY, **changes), more)


FACTS = TOY.facts
BROKEN = [
    broken("there_are_samples", "samples is empty", samples=()),
    broken("the_specification_would_be_loaded", "must begin with a dot", suffixes=("toy",)),
    broken(
        "the_specification_would_be_loaded",
        "which nobody registers",
        facts=(FactSpec(id="toy.x", title="x", kind="curve", doc="x"),),
    ),
    broken(
        "the_specification_would_be_loaded",
        "has no doc",
        facts=(FactSpec(id="toy.x", title="x", kind="count"),),
    ),
    broken("the_specification_would_be_loaded", "declared twice", facts=(*FACTS, *FACTS)),
    broken(
        "samples_are_understood",
        "coverage 0.500",
        summarize=altered(coverage=Coverage(understood=1, total=2)),
    ),
    broken(
        "facts_are_declared_and_of_their_kind",
        "toy.x is not declared",
        summarize=with_fact(Fact(id="toy.x", value=1)),
    ),
    broken(
        "facts_are_declared_and_of_their_kind",
        "is no count",
        summarize=altered(facts=(Fact(id="toy.lines", value=-1),)),
    ),
    broken(
        "facts_are_declared_and_of_their_kind",
        "occurs twice",
        summarize=with_fact(Fact(id="toy.lines", value=1)),
    ),
    broken(
        "facts_are_declared_and_of_their_kind",
        "scope 'loop7'",
        summarize=with_fact(Fact(id="toy.lines", value=1, scope="loop7")),
    ),
    broken(
        "facts_are_declared_and_of_their_kind", "returned NoneType", summarize=lambda artifact, context: None
    ),
    broken("the_same_bytes_give_the_same_summary", "two readings differ", summarize=counting),
    broken("the_same_bytes_give_the_same_summary", "the order differs", summarize=reordering),
    broken(
        "the_same_bytes_give_the_same_canonical_form", "more than the bytes", canonical=depending_on_place
    ),
    broken("the_same_bytes_give_the_same_canonical_form", "after summarize", canonical=depending_on_calls),
    broken("the_same_bytes_give_the_same_canonical_form", "places do not go", canonical=unplaced),
    broken(
        "what_is_counted_has_evidence_in_the_artifact",
        "toy.ops 'add' has no evidence",
        summarize=altered(facts=(Fact(id="toy.ops", value={"add": 1}),)),
    ),
    broken(
        "what_is_counted_has_evidence_in_the_artifact",
        "toy.lines '' has no evidence",
        summarize=altered(facts=(Fact(id="toy.lines", value=1),)),
    ),
    broken(
        "what_is_counted_has_evidence_in_the_artifact",
        "rests on line 9, which is not there",
        summarize=altered(facts=(Fact(id="toy.lines", value=1, evidence={"": (9,)}),)),
    ),
    broken(
        "what_is_counted_has_evidence_in_the_artifact",
        "rests on line 0, which is not there",
        summarize=altered(facts=(Fact(id="toy.lines", value=1, evidence={"": (0,)}),)),
    ),
    broken(
        "coverage_is_a_share", "3 of 2 lines", summarize=altered(coverage=Coverage(understood=3, total=2))
    ),
    broken(
        "coverage_is_a_share",
        "more than 50",
        summarize=altered(coverage=Coverage(understood=1, total=90, unknown=((1, "x"),) * 51)),
    ),
    broken("scopes_are_well_formed", "not like loop0", summarize=altered(scopes=(Scope(id="Loop 1"),))),
    broken("scopes_are_well_formed", "listed twice", summarize=altered(scopes=(Scope(id="loop0"),) * 2)),
    broken(
        "scopes_are_well_formed",
        "loop0, which is not listed",
        summarize=altered(scopes=(Scope(id="loop0/loop1"),)),
    ),
    broken(
        "scopes_are_well_formed",
        "ends before",
        summarize=altered(scopes=(Scope(id="loop0", first=2, last=1),)),
    ),
    broken(
        "scopes_are_well_formed", "negative", summarize=altered(scopes=(Scope(id="loop0", trip_count=-1),))
    ),
    broken(
        "each_normalisation_can_be_switched_off", r"\['paths'\], which are not declared", canonical=erasing
    ),
    broken("each_normalisation_can_be_switched_off", r"\['comments'\] is switched off", canonical=deaf),
    broken(
        "damaged_files_end_in_a_summary_or_a_parse_error", "IndexError leaves the parser", summarize=fragile
    ),
    broken(
        "damaged_files_end_in_a_summary_or_a_parse_error",
        "RecursionError leaves",
        canonical=fragile_canonical,
    ),
    broken("damaged_files_end_in_a_summary_or_a_parse_error", "more than 0.1 s", summarize=slow, seconds=0.1),
    broken(
        "damaged_files_end_in_a_summary_or_a_parse_error", "still reading", summarize=endless, seconds=0.02
    ),
    broken("damaged_files_end_in_a_summary_or_a_parse_error", "2 of 1 lines", summarize=boasting),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case.promise}: {case.says}")
def test_a_broken_promise_fails_its_test(case: Broken) -> None:
    kit = type("Kit", (StageContract,), {"stage": case.stage, "samples": (SAMPLE,), **case.more})()
    with pytest.raises(Exception, match=case.says):
        getattr(kit, f"test_{case.promise}")()


def test_every_promise_of_the_kit_is_broken_above() -> None:
    promises = {name.removeprefix("test_") for name in dir(StageContract) if name.startswith("test_")}
    assert promises == {case.promise for case in BROKEN}


def test_damage_repeats_with_its_seed_and_is_of_every_sort() -> None:
    def many(seed: int) -> list[tuple[str, bytes]]:
        chance = random.Random(seed)
        return [damage(SAMPLE, chance) for _ in range(60)]

    assert many(1) == many(1) != many(2)
    assert sum(broken != SAMPLE for _, broken in many(1)) > 50
    assert damage(b"", random.Random(1)) == ("empty", b"")


def test_the_kit_does_not_import_pytest() -> None:
    home = str(Path(irdiff.__file__).parents[1])
    code = f"import sys\nsys.path.insert(0, {home!r})\nimport irdiff.testing\nprint('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
