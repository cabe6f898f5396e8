"""What locations say: the file and line of Python that a line of MLIR comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from irdiff_mlir.model import LocationAliases, Module

_PIECE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)":(\d{1,9}):\d+|#loc\d*|callsite\(|\bat\b')
_NAME = re.compile(r"#loc\d*")
_PLACE = re.compile(r":(\d{1,9}):\d+")
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""
_IN_LIBRARY = "triton/language/"
_FEW = 6
"""Steps from one location to the next that :func:`_simple` can always take."""
_MAX_STEPS = 64
"""More references than the printer ever chains."""


def cycle(definitions: LocationAliases) -> str:
    """A location that is defined by itself, directly or through others; ``""`` where none is."""
    if _in_order(definitions):
        return ""
    named = {
        name: tuple(_NAME.findall(text))
        for name, text in zip(definitions.names, definitions.texts, strict=True)
    }
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


def _in_order(definitions: LocationAliases) -> bool:
    """Whether each names only what is defined before it, as the printer writes them, and chains are short."""
    depths: dict[str, int] = {}
    for name, text, plain in zip(definitions.names, definitions.texts, definitions.plain, strict=True):
        if name in depths:
            return False
        depth = 0
        if plain[2]:
            depth = depths.get(plain[2], _MAX_STEPS)
            if depth >= _MAX_STEPS - 1:
                return False
        elif not plain[1] and "#loc" in text:
            for child in _NAME.findall(text):
                below = depths.get(child, _MAX_STEPS)
                depth = below if below > depth else depth
            if depth >= _MAX_STEPS - 1:
                return False
        depths[name] = depth + 1
    return True


def python_lines(module: Module) -> dict[int, str]:
    """Line of MLIR to the ``path:line`` of Python it comes from, where a location says so, in ascending order.

    Of a call site, the called function's line, unless that is in Triton's own library: then the caller's.
    """
    named = module.location_definitions
    definitions = dict(zip(named.names, named.texts, strict=True))
    plain = _plain(named) if len(definitions) == len(named.names) else {}
    known: dict[str, str] = {}
    found: dict[int, str] = {}
    carried = module.locations
    for at, (line, trailing) in enumerate(zip(carried.lines, carried.trailing, strict=True)):
        text = trailing or carried.inner[at][0]
        place = known.get(text)
        if place is None:
            place = plain.get(text)
            if place is None:
                place = _simple(text, definitions, known) or _resolve(text, definitions)
            known[text] = place
        if place:
            found[line] = place
    return found


def _plain(named: LocationAliases) -> dict[str, str]:
    """Names of locations to their places where they come by it through a few others, each defined before it."""
    found: dict[str, str] = {}
    steps: dict[str, int] = {}
    for name, (string, line, through) in zip(named.names, named.plain, strict=True):
        if line:
            if not (_IN_LIBRARY in string and _LIBRARY.search(string)):
                found[name] = f"{string}:{int(line)}"
        elif through and (below := found.get(through)):
            step = steps[name] = steps.get(through, 0) + 1
            if step <= _FEW:
                found[name] = below
    return found


def _simple(text: str, definitions: Mapping[str, str], known: Mapping[str, str]) -> str:
    """The place of a location that names one, if need be by way of others; ``""`` for any other, or the library's."""
    for _ in range(_MAX_STEPS // 4):
        if text[:1] == "#":
            if place := known.get(text):
                return place
            text = definitions.get(text, "")
            continue
        pieces = text.split('"')
        if len(pieces) != 3 or pieces[0] or "\\" in text:
            return ""
        _, string, rest = pieces
        if rest[:5] == "(#loc" and rest[-1] == ")" and rest[1:-1] in definitions:
            text = rest[1:-1]
            continue
        match = _PLACE.fullmatch(rest)
        if match is None or _LIBRARY.search(string):
            return ""
        return f"{string}:{int(match[1])}"
    return ""


def _resolve(text: str, definitions: Mapping[str, str]) -> str:
    """The first place in a file, in order of calls, that is not in Triton's library; else the first."""
    first = ""
    pending = [text]
    for _ in range(_MAX_STEPS):
        if not pending:
            break
        pieces: list[str] = []
        for match in _PIECE.finditer(pending.pop(0)):
            if match[1] is not None:
                place = f"{match[1]}:{int(match[2])}"
                if not _LIBRARY.search(match[1]):
                    return place
                first = first or place
            elif match[0].startswith("#"):
                pieces.append(definitions.get(match[0], ""))
        pending = pieces + pending
    return first
