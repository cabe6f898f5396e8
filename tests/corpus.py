"""Where the tests' artifacts are: the committed fixtures, and the recorded H200 cache named by one setting."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures"
BUNDLES = FIXTURES / "bundles"
PAIRS = FIXTURES / "pairs"
CASES = FIXTURES / "cases"
GPU = FIXTURES / "gpu"

SETTING = "IRDIFF_TEST_DATA"
"""Environment variable naming the folder with ``data/`` and ``cases/`` (required where CI is set)."""


def artifacts(*suffixes: str) -> list[Path]:
    """Every committed artifact with one of the suffixes, in a stable order."""
    found = [path for root in (BUNDLES, PAIRS) for path in root.rglob("*") if path.suffix in suffixes]
    return sorted(path for path in found if not path.name.startswith("__grp__"))


def entry(release: str, target: str, kernel: str, specialization: str | None = None) -> Path:
    """The entry folder of one fixture kernel, by its manifest."""
    import json

    folder = BUNDLES / f"triton-{release}" / target
    manifest = json.loads((folder / "manifest.json").read_text())
    entries = manifest["entries"] if isinstance(manifest, dict) else manifest
    for item in entries:
        if item["kernel"] == kernel and specialization in (None, item["specialization"]):
            return folder / item["folder"]
    raise LookupError(f"{folder}: no {kernel} {specialization or ''}")


def test_data() -> Path | None:
    """The folder the setting names, or None where it is not set (never in CI)."""
    named = os.environ.get(SETTING)
    if named:
        folder = Path(named)
        if not (folder / "data").is_dir():
            raise RuntimeError(f"{SETTING}={named}: has no folder data/")
        return folder
    if os.environ.get("CI"):
        raise RuntimeError(f"CI is set and {SETTING} is not: the recorded H200 cache is required in CI")
    return None


test_data.__test__ = False  # type: ignore[attr-defined]  # a helper, not a test


def unpack_h200(into: Path) -> Path:
    """Unpack the recorded H200 cache (141 kernels) below ``into`` and return its folder."""
    folder = test_data()
    assert folder is not None
    unpack(folder / "data" / "inductor-h200.tar.xz", into)
    return into / "inductor-h200"


def unpack(archive: Path, into: Path) -> None:
    """Unpack one of the project's own archives (a Python before 3.10.12 knows no filter)."""
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(into, filter="data")
        else:
            packed.extractall(into)


def case(comparison: str) -> tuple[Path, Path]:
    """Before and after of one comparison of ``fixtures/cases``: each a cache tree or an archive of one."""
    import json

    described = json.loads((CASES / "manifest.json").read_text())[comparison]
    folder = FIXTURES / described["folder"] if "folder" in described else CASES / comparison
    before, after = (
        packed if (packed := folder / f"{side}.tar.xz").exists() else folder / side
        for side in ("before", "after")
    )
    return before, after
