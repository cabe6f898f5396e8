"""Reads PTX text as items: instructions, directives, labels and braces, each with its line.

A line that is one whole instruction, which nearly every line is, is an item as it stands, and its shape says where its
parts are (:mod:`irdiff_ptx.shapes`): such lines are taken many at a time. All else goes through
:class:`irdiff_ptx.assembler.Assembler`. Lines of debug sections, a quarter of a file, are not looked at here.
"""

from __future__ import annotations

import re
from itertools import compress

import msgspec

from irdiff.api import ParseError, text_of
from irdiff_ptx.assembler import Assembler
from irdiff_ptx.items import Items, having, items_of
from irdiff_ptx.shapes import (
    BEGIN,
    BEGINS,
    END,
    ENDS,
    LABELS,
    LOCATES,
    MARKS,
    OTHER,
    PART,
    WHOLE,
    Shape,
    blind,
    shapes_of,
)

_BLOCK_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SECTION = "\n\t.section\t.debug_"  # as LLVM begins one
_UNREAD = Shape()
"""Of a line inside a debug section."""


def _any_of(kinds: int) -> re.Pattern[bytes]:
    return re.compile(b"[%s]" % re.escape(bytes(kind for kind in range(256) if kind & kinds)))


_ODD = _any_of(PART | OTHER)
_BEGINNING, _ENDING = having(BEGINS), having(ENDS)
_SAYING = _any_of(WHOLE | LABELS | PART | OTHER)
"""Lines that belong to a statement where one has begun."""


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """A PTX file as items in the order of the text."""

    lines: tuple[str, ...]
    shapes: tuple[Shape, ...]
    """The shape of each line."""
    items: Items
    marks: tuple[int, ...]
    """The places of the items that are no instructions."""
    files: tuple[int, ...]
    """The lines with ``.file``, from 1."""
    locations: tuple[int, ...]
    """The lines with ``.loc``, from 1."""
    sections: tuple[tuple[int, int], ...]
    """First and last line of each debug section."""
    truncated: int | None
    """The line where the text ends inside something, else None."""
    damage: tuple[str, int] | None
    """What no text holds (a NUL, bytes that are no UTF-8) in words, and the line of the first; else None."""
    open_assembly: int | None
    """The first line ``// begin inline asm`` that no ``// end inline asm`` follows before the next, else None."""


def read(data: bytes) -> Listing:
    """Split a PTX file. Raises ParseError where the bytes are no PTX at all."""
    text, damage = text_of(data)
    if "*" in text and "/*" in text:
        text = _BLOCK_COMMENT.sub(lambda found: " " + "\n" * found.group().count("\n"), text)
    return _Reading(text, damage).listing()


