"""Records of kernels that did not compile: they are kernels too, and never pass for ones that did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import corpus
from command import irdiff, irdiff_json

RECORD = {
    "schema": "irdiff-entry/1",
    "status": "failed",
    "kernel": "softmax",
    "target": "cuda:90",
    "source": {"file": "kernels.py", "sha256": "0" * 64, "line": 9},
    "signature": {"x": "*fp32", "n": "i32"},
    "options": {"num_warps": 4, "num_stages": 3},
    "provenance": {"irdiff": "0.1.0", "triton": "3.6.0"},
    "failure": {"kind": "front-end", "message": "static_assert failed", "stage": "source", "line": 12},
}


def tree(folder: Path, **fields: object) -> Path:
    """A tree with one record of a failure."""
    (folder / "failed").mkdir(parents=True)
    (folder / "failed" / "softmax-0123456789abcdef.json").write_text(json.dumps(RECORD | fields))
    return folder


def test_a_record_is_a_kernel_with_its_name_target_and_message(tmp_path: Path) -> None:
    (kernel,) = irdiff_json("show", tree(tmp_path / "out"))["kernels"]
    assert (kernel["name"], kernel["target"]) == ("softmax", "cuda:90")
    assert kernel["facts"]["meta.num_warps"] == 4
    assert kernel["facts"]["meta.triton"] == "3.6.0"
    (issue,) = kernel["issues"]
    assert issue["code"] == "compilation-failed"
    assert "front-end error at stage source (kernels.py:12): static_assert failed" in issue["message"]


def test_a_kernel_that_stopped_compiling_meets_the_one_that_did(tmp_path: Path) -> None:
    before = corpus.PAIRS / "fp_fusion" / "before"
    (was,) = irdiff_json("show", before)["kernels"]
    after = tree(tmp_path / "out", kernel=was["name"], target=was["target"])
    report = irdiff_json("compare", before, after)
    (kernel,) = report["kernels"]
    assert (kernel["name"], kernel["status"], kernel["changes"]) == (was["name"], "incomplete", [])
    assert [issue["code"] for issue in kernel["issues"]] == ["compilation-failed"]
    assert irdiff("compare", "--exit-code", before, after).code == 2


@pytest.mark.parametrize(
    "fields", [{"schema": "other/1"}, {"status": "compiled"}, {"entry": "ABC"}, {"kernel": 3}, {"failure": 7}]
)
def test_what_is_no_such_record_is_no_kernel(tmp_path: Path, fields: dict[str, object]) -> None:
    found = irdiff("show", tree(tmp_path / "out", **fields))
    assert found.code == 2
    assert "holds no compiled kernel" in found.err
