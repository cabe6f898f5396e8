"""Read what ``TRITON_REPRODUCER_PATH`` writes: the input of a stage, with the passes that were run on it."""

from __future__ import annotations

import re
from collections.abc import Callable

from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.issues import Issue
from irdiff.model.specs import StageLookup
from irdiff.sources.entries import Found
from irdiff.sources.files import Folder, FoundFile

_FUNCTION = re.compile(rb'^[ \t]*tt\.func public @(?:"([^"\n]{1,500})"|([\w.$-]{1,500}))\(', re.MULTILINE)
_RESOURCES = b"\n{-#"
"""Begins the block behind the module in which MLIR keeps the pass pipeline (``mlir_reproducer``)."""


def reproducers_of(folder: Folder, context: StageLookup) -> Found:
    """One bundle for each prefix and kernel of a folder's reproducers, of layout ``file``: nothing else is expected.

    Every compilation of a process writes to the same names, so that what is there is the last one's. An artifact
    is the module without the block that holds the pass pipeline; its lines keep their numbers.
    """
    artifacts: dict[tuple[str, str], dict[str, Artifact]] = {}
    modified: dict[tuple[str, str], float] = {}
    issues: list[Issue] = []
    for file in folder.files:
        name = file.kind
        if name.role != "reproducer":
            continue
        data, issue = _module(file, known=bool(name.suffix))
        if data is None:
            issues.append(issue)
            continue
        stage = context.stage_of(name.suffix) or name.suffix[1:]
        found = _FUNCTION.search(data)
        kernel = (found[1] or found[2]).decode("utf-8", "backslashreplace") if found else name.stem
        key = (name.stem, kernel)
        artifacts.setdefault(key, {})[stage] = Artifact(
            stage=stage, suffix=name.suffix, location=file.location, read=_reader(file), size=len(data)
        )
        modified[key] = max(modified.get(key, 0.0), file.modified)
    bundles = tuple(
        Bundle(
            name=key[1],
            path=folder.path,
            layout="file",
            artifacts=dict(sorted(stages.items())),
            modified=modified[key],
        )
        for key, stages in sorted(artifacts.items())
    )
    return Found(bundles=bundles, issues=tuple(issues))


def _module(file: FoundFile, *, known: bool) -> tuple[bytes | None, Issue]:
    """The module of a reproducer, or None and what to say of it."""
    issue = file.issue or Issue(
        severity="warning",
        code="unknown-reproducer",
        message="is the input of passes that irdiff does not know; not read",
        where=file.location,
    )
    if not known or file.read is None:
        return None, issue
    try:
        return _reader(file)(), issue
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        return None, Issue(severity="error", code="unreadable-file", message=message, where=file.location)


def _reader(file: FoundFile) -> Callable[[], bytes]:
    """What reads the module of one reproducer. Its result raises OSError."""
    read = file.read
    assert read is not None

    def module() -> bytes:
        data = read()
        end = data.rfind(_RESOURCES)
        return data if end < 0 else data[: end + 1]

    return module
