"""Installed distributions as their folders on the module path say it, without importlib.metadata.

importlib.metadata and what it imports cost as much as a third of a short run. A folder of metadata is named after its
distribution and version (PyPA, "Recording installed projects"), and a list of the path's folders finds all of them.
Where something else than plain folders may hold metadata (a zip file, a finder of another kind), it is asked instead.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence

ENDINGS = (".dist-info", ".egg-info")


class Installed:
    """One distribution's folder of metadata."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = folder
        """Where it is, for messages (as importlib.metadata names it)."""

    def read_text(self, name: str) -> str | None:
        """One of its files; None where it is not there. Raises UnicodeDecodeError."""
        try:
            with open(os.path.join(self._folder, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123
                return file.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            return None

    def header(self, field: str) -> str:
        """A field of its METADATA; empty where it is not there."""
        return next(self.headers(field), "")

    def headers(self, field: str) -> Iterator[str]:
        """Every value of a field of its METADATA."""
        text = self.read_text("METADATA") or self.read_text("PKG-INFO") or ""
        for line in text.splitlines():
            if not line:
                return  # the description follows
            name, colon, value = line.partition(":")
            if colon and name.lower() == field.lower():
                yield value.strip()


class Point:
    """An entry point."""

    def __init__(self, name: str, value: str) -> None:
        self.name = name
        self.value = value
        """``module:attribute``, or the module alone."""

    def load(self) -> object:
        """Import what it names."""
        module, _, attribute = self.value.partition("[")[0].strip().partition(":")
        found: object = importlib.import_module(module.strip())
        for part in filter(None, attribute.strip().split(".")):
            found = getattr(found, part)
        return found


def is_plain(path: Sequence[str]) -> bool:
    """Whether folders on the path hold all metadata there is."""
    others = [
        finder
        for finder in sys.meta_path
        if hasattr(finder, "find_distributions")
        and getattr(finder, "__name__", type(finder).__name__) != "PathFinder"
    ]
    return not others and not any(os.path.isfile(entry) for entry in path)  # noqa: PTH113


def folders(path: Sequence[str]) -> Iterator[str]:
    """Every folder of metadata, in the order of the path."""
    for entry in dict.fromkeys(path):
        try:
            names = sorted(os.listdir(entry or "."))  # noqa: PTH208
        except OSError:
            continue
        for name in names:
            if name.endswith(ENDINGS):
                yield os.path.join(entry or ".", name)  # noqa: PTH118


def points(text: str, group: str) -> Iterator[tuple[str, str]]:
    """Name and value of the entry points of a group. Raises ValueError for what is no list of entry points."""
    section = None
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section == group:
            name, equals, value = line.partition("=")
            if not equals or not name.strip() or not value.strip():
                raise ValueError(f"no entry point: {line}")
            yield name.strip(), value.strip()
