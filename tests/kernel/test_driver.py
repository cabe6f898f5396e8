"""Registers, local memory and occupancy as irdiff reads them now, against what the driver of a GPU said.

Recorded on an NVIDIA H200 by ``tests/gpu/record.py``; ``fixtures/gpu/select.py`` chose what is committed.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import corpus
from irdiff.cli.session import session

GPU = corpus.FIXTURES / "gpu"
FIELDS = {"registers": "sass.registers", "local": "sass.stack", "ctas_per_sm": "kernel.ctas_per_sm"}


@cache
def recorded() -> dict[str, dict[str, Any]]:
    """The driver's numbers by entry."""
    return {row["entry"]: row["driver"] for row in json.loads((GPU / "kernels.json").read_text())}


@pytest.fixture(scope="module")
def facts() -> dict[str, dict[str, Any]]:
    """Whole-kernel facts by entry, read afresh."""
    with session(external=False) as run:
        loaded = run.load(str(GPU / "entries.tar.xz"))
        kernels = run.reader(canonical=False).read(loaded.bundles)
    return {kernel.bundle.entry: {f.id: f.value for f in kernel.facts() if not f.scope} for kernel in kernels}


@pytest.mark.parametrize(("field", "fact"), FIELDS.items())
def test_the_driver_says_the_same_of_every_recorded_kernel(
    field: str, fact: str, facts: dict[str, dict[str, Any]]
) -> None:
    assert facts.keys() == recorded().keys()
    assert len(facts) >= 100
    assert {entry: found[fact] for entry, found in facts.items()} == {
        entry: driver[field] for entry, driver in recorded().items()
    }


def test_the_recording_holds_kernels_with_local_memory_and_different_occupancies() -> None:
    assert sum(driver["local"] > 0 for driver in recorded().values()) >= 10
    assert len({driver["ctas_per_sm"] for driver in recorded().values()}) >= 5


def test_the_same_script_without_a_gpu_gives_the_same_machine_code(tmp_path: Path) -> None:
    codes = []
    for name in ("matmul", "matmul-without-gpu"):
        corpus.unpack(GPU / f"{name}.tar.xz", tmp_path)
        with session(external=False) as run:
            (kernel,) = run.reader(canonical=False).read(run.load(str(tmp_path / name)).bundles)
        codes.append({f.id: f.value for f in kernel.facts()}["kernel.code"])
    assert codes[0] == codes[1]
    totals = json.loads((GPU / "record.json").read_text())["both ways"]
    assert all(each["equal"] == each["in both"] == each["kernels"] for each in totals.values())
