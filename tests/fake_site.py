"""Fake installed distributions: dist-info folders with entry points, and the modules they name."""

from __future__ import annotations

import importlib.metadata
import itertools
from pathlib import Path

from irdiff.plugins import load_plugins
from irdiff.registry import Registry

PRELUDE = """
from irdiff.api import *
irdiff_api_version = 1
def summarize(artifact, context): return Summary()
def canonical(artifact, context): return Canonical.of(())
def stage(id, *suffixes, facts=(), **more):
    return StageSpec(id=id, title=id, suffixes=suffixes or ("." + id,), facts=facts,
                     summarize=summarize, canonical=canonical, **more)
def fact(id, kind="count", **more): return FactSpec(id=id, title="a fact", kind=kind, **more)
def compare(before, after): return None
def to_text(value): return ""
def sign(before, after, spec): return 0
def kind(id): return KindSpec(id=id, accepts=bool, compare=compare, to_text=to_text, sign=sign)
"""
"""What the modules of fake plugins begin with."""


def registers(hook: str, *items: str) -> str:
    """Source of a plugin with one registering hook."""
    return f"{PRELUDE}\n@hookimpl\ndef irdiff_{hook}():\n    return ({', '.join(items)},)\n"


class Site:
    """A folder on sys.path with fake distributions in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[str] = []
        self._numbers = itertools.count()

    def install(self, distribution: str, version: str = "1.0", **plugins: str) -> None:
        """Install one distribution; ``plugins`` are entry-point name to the source of its module."""
        lines = ["[irdiff]"]
        for name, source in plugins.items():
            module = f"fake_plugin_{next(self._numbers)}"
            self.modules.append(module)
            (self.folder / f"{module}.py").write_text(source)
            lines.append(f"{name} = {module}")
        self.write(distribution, version, "\n".join(lines) + "\n")

    def write(self, distribution: str, version: str, entry_points: str) -> None:
        """Write the dist-info folder alone."""
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(entry_points)

    def load(self, *, external: bool = True, disabled: frozenset[str] = frozenset()) -> Registry:
        """Load what is installed here, and nothing else."""
        return load_plugins(
            external=external,
            disabled=disabled,
            distributions=importlib.metadata.distributions(path=[str(self.folder)]),
        )
