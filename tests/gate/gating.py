"""Call ``irdiff check`` inside this process, as the command line does, and look at its judgement."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import corpus
from irdiff.cli.main import main_with


class Checked(NamedTuple):
    """How one call ended."""

    code: int
    report: Any
    """None where none was written."""

    @property
    def judgement(self) -> Any:
        return self.report["judgement"]

    def fired(self, level: str | None = None) -> set[str]:
        """Codes of the findings, or of those of a level."""
        return {each["rule"] for each in self.judgement["findings"] if level in (None, each["level"])}

    def unjudged(self) -> set[str]:
        """Codes of what could not be judged."""
        return {each["code"] for each in self.judgement["unjudged"]}

    def finding(self, rule: str) -> Any:
        """The one finding of a rule."""
        (found,) = [each for each in self.judgement["findings"] if each["rule"] == rule]
        return found


def check(folder: Path, *arguments: str | Path) -> Checked:
    """``irdiff check ARGUMENTS``, the report written below ``folder``; no policy of a folder above this one counts."""
    output = folder / "checked.json"
    output.unlink(missing_ok=True)
    policy = folder / "default.toml"
    policy.touch()
    named = () if "--policy" in arguments else ("--policy", policy)
    everything = (
        "check",
        *arguments,
        *named,
        "--no-external-plugins",
        "--format",
        "json",
        "--output",
        output,
    )
    code = main_with([str(each) for each in everything])
    return Checked(code, json.loads(output.read_text()) if output.exists() else None)


def pair(name: str) -> tuple[Path, Path]:
    """Both trees of one of ``fixtures/pairs``."""
    return corpus.PAIRS / name / "before", corpus.PAIRS / name / "after"


def copied(entry: Path, into: Path) -> Path:
    """A tree with a copy of one entry."""
    shutil.copytree(entry, into / entry.name)
    return into


def only(tree: Path, suffix: str) -> Path:
    """The one file of a suffix in a tree."""
    (found,) = [
        path for path in tree.rglob(f"*{suffix}") if not path.name.startswith(("__grp__", "manifest"))
    ]
    return found
