"""The plugins in plugins/external stand where anybody's would: they import irdiff.api and nothing else of irdiff."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import corpus

EXTERNAL = sorted((corpus.ROOT / "plugins/external").glob("*/irdiff_*"))


def imported(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("package", EXTERNAL, ids=lambda path: path.name)
def test_an_external_plugin_imports_the_api_alone(package: Path) -> None:
    modules = {name for path in package.rglob("*.py") for name in imported(path)}
    ours = {name for name in modules if name.split(".")[0].startswith("irdiff")}
    assert {name for name in ours if name.split(".")[0] != package.name} == {"irdiff.api"}


@pytest.mark.parametrize("package", EXTERNAL, ids=lambda path: path.name)
def test_an_external_plugin_is_a_distribution_of_its_own(package: Path) -> None:
    for name in ("pyproject.toml", "README.md", "tests"):
        assert (package.parent / name).exists(), name
    assert (package / "py.typed").is_file()


def test_there_are_two() -> None:
    assert {path.name for path in EXTERNAL} >= {"irdiff_amdgcn", "irdiff_spirv"}
