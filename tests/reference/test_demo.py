"""What ``make demo`` does is what the README shows."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from command import irdiff
from corpus import ROOT


@pytest.mark.skipif(platform.system() != "Linux", reason="Triton has wheels for Linux alone")
def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = dict(re.findall(r"^(MATMUL|SIGNATURE) := (.*)$", makefile, re.MULTILINE))
    trees = [tmp_path / f"warps-{warps}" for warps in (4, 2)]
    for warps, tree in zip((4, 2), trees, strict=True):
        options = ["--num-warps", str(warps), "--num-stages", "2", "--target", "cuda:90", "-o", tree]
        done = irdiff("compile", named["MATMUL"], "--signature", named["SIGNATURE"], *options)
        assert done.code == 0, done.err
    shown = irdiff("compare", *trees)
    assert shown.out.strip("\n") in (ROOT / "README.md").read_text()