class _Reading:
    """Goes through a text from the front, a stretch between debug sections at a time."""

    def __init__(self, text: str, damage: tuple[str, int] | None) -> None:
        self._text = text
        self._damage = damage
        self._lines = lines = text.split("\n")
        self._assembler = Assembler(lines)
        self._shapes: list[Shape] = []
        self._kinds = bytearray()
        self._start = 0
        """Where the line begins that comes next."""
        self._framed = 0
        """How many more blocks of inline assembly begin than end."""
        self._last_frame = text.rfind(" inline asm\n")
        while len(self._kinds) < len(lines):
            section = text.find(_SECTION, max(self._start - 1, 0))
            if section >= self._start or section < 0:
                self._take(section if section >= 0 else len(text))
            elif not self._assembler.skip_section(len(self._kinds) + 1):
                end = text.find("\n", self._start)
                self._take(end if end >= 0 else len(text))
            if self._assembler.resume > len(self._kinds) + 1:
                self._skip(min(self._assembler.resume - 1, len(lines)))

    def _skip(self, last: int) -> None:
        """Lines up to one inside a debug section are not looked at."""
        first, text = len(self._kinds), self._text
        if self._lines[last - 1] == "\t}" and last < len(self._lines):
            end = text.index("\n\t}\n", max(self._start - 1, 0)) + len("\n\t}\n")
        else:
            end = self._start + sum(map(len, self._lines[first:last])) + last - first
        if self._start <= self._last_frame:
            self._framed += text.count(f"{BEGIN}\n", self._start, end)
            self._framed -= text.count(f"{END}\n", self._start, end)
        self._shapes += [_UNREAD] * (last - first)
        self._kinds += bytes(last - first)
        self._start = end

    def _take(self, end: int) -> None:
        """The lines up to a place in the text."""
        first = len(self._kinds)
        shapes = shapes_of(blind(self._text[self._start : end]).split("\n"))
        self._shapes += shapes
        kinds = bytes([shape.kind for shape in shapes])
        self._kinds += kinds
        self._framed += kinds.translate(_BEGINNING).count(1) - kinds.translate(_ENDING).count(1)
        self._assemble(first)
        self._start = end + 1

    def _assemble(self, first: int) -> None:
        """Hand all lines from ``first`` on that are no item as they stand to the assembler, and clear their kinds."""
        assembler, kinds, pending = self._assembler, self._kinds, self._assembler.pending
        while found := (_SAYING if pending else _ODD).search(kinds, first):
            index = found.start()
            first = index + 1
            kind, line = kinds[index], self._lines[index]
            if kind & WHOLE and _stands_alone(line[self._shapes[index].opcode], assembler):
                continue
            kinds[index] = 0
            if pending and kind & PART:
                pending += line, " "
                while first < len(kinds) and kinds[first] == PART:
                    kinds[first] = 0
                    pending += self._lines[first], " "
                    first += 1
                continue
            assembler.feed(first, line)
            if assembler.resume > first + 1:
                end = min(assembler.resume - 1, len(kinds))
                kinds[first:end] = bytes(end - first)
                first = end

    def listing(self) -> Listing:
        """What was read. Raises ParseError where it is no PTX at all."""
        assembler, lines, kinds = self._assembler, self._lines, self._kinds
        is_open = bool("".join(assembler.pending).strip())
        if is_open:
            assembler.drop()
        items = items_of(lines, self._shapes, bytes(kinds), assembler.extras)
        marks = items.where(MARKS)
        heads = {items.opcodes[index] for index in marks}
        if not heads & {".version", ".target", ".entry"}:
            hint = "a PTX file begins with .version and .target; is the file what its name says?"
            raise ParseError("this is no PTX: no .version, .target or .entry directive", line=1, hint=hint)
        truncated: int | None = None
        if is_open:
            truncated = assembler.start
        elif assembler.depth > 0 or assembler.unclosed_section or "{" not in heads:
            truncated = len(lines)
        is_loc = kinds.translate(having(LOCATES)).rstrip(b"\0")
        locations = tuple(compress(range(1, len(is_loc) + 1), is_loc))
        if assembler.locations:
            locations = tuple(sorted((*assembler.locations, *locations)))
        is_framed_wrong = self._framed != lines[-1].endswith(BEGIN) - lines[-1].endswith(END)
        return Listing(
            lines=tuple(lines),
            shapes=tuple(self._shapes),
            items=items,
            marks=tuple(marks),
            files=tuple(assembler.files),
            locations=locations,
            sections=tuple(assembler.sections),
            truncated=truncated,
            damage=self._damage,
            open_assembly=_open_assembly(lines) if is_framed_wrong else None,
        )


def _stands_alone(opcode: str, assembler: Assembler) -> bool:
    """A whole instruction after an unfinished one: the unfinished one lost its ``;`` (unless it is a call)."""
    unfinished = "".join(assembler.pending).split(None, 1)
    if not unfinished or unfinished[0].startswith("call") or "." not in opcode:
        return not unfinished
    assembler.drop()
    return True


def _open_assembly(lines: list[str]) -> int | None:
    """LLVM frames each block of inline assembly with two comments; one without the other is a damaged file."""
    begun: int | None = None
    marks = [(number, line) for number, line in enumerate(lines, 1) if line.endswith(" inline asm")]
    for number, line in marks:
        mark = line.strip()
        if mark == BEGIN:
            if begun is not None:
                return begun
            begun = number
        elif mark == END:
            begun = None
    return begun
