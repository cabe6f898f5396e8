"""Kernels compiled by two releases of Triton: equal machine code is said to be equal, whatever the IR did."""

from __future__ import annotations

import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import corpus
from command import irdiff, irdiff_json

RELEASES = ("3.3.1", "3.6.0", "3.9.0")
TARGETS = ("gfx942", "sm_80", "sm_90", "sm_100", "sm_121")
PAIRS = [
    pytest.param(before, after, target, id=f"{before}-{after}-{target}")
    for before, after in pairwise(RELEASES)
    for target in TARGETS
]


def tree(release: str, target: str) -> Path:
    return corpus.BUNDLES / f"triton-{release}" / target


@cache
def report(before: str, after: str, target: str) -> Any:
    return irdiff_json("compare", tree(before, target), tree(after, target))


@cache
def fingerprints(release: str, target: str) -> dict[str, str | None]:
    """Entry folder to the fingerprint of its machine code; None where no plugin reads that (AMD's is not bundled)."""
    shown = irdiff_json("show", tree(release, target))
    return {
        kernel["path"]: next(
            (value for fact, value in kernel["facts"].items() if fact.endswith(".fingerprint")), None
        )
        for kernel in shown["kernels"]
    }


@pytest.mark.parametrize(("before", "after", "target"), PAIRS)
def test_machine_code_changed_if_and_only_if_its_fingerprint_did(
    before: str, after: str, target: str
) -> None:
    kernels = report(before, after, target)["kernels"]
    assert kernels
    for kernel in kernels:
        mine = fingerprints(before, target)[kernel["path_before"]]
        theirs = fingerprints(after, target)[kernel["path_after"]]
        if mine is None or theirs is None:
            assert kernel["machine_code"] == "unknown"
        else:
            assert (kernel["machine_code"] == "changed") == (mine != theirs)


@pytest.mark.parametrize(("before", "after", "target"), PAIRS)
def test_every_kernel_that_both_releases_compiled_is_paired(before: str, after: str, target: str) -> None:
    import json

    def compiled(release: str) -> set[tuple[str, str]]:
        entries = json.loads((tree(release, target) / "manifest.json").read_text())
        entries = entries["entries"] if isinstance(entries, dict) else entries
        return {(entry["kernel"], entry["specialization"]) for entry in entries}

    made = report(before, after, target)
    assert len(made["kernels"]) == len(compiled(before) & compiled(after))
    assert len(made["added"]) == len(compiled(after) - compiled(before))
    assert len(made["removed"]) == len(compiled(before) - compiled(after))


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_ir_of_another_release_with_the_same_machine_code_is_told_so_first(
    target: str, tmp_path: Path
) -> None:
    """The entry of 3.9.0 with the cubin of 3.6.0: every stage before it differs, and nothing that runs."""
    for release, side in (("3.6.0", "before"), ("3.9.0", "after")):
        shutil.copytree(corpus.entry(release, target, "matmul_kernel"), tmp_path / side / "ENTRY")
    (cubin,) = (tmp_path / "before").rglob("*.cubin")
    (tmp_path / "after" / "ENTRY" / cubin.name).write_bytes(cubin.read_bytes())
    (kernel,) = irdiff_json("compare", tmp_path / "before", tmp_path / "after")["kernels"]
    assert kernel["stages"]["ptx"]["sameness"] == "changed"
    assert kernel["machine_code"] == "identical"
    assert (kernel["status"], kernel["direction"]) == ("changed", "neutral")
    shown = irdiff("compare", tmp_path / "before", tmp_path / "after").out.split("\n")
    told = next(line for line in shown[1:] if line.strip())
    assert "machine code is identical" in told
