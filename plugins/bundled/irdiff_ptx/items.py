"""Items of a PTX file: its instructions, directives, labels and braces, in columns.

An instruction that is one whole line is that line; another statement is its own text. A mark, which is no instruction,
is its opcode with its text right behind it. The shape of each says where its parts stand: what nobody asks for is not
cut out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, compress
from typing import TypeAlias, TypeVar

import msgspec

from irdiff_ptx.shapes import LABELS, MARKS, NOWHERE, WHOLE, Shape, place

_T = TypeVar("_T")

Item: TypeAlias = tuple[int, str, str, str]
"""(line from 1, guard such as ``@!%p1``, opcode, operands), with ``""`` for what is not there. A mark has as opcode
``{``, ``}``, ``:`` (label), ``?`` (not understood), or a directive's first word with its dot."""
Extra: TypeAlias = tuple[int, str, Shape]
"""(line from 1, text, shape) of an item that is not one whole line."""


class Items(msgspec.Struct, frozen=True, kw_only=True):
    """The items of a file in the order of the text."""

    numbers: tuple[int, ...]
    """Of each the line that it begins on, from 1."""
    texts: tuple[str, ...]
    shapes: tuple[Shape, ...]
    flags: bytes
    """Those of the shapes."""
    opcodes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> Item:
        text, shape = self.texts[index], self.shapes[index]
        return self.numbers[index], text[shape.guard], self.opcodes[index], text[shape.operands]

    def operands_at(self, index: int) -> str:
        """The operands of one item."""
        return self.texts[index][self.shapes[index].operands]

    def operands(self, part: slice) -> list[str]:
        """The operands of items that follow one another."""
        pairs = zip(self.texts[part], self.shapes[part], strict=True)
        return [text[shape.operands] for text, shape in pairs]

    def guards(self, part: slice) -> list[str]:
        """The guards of items that follow one another."""
        pairs = zip(self.texts[part], self.shapes[part], strict=True)
        return [text[shape.guard] for text, shape in pairs]

    def where(self, flags: int) -> list[int]:
        """The places of the items that have one of ``flags``, which few have."""
        has = self.flags.translate(having(flags))
        found: list[int] = []
        index = has.find(1)
        while index >= 0:
            found.append(index)
            index = has.find(1, index + 1)
        return found

    def spans(self, parts: Sequence[slice]) -> list[tuple[int, int]]:
        """First and last line of each part."""
        return [
            (self.numbers[part.start], self.numbers[part.stop - 1])
            for part in parts
            if part.start < part.stop
        ]

    def are_alone(self, parts: Sequence[slice]) -> bool:
        """Whether no item outside of some parts shares a line with one inside."""
        edges = {edge for part in parts for edge in (part.start, part.stop)} - {0, len(self)}
        return all(self.numbers[edge - 1] < self.numbers[edge] for edge in edges)

    def within(self, parts: Sequence[slice]) -> Items:
        """The items of some parts."""
        return Items(
            numbers=_joined(self.numbers, parts),
            texts=_joined(self.texts, parts),
            shapes=_joined(self.shapes, parts),
            flags=bytes(_joined(self.flags, parts)),
            opcodes=_joined(self.opcodes, parts),
        )


def _joined(column: Sequence[_T], parts: Iterable[slice]) -> tuple[_T, ...]:
    return tuple(chain.from_iterable([column[part] for part in parts]))


@lru_cache(maxsize=256)
def having(flags: int) -> bytes:
    """A table for ``translate``: whether a byte has one of ``flags``."""
    return bytes(each & flags != 0 for each in range(256))


def mark(number: int, opcode: str, text: str = "") -> Extra:
    """An item that is no instruction."""
    return number, opcode + text, _mark_shape(len(opcode), len(text))


@lru_cache(maxsize=1024)
def _mark_shape(opcode: int, text: int) -> Shape:
    where = place(opcode, opcode + text) if text else NOWHERE
    return Shape(flags=MARKS, opcode=place(0, opcode), operands=where)


def items_of(lines: Sequence[str], shapes: Sequence[Shape], kinds: bytes, extras: Sequence[Extra]) -> Items:
    """Those lines that are an item each, as ``kinds`` says, and what stands between them, in the order of the text."""
    is_item = bytearray(kinds.translate(having(WHOLE | LABELS)).rstrip(b"\0"))
    last = max(len(is_item), extras[-1][0] if extras else 0)  # most debug sections stand behind
    is_item += bytes(last - len(is_item))
    texts, found = [*lines[:last]], [*shapes[:last]]
    more: list[Extra] = []
    for extra in extras:
        number, text, shape = extra
        if is_item[number - 1]:
            more.append(extra)
        else:
            is_item[number - 1] = 1
            texts[number - 1] = text
            found[number - 1] = shape
    numbers = [*compress(range(1, last + 1), is_item)]
    texts, found = [*compress(texts, is_item)], [*compress(found, is_item)]
    if more:
        cuts = [bisect_right(numbers, extra[0]) for extra in more]
        numbers = _spliced(numbers, cuts, [extra[0] for extra in more])
        texts = _spliced(texts, cuts, [extra[1] for extra in more])
        found = _spliced(found, cuts, [extra[2] for extra in more])
    return Items(
        numbers=tuple(numbers),
        texts=tuple(texts),
        shapes=tuple(found),
        flags=bytes([shape.flags for shape in found]),
        opcodes=tuple([text[shape.opcode] for text, shape in zip(texts, found, strict=True)]),
    )


def _spliced(column: Sequence[_T], cuts: Sequence[int], extras: Sequence[_T]) -> list[_T]:
    """A column with more in it, each in front of what stands at its place."""
    found: list[_T] = []
    done = 0
    for cut, extra in zip(cuts, extras, strict=True):
        if cut > done:
            found += column[done:cut]
            done = cut
        found.append(extra)
    found += column[done:]
    return found
