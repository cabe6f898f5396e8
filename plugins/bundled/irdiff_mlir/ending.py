"""Notices a file that ends in the middle, and closes what it left open so that the rest can be read."""

from __future__ import annotations

import re

import msgspec

from irdiff_mlir import syntax
from irdiff_mlir.lines import Lines

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?')
_REFERENCE = re.compile(r"#loc\d*")


class Completed(msgspec.Struct, frozen=True, kw_only=True):
    """Text for the parser."""

    text: str
    lines: int
    """Lines of the file itself."""
    reason: str = ""
    """How one sees that the file ends early; ``""`` where it does not."""
    dropped: tuple[tuple[int, str], ...] = ()
    """(line, text) of what was cut off and cannot be parsed."""


def complete(parts: Lines) -> Completed:
    """The code with its operations marked; open regions of a truncated file are closed."""
    code, closed = parts.code, parts.closed
    count = len(code)
    opened = _open_regions(code)
    if not opened:
        return Completed(text=syntax.marked(code, closed), lines=count, reason=_undefined(parts))
    # the file does not end in a line end, so that its last line may be a part of one
    dropped: tuple[tuple[int, str], ...] = ()
    if code[-1]:
        dropped = ((count, code[-1]),)
        code = (*code[:-1], "")
        opened = _open_regions(code)
    closers = tuple("}) : () -> ()" if generic else "}" for _, generic in reversed(opened))
    body = syntax.marked((*code, *closers), (*closed, *(False for _ in closers)))
    first = opened[-1][0] if opened else count
    return Completed(
        text=body,
        lines=count,
        reason=f"a region opened in line {first} is not closed" if opened else "its last line is incomplete",
        dropped=dropped,
    )


def _open_regions(code: tuple[str, ...]) -> list[tuple[int, bool]]:
    """(line, whether in a generic operation) of every brace left open."""
    stack: list[tuple[int, bool]] = []
    for number, line in enumerate(code, 1):
        if "{" not in line and "}" not in line:
            continue
        plain = _STRING.sub("", line) if '"' in line else line
        generic = plain.endswith("({") or plain.endswith(", {")
        balance = 0
        for character in plain:
            if character == "{":
                stack.append((number, generic))
                balance += 1
            elif character == "}" and stack:
                stack.pop()
                balance -= 1
    return stack


def _undefined(parts: Lines) -> str:
    """A location used and never defined: definitions stand at the end of the file."""
    defined = {name for name, _ in parts.location_definitions}
    used: set[str] = set()
    for location in parts.locations:
        if location.trailing.startswith("#loc"):
            used.add(location.trailing)
        for text in location.inner:
            used.update(_REFERENCE.findall(text))
    missing = sorted(used - defined)
    return f"location {missing[0]} is used and not defined" if missing else ""
