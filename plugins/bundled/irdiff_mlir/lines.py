"""Splits MLIR text into code, locations, aliases and comments, line by line, keeping the line numbers.

Locations are half of the bytes of Triton's files and say nothing of what the code does. They are taken out
before the parser sees the text and kept in a table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from irdiff_mlir.model import Alias, LocationAliases, Locations

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_LOCATION_ALIAS = re.compile(r"(#loc\d*) = loc\((.*)\)$")
_ONE_PLACE = r'"([^"\\\n#]*)"(?::(\d{1,9}):\d+|\((#loc\d*)\))'
_PLAIN = re.compile(_ONE_PLACE)
_DEFINITIONS = re.compile(rf"^(#loc\d*) = loc\(({_ONE_PLACE}|.*)\)$", re.MULTILINE)
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
    location_definitions: LocationAliases
    locations: Locations
    comments: tuple[tuple[int, str], ...]
    spaces: tuple[str, ...]
    resources: tuple[tuple[int, str], ...] = ()
    """Lines of a ``{-# ... #-}`` section, with their numbers."""


def definitions(text: str, start: int) -> list[tuple[str, str, str, str, str]] | None:
    """Definitions of locations from ``start`` to the end of a text, each with what is plain of it.

    None where any line there is something else.
    """
    found = _DEFINITIONS.findall(text, start)
    return found if len(found) == text.count("\n", start) else None


def split(text: str) -> Lines:
    """Take a file apart. Never fails: what does not look right stays in the code."""
    splitter = _Splitter()
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
        splitter.spaces.append("carriage returns")
    raw = text.split("\n")
    for number, line in enumerate(raw, 1):
        splitter.add(number, line, last=number == len(raw))
    return Lines(
        code=tuple(splitter.code),
        closed=tuple(splitter.closed),
        aliases=tuple(splitter.aliases),
        location_definitions=splitter.definitions.done(),
        locations=splitter.locations.done(),
        comments=tuple(splitter.comments),
        spaces=tuple(splitter.spaces),
        resources=tuple(splitter.resources),
    )


class Definitions:
    """Collects definitions of locations."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.texts: list[str] = []
        self.ordinals: list[int] = []
        self.plain: list[tuple[str, str, str]] = []

    def add(self, name: str, text: str, ordinal: int) -> None:
        """The next one; see :class:`LocationAliases`."""
        self.names.append(name)
        self.texts.append(text)
        self.ordinals.append(ordinal)
        match = _PLAIN.fullmatch(text)
        self.plain.append((match[1], match[2] or "", match[3] or "") if match else ("", "", ""))

    def extend(self, found: Sequence[tuple[str, str, str, str, str]], ordinal: int) -> None:
        """What :func:`definitions` found, with no code between them."""
        self.names += [one[0] for one in found]
        self.texts += [one[1] for one in found]
        self.plain += [one[2:] for one in found]
        self.ordinals += [ordinal] * len(found)

    def done(self) -> LocationAliases:
        """All of them."""
        return LocationAliases(
            names=tuple(self.names),
            texts=tuple(self.texts),
            ordinals=tuple(self.ordinals),
            plain=tuple(self.plain),
        )


class Carried:
    """Collects the locations that lines carry."""

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.trailing: list[str] = []
        self.ordinals: list[int] = []
        self.inner: dict[int, tuple[str, ...]] = {}

    def add(self, line: int, trailing: str, ordinal: int, inner: Sequence[str] = ()) -> None:
        """Those of the next line; see :class:`Locations`."""
        self.lines.append(line)
        self.trailing.append(trailing)
        self.ordinals.append(ordinal)
        if inner:
            self.inner[len(self.lines) - 1] = tuple(inner)

    def done(self) -> Locations:
        """All of them."""
        return Locations(
            lines=tuple(self.lines),
            trailing=tuple(self.trailing),
            ordinals=tuple(self.ordinals),
            inner=self.inner,
        )


class _Splitter:
    """Takes lines, one after the other."""

    def __init__(self) -> None:
        self.code: list[str] = []
        self.closed: list[bool] = []
        self.aliases: list[Alias] = []
        self.definitions = Definitions()
        self.locations = Carried()
        self.comments: list[tuple[int, str]] = []
        self.spaces: list[str] = []
        self.resources: list[tuple[int, str]] = []
        self.in_resources = False
        self.ordinal = 0
        """Lines with code so far."""

    def add(self, number: int, line: str, *, last: bool) -> None:
        """One line; ``last`` where no line end follows it."""
        if self.in_resources or line.startswith("{-#"):
            self.in_resources = "#-}" not in line
            self.resources.append((number, line))
        elif not (line[:1] in ("#", "!") and self._definition(number, line, last=last)):
            self._code(number, line)
            return
        self.code.append("")
        self.closed.append(False)

    def _definition(self, number: int, line: str, *, last: bool) -> bool:
        """Whether a line defines a location or another alias, which is then noted."""
        if match := _LOCATION_ALIAS.match(line):
            if last and match[2].count("(") != match[2].count(")"):
                return False  # the file is cut off inside it
            self.definitions.add(match[1], match[2], self.ordinal)
            return True
        found = alias(line, number, self.ordinal, len(self.definitions.names))
        if found is None:
            return False
        self.aliases.append(found)
        return True

    def _code(self, number: int, line: str) -> None:
        plain = line
        trailing = ""
        inner: list[str] = []
        at = line.rfind(" loc(")
        if (
            at >= 0
            and line.endswith(")")
            and "//" not in line
            and " loc(" not in line[:at]
            and is_simple(line, at + 5, len(line) - 1)
        ):
            trailing = line[at + 5 : -1]
            plain = line[:at]
        elif "loc(" in line or "//" in line:
            plain, trailing, inner, comment = take_apart(line)
            if comment:
                self.comments.append((self.ordinal, comment))
        if trailing or inner:
            self.locations.add(number, trailing, self.ordinal, inner)
        self.ordinal += 1 if plain and not plain.isspace() else 0
        if plain or plain == line:
            self.spaces.append(spaces(plain))
        self.code.append(plain.rstrip())
        self.closed.append(bool(trailing))


def alias(line: str, number: int, ordinal: int, after: int) -> Alias | None:
    """The attribute or type alias that a line defines, if it does; see :class:`Alias` for the numbers."""
    match = _ALIAS.match(line)
    if match is None or match[1].startswith("#loc"):
        return None
    return Alias(name=match[1], text=match[2], line=number, ordinal=ordinal, after=after)


is_simple = _SIMPLE.fullmatch
"""Whether a location is one name: ``#loc12``, ``unknown``."""


_JOINED = re.compile(r"\w%|\S=|=\S|[\w})>]\{")
"""Where the printer puts a space and none is: ``tt.load%p``, ``%x =tt.load``."""
_MAY_JOIN = re.compile(r"%(?<=\w%)|=(?<=\S=)|=(?=\S)|\{(?<=[\w})>]\{)")
"""Finds something where that does, and is fast where it does not."""


def spaces(line: str) -> str:
    """Indentation, runs, trailing and missing white space of a line; single spaces are dropped."""
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    if _MAY_JOIN.search(body):
        indent += "".join(_JOINED.findall(body))
    if "  " not in body and "\t" not in body and "\r" not in body and not body.endswith(" "):
        return indent
    return indent + "|" + re.sub(r"\S+", "|", body)


def take_apart(line: str) -> tuple[str, str, list[str], str]:
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
