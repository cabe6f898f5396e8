"""One canonical text with its names masked: what its lines look like whatever the names are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["same", "changed", "removed", "added", "order"]
"""``order``: the same lines on both sides, in another order."""

NAME = "\x01"
"""Stands for a name in a masked line: no artifact's line holds it."""
ANNOTATION = "  "
"""What follows it in a line (the control word of a machine instruction) is compared, and aligns nothing."""
_OPERAND = re.compile(NAME + r"|[(\[{,<\"]| -?\d")
_RESULTS = re.compile(rf"{NAME}[{NAME}:, \d]* = ")


class Step(NamedTuple):
    """Half-open ranges of lines of both sides that belong together; one line a side but for ``order``."""

    kind: Kind
    before: tuple[int, int]
    after: tuple[int, int]


class Side:
    """One text, prepared: its lines masked, and the names of each line in order."""

    def __init__(self, lines: Sequence[str], name: re.Pattern[str]) -> None:
        self.lines = lines
        self.names = [name.findall(line.replace(NAME, "?")) for line in lines]
        self.parts = [name.split(line.replace(NAME, "?")) for line in lines]
        self.whole = [NAME.join(parts).strip() for parts in self.parts]
        self.masked = [line.partition(ANNOTATION)[0] for line in self.whole]

    @cached_property
    def keys(self) -> list[str]:
        """The opcode of each line."""
        return [self.key(index) for index in range(len(self.lines))]

    def key(self, index: int) -> str:
        """The opcode: the text up to the first operand."""
        text = self.masked[index]
        results = _RESULTS.match(text)
        if results is not None:
            text = text[results.end() :]
        guard = ""
        if text.startswith("@") and NAME in text.partition(" ")[0]:
            guard, _, text = text.partition(" ")
            guard = "@ "
        operand = _OPERAND.search(text)
        head = text[: operand.start()] if operand is not None else text
        return f"{guard}{head.strip()}" if head.strip() else text

    @cached_property
    def assigns(self) -> bool:
        """Whether each name is given once, by ``name = ``; else names are registers, written again and again."""
        return any(_RESULTS.match(text) for text in self.masked)

    def opens_function(self, index: int) -> bool:
        """Whether names start anew here."""
        text = self.masked[index]
        return text.endswith("{") and "@" in text and _RESULTS.match(text) is None

    def is_label(self, index: int) -> bool:
        """Whether the line names a place to branch to."""
        return self.masked[index].startswith(NAME) and self.masked[index].endswith(":")

    def defined(self, index: int) -> frozenset[int]:
        """Which of the line's names it defines; where names are registers, those of its first operand."""
        text = self.masked[index]
        if self.opens_function(index):
            return frozenset(range(len(self.names[index])))
        if self.is_label(index):
            return frozenset({0} | _declared(text))
        if self.assigns:
            results = _RESULTS.match(text)
            count = results.group().count(NAME) if results is not None else 0
            return frozenset({*range(count), *_declared(text)})
        first = text.find(NAME)
        if first < 0 or "[" in text[:first] or text.startswith("@"):
            return frozenset()  # what a guarded instruction writes may keep its value: it is checked as a use
        group = text.rfind("{", 0, first)
        end = text.find("}", first) if group >= 0 else -1
        return frozenset(range(text.count(NAME, first, end) if end > 0 else 1))


def _declared(text: str) -> set[int]:
    """Names with a type or a value of their own: arguments of blocks and loops."""
    parts = text.split(NAME)[1:]
    return {at for at, rest in enumerate(parts) if rest.startswith((": ", " = "))}
