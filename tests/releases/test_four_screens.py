"""The four situations a user meets, word for word, over trees made of the fixtures.

``IRDIFF_UPDATE_GOLDENS=1`` writes the goldens anew; read the difference line by line before committing it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import corpus
from command import irdiff

GOLDEN = corpus.ROOT / "tests" / "present" / "golden"
FULL = corpus.BUNDLES / "triton-3.6.0" / "sm_90"
MOST_LINES = 40


def upgraded(folder: Path) -> None:
    """One kernel, compiled by two releases."""
    for side, archive in zip(("before", "after"), corpus.case("layernorm-mixed-precision-add"), strict=True):
        if archive.is_dir():
            shutil.copytree(archive, folder / side)
        else:
            corpus.unpack(archive, folder / side)


def lines(folder: Path) -> None:
    """One kernel of two releases whose tile programs differ in two operations."""
    for side, release in (("before", "3.6.0"), ("after", "3.9.0")):
        entry = corpus.entry(release, "sm_100", "matmul_kernel")
        shutil.copytree(entry, folder / side / entry.name)


def nothing(folder: Path) -> None:
    """Many kernels whose source lay in another folder."""
    shutil.copytree(FULL, folder / "before")
    shutil.copytree(FULL, folder / "after")
    for path in (folder / "after").rglob("*"):
        if path.suffix in (".source", ".ttir", ".ttgir", ".llir", ".ptx"):
            data = path.read_bytes()
            path.write_bytes(data.replace(b"/tmp/irdiff-fixtures/kernels", b"/tmp/elsewhere/kernels"))


def many(folder: Path) -> None:
    """Kernels changed for several reasons, and some that did not."""
    for pair in sorted(path for path in corpus.PAIRS.iterdir() if path.is_dir()):
        for side in ("before", "after"):
            shutil.copytree(pair / side, folder / side / pair.name)


def unsure(folder: Path) -> None:
    """A cubin cut off, a stage not there, everything else the same."""
    for side in ("before", "after"):
        for kernel in ("softmax_kernel", "vector_add_kernel", "histogram_kernel"):
            entry = corpus.entry("3.6.0", "sm_90", kernel)
            shutil.copytree(entry, folder / side / entry.name)
    (cubin,) = (folder / "after").rglob("softmax_kernel.cubin")
    cubin.write_bytes(cubin.read_bytes()[:8192])
    (ptx,) = (folder / "after").rglob("histogram_kernel.ptx")
    ptx.unlink()


SCREENS: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "screen-upgraded": (upgraded, ()),
    "screen-lines": (lines, ("--ir", "ttgir")),
    "screen-nothing": (nothing, ()),
    "screen-many": (many, ()),
    "screen-unsure": (unsure, ()),
}


@pytest.mark.parametrize("name", sorted(SCREENS))
def test_the_screen_is_as_reviewed(name: str, tmp_path: Path) -> None:
    make, options = SCREENS[name]
    make(tmp_path)
    shown = irdiff("compare", "before", "after", *options, cwd=tmp_path)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("IRDIFF_UPDATE_GOLDENS"):
        path.write_text(shown.out)
    assert shown.out == path.read_text()
    assert len(shown.out.splitlines()) <= MOST_LINES
