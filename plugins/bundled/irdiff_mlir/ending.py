"""Notices a file that ends in the middle, and closes what it left open so that the rest can be read."""

from __future__ import annotations

import re

import msgspec

from irdiff_mlir import syntax
from irdiff_mlir.lines import Lines

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?')
_BRACKET = re.compile(r"->|[<>()\[\]{}]")
_LINE = re.compile(
    r"""\s*(?:
      (?:%[\w$.:, %-]+=\ )?(?:"[\w$.-]+"\(|[a-z_]\w*\.[\w.$]+)   # an operation
      |module(?:\ @\S+)?(?:\ attributes\ \{.*\})?\ \{$
      |[})]
      |\^[\w$.-]+[(:]
      |[a-z_]\w*[ (].*\{$                                      # default {, partition0(...) {, case 1 {
    )""",
    re.VERBOSE,
)
_MAX_DEPTH = 200
_MAX_LENGTH = 16_384
"""Longest line in characters (the parser takes time quadratic in it); a constant with its elements may be longer."""
_LONG_CONSTANT = re.compile(r'\s*%\S+ = arith\.constant dense<"?[][0-9a-fA-FxX, .+-]*"?> : [^"]{1,500}')
_REFERENCE = re.compile(r"#loc\d*")


class Completed(msgspec.Struct, frozen=True, kw_only=True):
    """Text for the parser."""

    text: str
    lines: int
    """Lines of the file itself."""
    reason: str = ""
    """How one sees that the file ends early; ``""`` where it does not."""
    closed: bool = False
    """Regions were left open and have been closed, or the last line was dropped."""
    dropped: tuple[tuple[int, str], ...] = ()
    """(line, text) of what was cut off and cannot be parsed."""
    odd: tuple[tuple[int, str], ...] = ()
    """(line, text) of lines that cannot be MLIR as it is printed: damage on which the parser could take minutes."""


def complete(parts: Lines) -> Completed:
    """The code with its operations marked; open regions of a truncated file are closed."""
    code, closed = parts.code, parts.closed
    count = len(code)
    odd = tuple((number, line) for number, line in enumerate(code, 1) if not plausible(line))
    if odd:
        code = _without(code, odd)
    if deep := _too_deep_regions(code):
        odd += deep
        code = _without(code, deep)
    opened = _open_regions(code)
    if not opened:
        return Completed(text=syntax.marked(code, closed), lines=count, reason=undefined(parts), odd=odd)
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
        closed=True,
        odd=odd,
    )


def plausible(line: str) -> bool:
    """Whether a line can begin, continue or end an operation, and does not nest deeper than any type."""
    if not line:
        return True
    if len(line) > _MAX_LENGTH and _LONG_CONSTANT.fullmatch(line) is None:
        return False
    return _LINE.match(line) is not None and not _too_deep(line)


def _too_deep(line: str) -> bool:
    """Whether brackets nest deeper than in any type Triton prints."""
    if line.count("(") + line.count("<") + line.count("{") + line.count("[") <= _MAX_DEPTH:
        return False
    depth = 0
    for match in _BRACKET.finditer(_STRING.sub("", line)):
        depth += 1 if match[0] in "(<{[" else 0 if match[0] == "->" else -1
        if depth > _MAX_DEPTH:
            return True
    return False


def _without(code: tuple[str, ...], dropped: tuple[tuple[int, str], ...]) -> tuple[str, ...]:
    numbers = {number for number, _ in dropped}
    return tuple("" if number in numbers else line for number, line in enumerate(code, 1))


def _too_deep_regions(code: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """Lines of regions nested deeper than any compiler writes, from their opening to their closing brace."""
    found: list[tuple[int, str]] = []
    depth = 0
    for number, line in enumerate(code, 1):
        before = depth
        if "{" in line or "}" in line:
            plain = _STRING.sub("", line) if '"' in line else line
            depth = max(0, depth + plain.count("{") - plain.count("}"))
        if line and max(before, depth) > _MAX_DEPTH:
            found.append((number, line))
    return tuple(found)


def _open_regions(code: tuple[str, ...]) -> list[tuple[int, bool]]:
    """(line, whether in a generic operation) of every brace left open."""
    stack: list[tuple[int, bool]] = []
    for number, line in enumerate(code, 1):
        if "{" not in line and "}" not in line:
            continue
        plain = _STRING.sub("", line) if '"' in line else line
        generic = plain.endswith(("({", ", {"))
        for character in plain:
            if character == "{":
                stack.append((number, generic))
            elif character == "}" and stack:
                stack.pop()
    return stack


def undefined(parts: Lines) -> str:
    """A location used and never defined: definitions stand at the end of the file."""
    used = set(parts.locations.trailing)
    used.difference_update(parts.location_definitions.names)
    missing = {text for text in used if text[:4] == "#loc"}
    for texts in parts.locations.inner.values():
        for text in texts:
            missing.update(_REFERENCE.findall(text))
    missing.difference_update(parts.location_definitions.names)
    return f"location {min(missing)} is used and not defined" if missing else ""
