"""The recorded H200 cache: every kernel read, every stage understood, machine facts equal to what others say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import corpus
from command import irdiff, irdiff_json

pytestmark = pytest.mark.data
STAGES = {"meta", "source", "ttir", "ttgir", "llir", "ptx", "sass"}


@pytest.fixture(scope="module")
def shown(h200: Path) -> list[dict[str, Any]]:
    return irdiff_json("show", h200)["kernels"]


def test_all_141_kernels_are_read_through_every_stage_without_an_error(shown: list[dict[str, Any]]) -> None:
    assert len(shown) == 141
    for kernel in shown:
        assert set(kernel["stages"]) == STAGES, kernel["path"]
        issues = [issue for stage in kernel["stages"].values() for issue in stage["issues"]] + kernel[
            "issues"
        ]
        assert [issue for issue in issues if issue["severity"] == "error"] == [], kernel["path"]
        assert all(stage["degraded"] is None for stage in kernel["stages"].values()), kernel["path"]


@pytest.mark.parametrize(
    ("stage", "least"),
    [
        ("meta", 1.0),
        ("source", 0.995),
        ("ttir", 0.995),
        ("ttgir", 0.995),
        ("llir", 0.995),
        ("ptx", 1.0),
        ("sass", 1.0),
    ],
)
def test_coverage_over_the_cache(shown: list[dict[str, Any]], stage: str, least: float) -> None:
    ratios = [kernel["stages"][stage]["coverage"] for kernel in shown]
    assert min(ratios) >= least


def test_the_five_matmuls_are_what_the_driver_reported(shown: list[dict[str, Any]], h200: Path) -> None:
    folder = corpus.test_data()
    assert folder is not None
    reported = {
        item["hash"]: item for item in json.loads((folder / "data/driver-attributes.json").read_text())
    }
    found = 0
    for kernel in shown:
        path = Path(kernel["path"])
        metadata = json.loads((path / f"{kernel['name']}.json").read_text())
        driver = reported.get(metadata["hash"])
        if driver is None:
            continue
        found += 1
        assert kernel["facts"]["sass.registers"] == driver["registers"]
        assert (
            kernel["facts"]["sass.spill_store_bytes"]
            == kernel["facts"]["sass.spill_load_bytes"]
            == 0
            == driver["spills"]
        )
        assert kernel["facts"]["meta.shared"] == driver["shared"]
    assert found == 5


def test_a_cache_compared_with_itself_is_identical(h200: Path) -> None:
    report = irdiff_json("compare", h200, h200)
    assert report["verdict"] == "identical"
    assert len(report["kernels"]) == 141
    assert all(kernel["pairing"]["method"] == "entry" for kernel in report["kernels"])


def test_one_swapped_cubin_is_found_and_nothing_else(h200: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(h200, copy)
    cubins = sorted(copy.glob("*/matmul_kernel.cubin"))
    cubins[0].write_bytes(cubins[1].read_bytes())
    report = irdiff_json("compare", h200, copy)
    changed = [kernel for kernel in report["kernels"] if kernel["status"] == "changed"]
    assert [Path(kernel["path_after"]).name for kernel in changed] == [cubins[0].parent.name]
    assert changed[0]["first_divergence"]["stage"] == "sass"
    done = irdiff("compare", h200, copy, "--exit-code")
    assert done.code == 1
