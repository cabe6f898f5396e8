"""Two stages of one dialect compared with each other, and what was not understood, as a user sees them."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

import corpus
from command import irdiff, irdiff_json
from irdiff.engine.dialects import in_one_stage
from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.codec import schema
from irdiff.model.report import Report
from irdiff.plugins import load_plugins

ENTRY = corpus.entry("3.6.0", "sm_121", "matmul_kernel", "w4s2")
SOURCE, TTIR = ENTRY / "matmul_kernel.source", ENTRY / "matmul_kernel.ttir"

LIST = "  not understood:"


def test_what_the_passes_folded_inlined_and_merged() -> None:
    """The reference numbers: the calls are inlined, the overflow checks are folded, equal ranges are merged."""
    report = irdiff_json("compare", SOURCE, TTIR)
    jsonschema.validate(report, schema(Report))
    assert report["stages_compared"] == ["source", "ttir"]
    (kernel,) = report["kernels"]
    ops = next(c for c in kernel["changes"] if (c["fact"], c["scope"]) == ("ttir.ops", "matmul_kernel"))
    for name, before, after in (("tt.call", 2, 0), ("arith.extsi", 24, 0), ("tt.make_range", 3, 2)):
        assert (ops["before"].get(name, 0), ops["after"].get(name, 0)) == (before, after)
        assert ops["delta"][name] == after - before
    assert kernel["first_divergence"] == {"stage": "ttir", "fact_stage": "ttir", "cause": "TTIR passes"}
    moved = {change["fact"] for change in kernel["changes"]}
    assert not moved & {"ttir.addresses", "ttir.masks", "ttir.dots", "ttir.loads", "ttir.arguments"}


def test_a_person_reads_which_operations_went() -> None:
    done = irdiff("compare", SOURCE, TTIR)
    assert done.code == 0
    words = " ".join(done.out.split())
    assert "SOURCE → TTIR of one dialect" in words
    for row in ("tt.call: 2 → 0", "arith.extsi: 24 → 0", "tt.make_range: 3 → 2"):
        assert row in words


def test_the_other_way_round_the_counts_go_the_other_way() -> None:
    (kernel,) = irdiff_json("compare", TTIR, SOURCE)["kernels"]
    ops = next(c for c in kernel["changes"] if (c["fact"], c["scope"]) == ("ttir.ops", "matmul_kernel"))
    assert ops["delta"]["tt.call"] == 2


def test_a_file_compared_with_itself_is_identical_and_no_pair_of_stages() -> None:
    report = irdiff_json("compare", TTIR, TTIR)
    assert report["verdict"] == "identical"
    assert report["stages_compared"] is None


@pytest.mark.parametrize("other", [".ttgir", ".llir", ".ptx"])
def test_stages_of_other_dialects_are_not_paired(other: str) -> None:
    report = irdiff_json("compare", TTIR, ENTRY / f"matmul_kernel{other}")
    assert report["stages_compared"] is None
    assert report["verdict"] == "incomplete"


def test_whole_entries_are_compared_stage_by_stage() -> None:
    registry = load_plugins(external=False)
    whole = Bundle(
        name="k",
        path="k",
        artifacts={stage: Artifact.of_bytes(b"", stage=stage) for stage in ("source", "ttir")},
    )
    one = Bundle(name="k", path="k", artifacts={"ttir": Artifact.of_bytes(b"", stage="ttir")})
    assert in_one_stage(registry, whole, one) is None
    assert in_one_stage(registry, one, one) is None


def planted(tmp_path: Path) -> Path:
    text = TTIR.read_text()
    file = tmp_path / "matmul_kernel.ttir"
    file.write_text(text.replace("arith.divsi ", "arith.divsj ", 1))
    return file


def test_what_was_not_understood_is_listed_by_show_v(tmp_path: Path) -> None:
    file = planted(tmp_path)
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "divsj" in text)
    stage = irdiff_json("show", file)["kernels"][0]["stages"]["ttir"]
    assert stage["coverage"] < 1
    ((place, text),) = stage["unknown"]
    assert place == line
    assert "arith.divsj" in text
    shown = irdiff("show", "-v", file).out
    assert LIST in shown.splitlines()
    assert any(words.split()[:2] == [str(line), "arith.divsj"] for words in shown.splitlines())
    assert LIST not in irdiff("show", file).out.splitlines()


def test_nothing_is_listed_where_all_was_understood() -> None:
    assert irdiff_json("show", TTIR)["kernels"][0]["stages"]["ttir"]["unknown"] == []
    assert LIST not in irdiff("show", "-v", TTIR).out.splitlines()
