"""GoldenContract: what a stage says of each sample, as short text that a reviewer reads line by line."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from irdiff.model.specs import KindSpec
from irdiff.model.summary import Canonical, Summary
from irdiff.testing.reading import StageReading

UPDATE = "IRDIFF_UPDATE_GOLDENS"
"""Environment variable: set to 1, the files are written instead of compared; refused where ``CI`` is set."""
_MOST_SHOWN = 20


class GoldenContract(StageReading):
    """Beside StageContract: one text file for each sample; ``IRDIFF_UPDATE_GOLDENS=1 pytest`` writes them."""

    goldens: ClassVar[Path]
    """Folder of the text files, of this class alone."""

    def test_summaries_are_as_recorded(self) -> None:
        """Facts, loops, coverage and issues of every sample; no file is left over."""
        made = dict(self._texts())
        assert made, "samples is empty: nothing would be tested"
        if os.environ.get(UPDATE) == "1":
            assert not os.environ.get("CI"), f"{UPDATE} is set in CI, where nothing may be recorded"
            _write(self.goldens, made)
        for name, text in made.items():
            path = self.goldens / name
            assert path.is_file(), f"{path} is not there: {UPDATE}=1 writes it, then read it"
            recorded = path.read_text(encoding="utf-8")
            assert text == recorded, (
                f"{path} says otherwise ({UPDATE}=1 writes it anew):\n{_difference(recorded, text)}"
            )
        over = sorted(path.name for path in self.goldens.glob("*.txt") if path.name not in made)
        assert not over, f"{self.goldens}: no sample is called {', '.join(over)}"

    def _texts(self) -> list[tuple[str, str]]:
        """(file name, text) of each sample; equal names are told apart by their contents."""
        contents = list(self._contents())
        names = [f"{Path(name).name}" for name, _ in contents]
        found = []
        for name, (label, data) in zip(names, contents, strict=True):
            mark = f"-{hashlib.sha256(data).hexdigest()[:6]}" if names.count(name) > 1 else ""
            text = summary_text(
                self._summarize(data, label), self._canonical(data, label), self._value_kinds()
            )
            found.append((f"{name.replace(' ', '-')}{mark}.txt", text))
        return found

    def _value_kinds(self) -> Mapping[str, KindSpec]:
        """Fact id to its kind."""
        known = self._kinds()
        return {spec.id: known[spec.kind] for spec in self.stage.facts}


def summary_text(summary: Summary, canonical: Canonical, kinds: Mapping[str, KindSpec]) -> str:
    """A summary in lines: the facts of the whole, then of each loop; a key of a tally to a line of its own.

    ``kinds`` holds the kind of each fact by the fact's id.
    """
    lines = [
        f"coverage: {summary.coverage.understood} of {summary.coverage.total}",
        f"canonical lines: {len(canonical.lines)}",
    ]
    lines += [f"erased: {', '.join(sorted(canonical.erased))}"] if canonical.erased else []
    lines += [f"degraded: {summary.degraded}"] if summary.degraded else []
    lines += [f"not understood: {place} {text}" for place, text in summary.coverage.unknown]
    lines += [f"issue: {issue.severity} {issue.code}: {issue.message}" for issue in summary.issues]
    trips = {scope.id: scope.trip_count for scope in summary.scopes}
    for scope in ("", *trips):
        if scope:
            times = f", {trips[scope]} times" if trips[scope] is not None else ""
            lines += ["", f"{scope}{times}"]
        for fact in summary.facts:
            if fact.scope != scope:
                continue
            mark = " (estimate)" if fact.exactness == "estimate" else ""
            if isinstance(fact.value, dict) and fact.value:
                lines.append(f"{fact.id}{mark}:")
                lines += [f"  {key}: {fact.value[key]}" for key in sorted(fact.value)]
            else:
                lines.append(f"{fact.id}: {kinds[fact.id].to_text(fact.value)}{mark}")
    return "\n".join([*lines, ""])


def _write(folder: Path, made: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.txt"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def _difference(before: str, after: str) -> str:
    """The lines that differ, ``-`` as recorded and ``+`` as made now. Goldens are short: difflib will do."""
    lines = [
        line
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line.startswith(("- ", "+ "))
    ]
    more = [f"and {len(lines) - _MOST_SHOWN} more"] if len(lines) > _MOST_SHOWN else []
    return "\n".join([*lines[:_MOST_SHOWN], *more])
