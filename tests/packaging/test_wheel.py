"""The wheel works without the clone: everything is in it, and its plugins are found."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import corpus


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        folder,
        corpus.ROOT,
    ]
    subprocess.run(command, check=True, timeout=300)
    (made,) = folder.glob("irdiff-*.whl")
    return made


def test_the_wheel_holds_every_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    roots = {name.split("/")[0] for name in names if not name.split("/")[0].endswith(".dist-info")}
    bundled = {path.name for path in (corpus.ROOT / "plugins/bundled").iterdir() if path.is_dir()}
    assert roots == {"irdiff", *bundled}
    assert "irdiff/py.typed" in names
    sources = {str(path.relative_to(corpus.ROOT)) for path in (corpus.ROOT / "irdiff").rglob("*.py")}
    assert sources <= set(names)
    templates = corpus.ROOT / "irdiff/templates"
    assert {str(path.relative_to(corpus.ROOT)) for path in templates.rglob("*.txt")} <= set(names)


def test_the_metadata_is_complete(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (path,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = Parser().parsestr(archive.read(path).decode())
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.10"
    assert set(metadata.get_all("Provides-Extra")) == {"sass", "compile", "remote", "parquet", "dask", "all"}
    assert "difflib-extras" not in str(metadata).lower().split("description-content-type")[0]
    assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())


def test_an_installed_wheel_compares_without_the_clone(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel]
    subprocess.run(install, check=True, timeout=300)
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from irdiff.cli.start import run; run()"
    pair = [corpus.PAIRS / "moved/before", corpus.PAIRS / "moved/after"]
    done = subprocess.run(
        [sys.executable, "-c", code, "compare", *pair],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "equivalent" in done.stdout
    names = (
        code.split("from", maxsplit=1)[0]
        + "import irdiff, irdiff_ptx as p; print(irdiff.__file__, p.__file__)"
    )
    where = [sys.executable, "-c", names]
    found = subprocess.run(where, capture_output=True, text=True, cwd=tmp_path, check=True).stdout.split()
    assert all(Path(name).is_relative_to(site) for name in found)
    plugins = subprocess.run(
        [sys.executable, "-c", code, "plugins"], capture_output=True, text=True, cwd=tmp_path, check=True
    ).stdout
    assert "skipped" not in plugins
