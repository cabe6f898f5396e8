"""What locations say: the file and line of Python that a line of MLIR comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from irdiff_mlir.model import LocationAlias, Module

_PIECE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)":(\d{1,9}):\d+|#loc\d*|callsite\(|\bat\b')
_NAME = re.compile(r"#loc\d*")
_PLACE = re.compile(r":(\d{1,9}):\d+")
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""
_MAX_STEPS = 64
"""More references than the printer ever chains."""


class SourceLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of Python."""

    path: str
    line: int


def cycle(definitions: Sequence[LocationAlias]) -> str:
    """A location that is defined by itself, directly or through others; ``""`` where none is."""
    if _in_order(definitions):
        return ""
    named = {entry.name: tuple(_NAME.findall(entry.text)) for entry in definitions}
    done: set[str] = set()
    for start in named:
        on_path: list[str] = []
        stack: list[tuple[str, bool]] = [(start, True)]
        while stack:
            name, entering = stack.pop()
            if not entering:
                on_path.pop()
                done.add(name)
                continue
            if name in on_path:
                return name
            if name in done:
                continue
            on_path.append(name)
            stack.append((name, False))
            stack.extend((child, True) for child in named.get(name, ()))
            if len(on_path) > _MAX_STEPS:
                return name
    return ""


def _in_order(definitions: Sequence[LocationAlias]) -> bool:
    """Whether each names only what is defined before it, as the printer writes them, and chains are short."""
    depths: dict[str, int] = {}
    for entry in definitions:
        name, text = entry.name, entry.text
        if name in depths:
            return False
        depth = 0
        if "#loc" in text:
            for child in _NAME.findall(text):
                below = depths.get(child, _MAX_STEPS)
                depth = below if below > depth else depth
            if depth >= _MAX_STEPS - 1:
                return False
        depths[name] = depth + 1
    return True


def python_lines(module: Module) -> dict[int, SourceLine]:
    """Line of MLIR to the line of Python it comes from, where a location says so.

    Of a call site, the called function's line, unless that is in Triton's own library: then the caller's.
    """
    definitions = {entry.name: entry.text for entry in module.location_definitions}
    known: dict[str, SourceLine | None] = {}
    found: dict[int, SourceLine] = {}
    for location in module.locations:
        text = location.trailing or (location.inner[0] if location.inner else "")
        if text not in known:
            known[text] = _simple(text, definitions, known) or _resolve(text, definitions)
        if (line := known[text]) is not None:
            found[location.line] = line
    return found


def _simple(
    text: str, definitions: Mapping[str, str], known: Mapping[str, SourceLine | None]
) -> SourceLine | None:
    """A location that names one place, if need be by way of others; None for any other, or one in the library."""
    for _ in range(_MAX_STEPS // 4):
        if text[:1] == "#":
            if (line := known.get(text)) is not None:
                return line
            text = definitions.get(text, "")
            continue
        pieces = text.split('"')
        if len(pieces) != 3 or pieces[0] or "\\" in text:
            return None
        _, string, rest = pieces
        if rest[:5] == "(#loc" and rest[-1] == ")" and rest[1:-1] in definitions:
            text = rest[1:-1]
            continue
        match = _PLACE.fullmatch(rest)
        if match is None or _LIBRARY.search(string):
            return None
        return SourceLine(path=string, line=int(match[1]))
    return None


def _resolve(text: str, definitions: Mapping[str, str]) -> SourceLine | None:
    """The first file location, in order of calls, that is not in Triton's library; else the first."""
    first: SourceLine | None = None
    pending = [text]
    for _ in range(_MAX_STEPS):
        if not pending:
            break
        pieces: list[str] = []
        for match in _PIECE.finditer(pending.pop(0)):
            if match[1] is not None:
                line = SourceLine(path=match[1], line=int(match[2]))
                if not _LIBRARY.search(line.path):
                    return line
                first = first or line
            elif match[0].startswith("#"):
                pieces.append(definitions.get(match[0], ""))
        pending = pieces + pending
    return first
