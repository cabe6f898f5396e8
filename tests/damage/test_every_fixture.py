"""Damaged copies of every fixture, stage by stage: a summary or a located error, within a time limit.

``IRDIFF_DAMAGED`` says how many copies of each fixture; without it 200 in CI (two minutes of two cores), 10 elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import random
from contextlib import suppress
from pathlib import Path

import pytest

import corpus
from irdiff.damage import damage, time_limit
from irdiff.errors import ParseError
from irdiff.model.bundle import Artifact
from irdiff.model.specs import Context, StageSpec
from irdiff.model.summary import Canonical, Summary
from irdiff.plugins import load_plugins
from irdiff.registry import Registry
from toy_stages import NoTools

COPIES = int(os.environ.get("IRDIFF_DAMAGED") or (200 if os.environ.get("CI") else 10))
SECONDS = 10.0
SUFFIXES = (".source", ".ttir", ".ttgir", ".llir", ".ptx", ".cubin", ".json")


def distinct() -> list[Path]:
    """One file for each content."""
    found: dict[str, Path] = {}
    for path in corpus.artifacts(*SUFFIXES):
        if path.name != "manifest.json":
            found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return sorted(found.values())


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins(external=False)


@pytest.mark.parametrize("path", distinct(), ids=lambda path: str(path.relative_to(corpus.FIXTURES)))
def test_a_damaged_copy_ends_in_a_summary_or_a_located_error(path: Path, registry: Registry) -> None:
    stage = next(stage for stage in registry.stages if path.suffix in stage.suffixes)
    data = path.read_bytes()
    chance = random.Random(data)
    for number in range(COPIES):
        how, harmed = damage(data, chance)
        label = f"{path}, copy {number}: {how}"
        with time_limit(SECONDS, label):
            read(stage, harmed, label)


def read(stage: StageSpec, data: bytes, label: str) -> None:
    """Both ways of reading; anything but a ParseError fails the test by itself."""
    artifact = Artifact.of_bytes(data, stage=stage.id, suffix=stage.suffixes[0], location=label)
    context = Context(tools=NoTools())
    with suppress(ParseError):
        summary = stage.summarize(artifact, context)
        assert isinstance(summary, Summary), label
        assert 0 <= summary.coverage.understood <= summary.coverage.total, label
    with suppress(ParseError):
        assert isinstance(stage.canonical(artifact, context), Canonical), label
