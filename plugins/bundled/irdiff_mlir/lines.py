"""Splits MLIR text into code, locations, aliases and comments, line by line, keeping the line numbers.

Locations are half of the bytes of Triton's files and say nothing of what the code does. They are taken out
before the parser sees the text and kept in a table.
"""

from __future__ import annotations

import re

import msgspec

from irdiff_mlir.model import Alias, Location, LocationAlias

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_LOCATION_ALIAS = re.compile(r"(#loc\d*) = loc\((.*)\)$")
_ALIAS = re.compile(r"([#!][A-Za-z_][\w$-]*) = (\S.*)$")
_SIMPLE = re.compile(r"#loc\d*|unknown")
_PIECE = re.compile(_STRING + r"|(?<![\w.$])loc\(|//")
_INSIDE = re.compile(_STRING + r"|[()]")


class Lines(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a file, taken apart."""

    code: tuple[str, ...]
    """Each line without locations, comments, alias definitions and trailing white space."""
    closed: tuple[bool, ...]
    """Whether a location ended the line, which is where an operation ends."""
    aliases: tuple[Alias, ...]
    location_definitions: tuple[LocationAlias, ...]
    locations: tuple[Location, ...]
    comments: tuple[tuple[int, str], ...]
    spaces: tuple[str, ...]
    resources: tuple[tuple[int, str], ...] = ()
    """Lines of a ``{-# ... #-}`` section, with their numbers."""


def split(text: str) -> Lines:
    """Take a file apart. Never fails: what does not look right stays in the code."""
    code: list[str] = []
    closed: list[bool] = []
    aliases: list[Alias] = []
    definitions: list[LocationAlias] = []
    locations: list[Location] = []
    comments: list[tuple[int, str]] = []
    spaces: list[str] = []
    resources: list[tuple[int, str]] = []
    in_resources = False
    ordinal = 0
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
        spaces.append("carriage returns")
    raw = text.split("\n")
    for number, line in enumerate(raw, 1):
        if in_resources or line.startswith("{-#"):
            in_resources = "#-}" not in line
            resources.append((number, line))
            code.append("")
            closed.append(False)
            continue
        first = line[:1]
        if first == "#" and (match := _LOCATION_ALIAS.match(line)) and not (number == len(raw) and _cut(match[2])):
            definitions.append(LocationAlias(name=match[1], text=match[2], ordinal=ordinal))
            code.append("")
            closed.append(False)
            continue
        if first in ("#", "!") and (match := _ALIAS.match(line)) and not match[1].startswith("#loc"):
            aliases.append(
                Alias(name=match[1], text=match[2], line=number, ordinal=ordinal, after=len(definitions))
            )
            code.append("")
            closed.append(False)
            continue
        plain = line
        trailing = ""
        inner: list[str] = []
        at = line.rfind(" loc(")
        simple = (
            at >= 0
            and line.endswith(")")
            and "//" not in line
            and " loc(" not in line[:at]
            and _SIMPLE.fullmatch(line, at + 5, len(line) - 1) is not None
        )
        if simple:
            trailing = line[at + 5 : -1]
            plain = line[:at]
        elif "loc(" in line or "//" in line:
            plain, trailing, inner, comment = _take_apart(line)
            if comment:
                comments.append((ordinal, comment))
        if trailing or inner:
            locations.append(Location(line=number, trailing=trailing, inner=tuple(inner), ordinal=ordinal))
        ordinal += 1 if plain and not plain.isspace() else 0
        if plain or plain == line:
            spaces.append(_spaces(plain))
        code.append(plain.rstrip())
        closed.append(bool(trailing))
    return Lines(
        code=tuple(code),
        closed=tuple(closed),
        aliases=tuple(aliases),
        location_definitions=tuple(definitions),
        locations=tuple(locations),
        comments=tuple(comments),
        spaces=tuple(spaces),
        resources=tuple(resources),
    )


def _cut(location: str) -> bool:
    """Whether a location on a last line without line end has lost its end."""
    return location.count("(") != location.count(")")


def _spaces(line: str) -> str:
    """Indentation, runs of white space and trailing white space of a line; empty single spaces are dropped."""
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    if "  " not in body and "\t" not in body and "\r" not in body and not body.endswith(" "):
        return indent
    return indent + "|" + re.sub(r"\S+", "|", body)


def _take_apart(line: str) -> tuple[str, str, list[str], str]:
    """Code, trailing location, inner locations and comment of one line; strings are left alone."""
    kept: list[str] = []
    found: list[str] = []
    comment = ""
    position = 0
    end_of_last = -1
    start = 0
    while match := _PIECE.search(line, start):
        if match[0] == "//":
            kept.append(line[position : match.start()])
            comment = line[match.start() :]
            position = len(line)
            break
        if match[0] != "loc(":
            start = match.end()
            continue
        close = _closing(line, match.end())
        if close < 0:
            break
        before = line[position : match.start()]
        kept.append(before[:-1] if before.endswith(" ") else before)
        found.append(line[match.end() : close])
        position = start = end_of_last = close + 1
    kept.append(line[position:])
    plain = "".join(kept).rstrip() if comment else "".join(kept)
    rest = line[end_of_last : len(line) - len(comment)].strip() if end_of_last >= 0 else "-"
    trailing = found.pop() if found and not rest else ""
    return plain, trailing, found, comment


def _closing(line: str, start: int) -> int:
    """Offset of the parenthesis that closes the one before ``start``; -1 where there is none."""
    depth = 1
    for match in _INSIDE.finditer(line, start):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1
