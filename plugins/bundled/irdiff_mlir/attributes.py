"""Attribute dictionaries of an operation's text, as fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from irdiff.api import Scalar
from irdiff_mlir import types

_PIECE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]')
_INTEGER = re.compile(r"(-?\d{1,18})(?: : \w+)?$")
_KEY = re.compile(r'"[^"]*"|[\w.$-]+')
_WORD = re.compile(r"[^\s,]+")
_LIST = re.compile(r"array<i\d+(?:: (.*))?>$")


def dictionaries(text: str) -> list[tuple[int, int]]:
    """(start, end) of every outermost ``{...}``, braces included; strings are skipped."""
    found: list[tuple[int, int]] = []
    depth = start = 0
    for match in _PIECE.finditer(text):
        if match[0] == "{":
            if depth == 0:
                start = match.start()
            depth += 1
        elif match[0] == "}" and depth:
            depth -= 1
            if depth == 0:
                found.append((start, match.end()))
    return found


def fields(dictionary: str) -> dict[str, str]:
    """Fields of ``{a = 1 : i32, "b.c" = true, unit}``; a unit attribute has the value ``""``."""
    result: dict[str, str] = {}
    for entry in types.split(dictionary.strip()[1:-1]):
        key, _, value = entry.partition(" = ")
        if key:
            result[key.strip().strip('"')] = value.strip()
    return result


_NONE: MappingProxyType[str, str] = MappingProxyType({})


def of(text: str) -> MappingProxyType[str, str]:
    """All attributes of an operation's head or tail: those before its types."""
    return _of(text) if "{" in text else _NONE


@lru_cache(types.MOST)
def _of(text: str) -> MappingProxyType[str, str]:
    before_types = types.split(text, " : ")[0]
    result: dict[str, str] = {}
    for start, end in dictionaries(before_types):
        result.update(fields(before_types[start:end]))
    return MappingProxyType(result)


def scalar(text: str) -> Scalar:
    """``16 : i32`` as 16, ``"cuda:90"`` as its text, ``true`` and a unit attribute as True, else the text."""
    if text in ("true", ""):
        return True
    if text == "false":
        return False
    if match := _INTEGER.match(text):
        return int(match[1])
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    return text


def integer(attributes: Mapping[str, str], name: str) -> int | None:
    """An integer attribute, or None."""
    value = scalar(attributes[name]) if name in attributes else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def plain(text: str) -> str:
    """A value for people: ``16 : i32`` as ``16``, ``array<i32: 1, 0>`` as ``[1, 0]``."""
    if match := _INTEGER.match(text):
        return match[1]
    if match := _LIST.match(text):
        return f"[{match[1] or ''}]"
    return text


def in_order(text: str) -> tuple[str, str]:
    """Text with the attribute dictionaries in it sorted by key, and the keys in the order they had.

    The keys are ``""`` where the order was that already; dictionaries after ``<`` keep their order.
    """
    pieces: list[str] = []
    orders: list[str] = []
    position = 0
    for start, end in dictionaries(text):
        entries = types.split(text[start + 1 : end - 1])
        keyed = [(match[0].strip('"'), entry) for entry in entries if (match := _KEY.match(entry))]
        if len(keyed) != len(entries) or keyed == sorted(keyed) or text[:start].endswith("<"):
            continue
        keys = " ".join(key for key, _ in keyed)
        orders.append(f"{keys} {_WORD.sub('', text[start:end])}")
        pieces += [text[position:start], "{", ", ".join(entry for _, entry in sorted(keyed)), "}"]
        position = end
    pieces.append(text[position:])
    return "".join(pieces), "; ".join(orders)
