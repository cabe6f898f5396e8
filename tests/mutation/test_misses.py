"""Misses: one semantic edit at a random place of a real artifact is always seen, and the fact that it moves named.

``IRDIFF_MUTANTS`` sets how many mutants are drawn (1,002 by default), ``IRDIFF_MUTATION_SEED`` from which seed; the
report with every survivor is printed (``pytest -s``) and is the message of a failure.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from command import irdiff_json
from mutation.drawing import Kind, Mutant
from mutation.judging import STAGES, Outcome, judge, kinds_of, share, subjects, told

MUTANTS = int(os.environ.get("IRDIFF_MUTANTS", "1002"))
SEED = int(os.environ.get("IRDIFF_MUTATION_SEED", "20260601"))
KINDS = 12
"""Least number of kinds of a stage."""
NAMED = 0.95
SAMPLE = 20
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    each = -(-MUTANTS // len(STAGES))
    found = [outcome for stage in STAGES.values() for outcome in judge(stage, each, SEED)]
    sys.stdout.write(told(found, SEED) + "\n")
    return found


def test_every_mutant_is_reported_as_changed(outcomes: list[Outcome]) -> None:
    assert len(outcomes) >= MUTANTS
    assert not [str(each.mutant) for each in outcomes if not each.changed], told(outcomes, SEED)


def test_the_fact_that_an_edit_is_about_moves(outcomes: list[Outcome]) -> None:
    assert share(outcomes) >= NAMED, told(outcomes, SEED)


@pytest.mark.parametrize("name", sorted(STAGES))
def test_a_stage_has_enough_kinds_of_edits(name: str, outcomes: list[Outcome]) -> None:
    kinds: Sequence[Kind] = kinds_of(STAGES[name], subjects(STAGES[name]))
    assert len({kind.name for kind in kinds}) == len(kinds)
    drawn = {each.mutant.kind.name for each in outcomes if each.mutant.stage == name}
    assert min(len(drawn), len(kinds)) >= KINDS


def test_an_edit_is_told_by_compare(outcomes: list[Outcome], tmp_path: Path) -> None:
    """Through the command line: the stage has changed, and either its facts or its unexplained lines say so."""
    sample = random.Random(SEED).sample([each for each in outcomes if each.changed], SAMPLE)
    for number, outcome in enumerate(sample):
        entries(outcome.mutant, tmp_path, number)
    report = irdiff_json("compare", tmp_path / "before", tmp_path / "after")
    assert report["verdict"] == "changed"
    told_of: dict[str, dict[str, Any]] = {Path(each["path_after"]).name: each for each in report["kernels"]}
    assert len(told_of) == SAMPLE
    for number, outcome in enumerate(sample):
        mutant = outcome.mutant
        kernel = told_of[folder_of(mutant, number)]
        assert Path(kernel["path_before"]).name[1:] == folder_of(mutant, number)[1:], "the same original"
        assert kernel["status"] == "changed", str(mutant)
        assert kernel["stages"][mutant.stage]["sameness"] == "changed", str(mutant)
        effects = {each["fact"]: each["effect"] for each in kernel["changes"]}
        mine = {fact for fact in effects if fact.startswith(f"{mutant.stage}.")}
        assert mine, str(mutant)
        unexplained = any(effects[fact] == "unexplained" for fact in mine)
        assert unexplained or any(fact in outcome.moved for fact in mine), str(mutant)


def folder_of(mutant: Mutant, number: int) -> str:
    """The name of an entry of its own for a mutant."""
    return f"{LETTERS[number]}{mutant.subject.path.parent.name[1:]}"


def entries(mutant: Mutant, into: Path, number: int) -> None:
    """The entry of the original below ``before``, and with the mutant in it below ``after``."""
    for side in ("before", "after"):
        shutil.copytree(mutant.subject.path.parent, into / side / folder_of(mutant, number))
    (into / "after" / folder_of(mutant, number) / mutant.subject.path.name).write_bytes(mutant.data)
