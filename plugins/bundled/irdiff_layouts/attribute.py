"""Reads the text of a layout attribute, in the spelling of any Triton release, into names and values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from irdiff_layouts.linear import LayoutError

_TOKEN = re.compile(r"\s*(#?[A-Za-z_][\w.]*|-?\d+|:\+|[\[\]{}<>,=])", re.ASCII)
_DEEPEST = 24
_LONGEST = 20_000

Value: TypeAlias = "int | bool | str | tuple[Value, ...] | dict[str, Value] | Layout"
"""What stands right of an equals sign."""


@dataclass(frozen=True)
class Layout:
    """``#ttg.blocked<{sizePerThread = [1, 8], ...}>``."""

    kind: str
    """Name without its dialect: ``blocked``."""
    fields: dict[str, Value]
    """Parameters by name; intervals of ``padded_shared`` are under ``padding``, as pairs."""

    def numbers(self, name: str) -> tuple[int, ...]:
        """A list of numbers. Raises LayoutError where there is none."""
        value = self.fields.get(name)
        if isinstance(value, tuple):
            found = tuple(item for item in value if isinstance(item, int) and not isinstance(item, bool))
            if len(found) == len(value):
                return found
        raise LayoutError(f"{self.kind} without the numbers {name}")

    def rows(self, name: str) -> tuple[tuple[int, ...], ...]:
        """A list of lists of numbers; empty where it is not given. Raises LayoutError where it is something else."""
        return rows(self.fields.get(name, ()), name)

    def number(self, name: str, default: int | None = None) -> int:
        """A number. Raises LayoutError where there is none and no default."""
        value = self.fields.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise LayoutError(f"{self.kind} without the number {name}")

    def flag(self, *names: str) -> bool:
        """Whether one of these is true; false where none is given."""
        return any(self.fields.get(name) is True for name in names)

    def layout(self, name: str) -> Layout:
        """A layout inside this one."""
        value = self.fields.get(name)
        if isinstance(value, Layout):
            return value
        raise LayoutError(f"{self.kind} without the layout {name}")


def rows(value: Value, name: str) -> tuple[tuple[int, ...], ...]:
    """A value as a list of lists of numbers. Raises LayoutError where it is none."""
    found: list[tuple[int, ...]] = []
    for row in value if isinstance(value, tuple) else ():
        if not isinstance(row, tuple):
            break
        numbers = tuple(item for item in row if isinstance(item, int) and not isinstance(item, bool))
        if len(numbers) != len(row):
            break
        found.append(numbers)
    if not isinstance(value, tuple) or len(found) != len(value):
        raise LayoutError(f"{name} is no list of bases")
    return tuple(found)


def parse(text: str) -> Layout:
    """The layout of a text with no alias in it. Raises LayoutError."""
    if len(text) > _LONGEST:
        raise LayoutError("a layout longer than any")
    reader = _Reader(text)
    found = reader.value(0)
    if not isinstance(found, Layout) or reader.peek():
        raise LayoutError("no layout")
    return found


class _Reader:
    """A cursor over the tokens."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise LayoutError(f"cannot read {text[position : position + 20]!r}")
            self.tokens.append(match[1])
            position = match.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise LayoutError(f"{token or 'the end'} where {expected or 'a value'} was expected")
        self.at += 1
        return token

    def value(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise LayoutError("layouts inside layouts, too deep")
        word = self.take()
        if word == "[":
            return self.list(depth)
        if word == "{":
            return self.dictionary(depth)
        if word.startswith("#"):
            return self.layout(word, depth)
        if word.lstrip("-").isdigit():
            return self.integer(word)
        if word in ("true", "false"):
            return word == "true"
        if word[0].isalpha():
            return word
        raise LayoutError(f"{word} where a value was expected")

    def integer(self, word: str) -> int:
        if len(word) > 18:
            raise LayoutError("a number larger than any")
        return int(word)

    def list(self, depth: int) -> Value:
        found: list[Value] = []
        while self.peek() != "]":
            item = self.value(depth + 1)
            if self.peek() == ":+":
                self.take()
                item = (item, self.value(depth + 1))
            found.append(item)
            if self.peek() != "]":
                self.take(",")
        self.take("]")
        return tuple(found)

    def dictionary(self, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        while self.peek() != "}":
            self.entry(found, depth)
            if self.peek() != "}":
                self.take(",")
        self.take("}")
        return found

    def entry(self, fields: dict[str, Value], depth: int) -> None:
        name = self.take()
        self.take("=")
        fields[name] = self.value(depth + 1)

    def layout(self, token: str, depth: int) -> Layout:
        fields: dict[str, Value] = {}
        if self.peek() == "<":
            self.take()
            while self.peek() != ">":
                if self.peek() == "[":
                    fields["padding"] = self.value(depth + 1)
                elif self.peek() == "{":
                    self.take()
                    fields.update(self.dictionary(depth + 1))
                else:
                    self.entry(fields, depth)
                if self.peek() == ",":
                    self.take()
            self.take(">")
        return Layout(token.rpartition(".")[2].lstrip("#"), fields)
