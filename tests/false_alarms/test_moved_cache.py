"""False alarms: every kernel of a recorded cache, compiled in a folder of another name."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import corpus
from command import irdiff

PLACE, MOVED = b"/tmp/", b"/tmq/"
"""Paths of one length: in a cubin others move everything behind them."""
SPELLED = [(PLACE, MOVED), tuple(b", ".join(b"%d" % byte for byte in text) for text in (PLACE, MOVED))]
"""As text, and as PTX writes the bytes of a string."""


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("caches")
    before = corpus.unpack_h200(folder) if corpus.test_data() else corpus.BUNDLES / "triton-3.6.0" / "sm_90"
    after = folder / "after"
    shutil.copytree(before, after)
    moved = 0
    for file in (path for path in after.rglob("*") if path.is_file() and not path.name.startswith("__grp__")):
        data = file.read_bytes()
        for old, new in SPELLED:
            data = re.sub(rb"(?<![0-9])" + re.escape(old), new, data)
        moved += data != file.read_bytes()
        file.write_bytes(data)
    assert moved > 50
    return before, after


def test_a_cache_that_was_compiled_elsewhere_means_the_same_at_every_stage(caches: tuple[Path, Path]) -> None:
    report = json.loads(irdiff("compare", *caches, "--format", "json").out)
    assert report["kernels"]
    assert report["added"] == report["removed"] == []
    changed = {
        (kernel["name"], stage): found["sameness"]
        for kernel in report["kernels"]
        for stage, found in kernel["stages"].items()
        if found["sameness"] not in ("identical", "equivalent")
    }
    assert changed == {}
    assert [kernel["changes"] for kernel in report["kernels"] if kernel["changes"]] == []
    reasons = {
        reason
        for kernel in report["kernels"]
        for found in kernel["stages"].values()
        for reason in found["reasons"]
    }
    assert "source paths" in reasons
    assert report["verdict"] == "equivalent"
