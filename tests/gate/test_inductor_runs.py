"""A model's caches: two runs of one program pass, and one whose width lost its divisibility does not go unseen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import corpus
from command import irdiff


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inductor's caches of three runs on one H200 (PyTorch 2.11, Triton 3.6): fixtures/gpu/train.py made them."""
    folder = tmp_path_factory.mktemp("runs")
    corpus.unpack(corpus.GPU / "inductor-runs.tar.xz", folder)
    return folder


def test_two_runs_of_one_model_pass(runs: Path) -> None:
    found = irdiff("check", runs / "run1", runs / "run2")
    assert found.code == 0, found.out
    assert "25 kernels equivalent." in found.out


def test_a_width_that_is_no_multiple_of_16_fails_and_is_named_as_the_cause(runs: Path) -> None:
    found = irdiff("check", runs / "run1", runs / "run3", "--format", "json")
    assert found.code == 1
    report = json.loads(found.out)
    codes = {(finding["rule"], finding["level"]) for finding in report["judgement"]["findings"]}
    assert {code for code, level in codes if level == "error"} == {"RES103"}
    assert {"MEM101", "RES102"} <= {code for code, _ in codes}
    causes = {
        kernel["first_divergence"]["cause"] for kernel in report["kernels"] if kernel["first_divergence"]
    }
    assert any("argument r0_numel: i32, tt.divisibility = 16 -> i32" in (cause or "") for cause in causes)
