"""The line of Python that a line of LLVM IR comes from, by its ``!dbg`` attachment.

Nodes as LLVM prints them ("LLVM Language Reference", "Specialized Metadata Nodes"): DILocation, the scopes
above it, DIFile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from irdiff_llir.reader import Module
from irdiff_llir.shapes import MARK, Node, debug_place

_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""
_MAX_STEPS = 32


class _Sources:
    """Finds the source line of locations, each once."""

    def __init__(self, nodes: Iterable[tuple[str, Node]]) -> None:
        self._nodes = {text[node.number]: (text, node) for text, node in nodes}
        self._paths: dict[str, tuple[str | None, bool]] = {}
        self._places: dict[str, str | None] = {}

    def of(self, number: str) -> str | None:
        """The first location, in order of calls, that is not in Triton's library; else the first."""
        if number not in self._places:
            self._places[number] = self._place(number)
        return self._places[number]

    def _field(self, number: str, name: str, missing: str = "") -> str:
        text, node = self._nodes[number]
        where = node.fields.get(name)
        return missing if where is None else text[where]

    def _place(self, number: str) -> str | None:
        first: str | None = None
        for _ in range(_MAX_STEPS):
            if number not in self._nodes or self._nodes[number][1].kind != "DILocation":
                break
            path, is_library = self._path(self._field(number, "scope"))
            line = self._field(number, "line", "0")
            if path is not None and line != "0":
                if not is_library:
                    return f"{path}:{line}"
                first = first or f"{path}:{line}"
            number = self._field(number, "inlinedAt")
        return first

    def _path(self, scope: str) -> tuple[str | None, bool]:
        """The path of a scope, and whether it is in Triton's library."""
        if scope not in self._paths:
            path = self._file(scope)
            self._paths[scope] = path, path is not None and _LIBRARY.search(path) is not None
        return self._paths[scope]

    def _file(self, number: str) -> str | None:
        for _ in range(_MAX_STEPS):
            if number not in self._nodes:
                return None
            if self._nodes[number][1].kind == "DIFile":
                folder, name = self._field(number, "directory"), self._field(number, "filename")
                return f"{folder}/{name}" if folder and not name.startswith("/") else name or None
            number = self._field(number, "file") or self._field(number, "scope")
        return None


def source_lines(module: Module) -> dict[int, str]:
    """Line of LLVM IR to ``path:line``. Of an inlined function of Triton's library, the line that calls it."""
    if not module.nodes:
        return {}
    sources = _Sources(module.nodes)
    known: dict[str, str | None] = {}
    found: dict[int, str] = {}
    for item, shape in zip(module.items, module.shapes, strict=True):
        debug = shape.debug
        if debug is None:
            debug = debug_place(item[3]) if shape is MARK and item[2] != "{" else None
            if debug is None:
                continue
        number = item[3][debug]
        if number not in known:
            known[number] = sources.of(number)
        where = known[number]
        if where is not None:
            found[item[0]] = where
    return found
