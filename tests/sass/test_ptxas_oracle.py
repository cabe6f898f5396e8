"""Spills, stack, barriers and registers against the log of the assembler, on kernels made to spill."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import corpus
from irdiff.api import Artifact, Context, Summary
from irdiff.tools import LocalToolbox
from irdiff_sass.cubin import read_cubin
from irdiff_sass.plugin import STAGE
from irdiff_sass.ptxas_stage import PTXAS
from irdiff_sass.spills import count_spills

FOLDER = corpus.FIXTURES / "ptxas"
RESOURCES = {
    "registers": "registers",
    "stack_bytes": "stack",
    "spill_store_bytes": "spill_store_bytes",
    "spill_load_bytes": "spill_load_bytes",
}


@cache
def said() -> dict[str, dict[str, Any]]:
    return json.loads((FOLDER / "ptxas.json").read_text())


def facts(name: str, tools: LocalToolbox) -> dict[str, Any]:
    data = Artifact.of_bytes((FOLDER / name).read_bytes(), suffix=".cubin")
    return {fact.id: fact for fact in STAGE.summarize(data, Context(tools=tools)).facts if not fact.scope}


def log(name: str) -> Summary:
    data = Artifact.of_bytes(said()[name]["log"].encode(), stage="ptxas", suffix=".ptxas-log")
    return PTXAS.summarize(data, Context(tools=LocalToolbox({}, {})))


def test_there_are_enough_kernels_that_spill() -> None:
    marked = [name for name, each in said().items() if not each["ptxas"].startswith("12.4")]
    assert all(said()[name]["spill_store_bytes"] > 0 < said()[name]["spill_load_bytes"] for name in said())
    assert len(marked) >= 10
    assert {read_cubin((FOLDER / name).read_bytes()).sm for name in marked} == {80, 90, 100, 121}
    assert {each["ptxas"].rpartition(".")[0] for each in said().values()} == {"12.4", "12.8", "12.9", "13.4"}
    assert sorted(path.name for path in FOLDER.glob("*.cubin")) == sorted(said())


@pytest.mark.parametrize("name", sorted(said()))
def test_the_cubin_says_what_ptxas_said(name: str, no_tools: LocalToolbox) -> None:
    found = facts(name, no_tools)
    for key, fact in RESOURCES.items():
        if found[f"sass.{fact}"].exactness != "estimate":
            assert found[f"sass.{fact}"].value == said()[name][key], key
    if said()[name]["barriers"] is not None:
        assert found["sass.named_barriers"].value == said()[name]["barriers"]
    assert said()[name]["ptxas"].startswith(found["sass.ptxas"].value)
    assert found["sass.launch_bounds"].value["maxnreg"] == said()[name]["maxnreg"]


@pytest.mark.parametrize("name", sorted(said()))
def test_the_log_read_by_the_stage_says_the_same(name: str, no_tools: LocalToolbox) -> None:
    found = {fact.id: fact.value for fact in log(name).facts}
    assert {key: found[f"ptxas.{fact}"] for key, fact in RESOURCES.items()} == {
        key: said()[name][key] for key in RESOURCES
    }
    assert found.get("ptxas.barriers") == said()[name]["barriers"]
    assert log(name).coverage.ratio == 1.0


def test_an_array_in_local_memory_is_no_spill() -> None:
    """Its accesses are STL and LDL too, at a constant offset from the stack pointer some of them; none is marked."""
    for name in ("local_array_sm80_24.cubin", "local_array_sm100_24.cubin"):
        cubin = read_cubin((FOLDER / name).read_bytes())
        spills = count_spills(cubin)
        local = [
            offset
            for code in cubin.codes
            for offset in range(0, len(code.data), 16)
            if int.from_bytes(code.data[offset : offset + 2], "little") & 0xFFF in (0x387, 0x983)
        ]
        assert spills.exact
        assert len(local) == len(spills.store_sites) + len(spills.load_sites) + 67


@pytest.mark.parametrize("name", ["many_live_sm90_32_cuda124.cubin", "local_array_sm90_24_cuda124.cubin"])
def test_an_assembler_older_than_12_8_marks_no_spills_and_the_figure_is_an_estimate(
    name: str, no_tools: LocalToolbox
) -> None:
    found = facts(name, no_tools)
    assert found["sass.spill_store_bytes"].exactness == "estimate"
    assert found["sass.spill_load_bytes"].exactness == "estimate"
    assert found["sass.registers"].exactness is None


def test_the_estimate_counts_an_array_on_the_stack_too(no_tools: LocalToolbox) -> None:
    """That is why it is called one: the array's constant places look like spill slots."""
    for name, right in (
        ("many_live_sm90_32_cuda124.cubin", True),
        ("local_array_sm90_24_cuda124.cubin", False),
    ):
        found = facts(name, no_tools)
        assert found["sass.spill_store_bytes"].value >= said()[name]["spill_store_bytes"]
        assert (found["sass.spill_store_bytes"].value == said()[name]["spill_store_bytes"]) == right


def test_spills_in_a_loop_are_told_apart_from_those_around_it(toolbox: LocalToolbox) -> None:
    data = Artifact.of_bytes((FOLDER / "layer_norm_sm90_24.cubin").read_bytes(), suffix=".cubin")
    summary = STAGE.summarize(data, Context(tools=toolbox))
    whole = {fact.id: fact for fact in summary.facts if not fact.scope}
    assert summary.scopes
    for scope in summary.scopes:
        inside = {fact.id: fact for fact in summary.facts if fact.scope == scope.id}
        local = inside["sass.local_accesses"].value
        for kind in ("store", "load"):
            fact = inside[f"sass.spill_{kind}_bytes"]
            everything = whole[f"sass.spill_{kind}_bytes"]
            assert 0 <= fact.value <= everything.value
            places = fact.evidence.get("", ())
            assert set(places) <= set(everything.evidence[""])
            # this kernel has no local array: what is spilled in the loop are its local accesses
            assert fact.value == sum(
                int(key.split()[1]) * count for key, count in local.items() if key.startswith(kind)
            )
    assert any(fact.value for fact in summary.facts if fact.scope and fact.id == "sass.spill_load_bytes")


def test_the_fixtures_are_small() -> None:
    assert sum(path.stat().st_size for path in Path(FOLDER).rglob("*") if path.is_file()) < 600_000
