"""Where the user's Python lies in the working tree, so that a forge can show a finding beside its line.

What artifacts record is the path on the machine that compiled them; a report keeps the file's name of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePath

import msgspec

from irdiff.model.report import Report
from irdiff.present.labels import judged, place_of

MOST_FILES = 50_000
"""Files looked at; in a larger tree names stay as they are."""
PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages"})


def located(report: Report, here: Path) -> Report:
    """The report with ``attn.py:88`` of its findings as ``kernels/attn.py:88``.

    Paths are relative to the repository that ``here`` is in; outside of one nothing is looked for. A name that no file
    of it has, or several, stays as it is.
    """
    judgement = judged(report)
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    if judgement is None or root is None:
        return report
    names = {place_of(finding.source)[0] for finding in judgement.findings if finding.source}
    paths = _paths(root, frozenset(name for name in names if PurePath(name).name == name))
    found = tuple(
        msgspec.structs.replace(finding, source=_relative(finding.source, paths))
        if finding.source
        else finding
        for finding in judgement.findings
    )
    return msgspec.structs.replace(report, judgement=msgspec.structs.replace(judgement, findings=found))


def _relative(source: str, paths: dict[str, str]) -> str:
    name, line = place_of(source)
    return f"{paths[name]}:{line}" if name in paths and line is not None else source


def _paths(root: Path, names: frozenset[str]) -> dict[str, str]:
    """Name to its only path; nothing where the tree is too large to be sure."""
    found: dict[str, list[str]] = {}
    left = MOST_FILES
    for folder, files in _folders(root) if names else ():
        left -= len(files)
        if left < 0:
            return {}
        for name in names.intersection(files):
            found.setdefault(name, []).append((folder.relative_to(root) / name).as_posix())
    return {name: paths[0] for name, paths in found.items() if len(paths) == 1}


def _folders(root: Path) -> Iterator[tuple[Path, list[str]]]:
    """Every folder with its files; no hidden ones, no environments of Python, nothing behind links."""
    for folder, folders, files in os.walk(root):
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        yield Path(folder), files
