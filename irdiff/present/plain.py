"""The terminal's text without a terminal: what rich writes to a pipe, without importing rich.

rich takes as long to import as a small comparison. A pipe has no colours, and what is left is wrapping words as rich
13 to 15 do it (``_wrap.divide_line``) and columns that have room. Text that needs more than that (wide characters, rows
that must fold) is left to rich; a test holds the two to the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from irdiff.present.view import Block, View
from irdiff.present.wording import one_line

_WORD = re.compile(r"\s*\S+\s*")
_NARROW = frozenset("·→…—≤≥≡²³µ°±")
"""Characters beyond ASCII that take one column on every terminal."""
PIPED_WIDTH = 120
"""Columns where the output is not a terminal and COLUMNS is not set."""
GAP = 2
"""Blanks between columns, and before everything but the headline."""
LEAST = 8
"""Columns that text needs to be worth wrapping."""


class TooMuchError(Exception):
    """The text needs rich."""


def piped_width(environment: Mapping[str, str]) -> int:
    """Columns where the output is no terminal: COLUMNS where that is set and sensible."""
    named = environment.get("COLUMNS", "")
    return int(named) if named.isdecimal() and 20 <= int(named) <= 1000 else PIPED_WIDTH


def plain(view: View, width: int | None = None) -> str | None:
    """The view as plain text; None where rich has to write it."""
    try:
        return "".join(f"{line.rstrip(' ')}\n" for line in _lines(view, width or PIPED_WIDTH))
    except TooMuchError:
        return None


def _lines(view: View, width: int) -> Iterator[str]:
    yield from _headline(one_line(view.subject), view.verdict, width)
    for paragraph in view.paragraphs:
        yield from _indented(one_line(paragraph), width)
    for block in view.blocks:
        yield from _block(block, width)
    if view.hunks:
        yield ""
    for row in view.hunks:
        yield _known(one_line(row.text))
    if view.issues:
        yield ""
        for line in view.issues:
            yield from _indented(one_line(line), width)
    for line in view.footer:
        yield from _indented(one_line(line), width)


def _block(block: Block, width: int) -> Iterator[str]:
    yield ""
    if block.title:
        yield from _indented(one_line(block.title), width)
    yield from _indented(one_line(block.sentence), width)
    if block.rows:
        yield ""
        yield from _rows(block, width - GAP)
    if block.more:
        yield from _indented(f"and {block.more:,} more: --all shows them", width)
    if block.stages:
        yield ""
        yield from _indented(one_line(block.stages), width)


def _headline(subject: str, verdict: str, width: int) -> Iterator[str]:
    room = width - len(_known(verdict)) - GAP
    if room < LEAST:
        raise TooMuchError
    for number, line in enumerate(wrapped(subject, room)):
        yield f"{line:<{room + GAP}}{verdict}" if not number else line


def _indented(text: str, width: int) -> Iterator[str]:
    for line in wrapped(text, width - GAP):
        yield " " * GAP + line


def _rows(block: Block, width: int) -> Iterator[str]:
    codes = any(row.codes for row in block.rows)
    table = [
        [
            row.effect,
            *([row.codes] if codes else []),
            one_line(row.title),
            one_line(row.change + (f"   {row.place}" if row.place else "")),
        ]
        for row in block.rows
    ]
    widths = _widths(table, width)
    for cells in table:
        line = (" " * GAP).join(f"{cell:<{size}}" for cell, size in zip(cells, widths, strict=True))
        yield " " * GAP + line


def _widths(table: Sequence[Sequence[str]], width: int) -> list[int]:
    """Columns of text for each cell."""
    natural = [max(len(_known(cell)) for cell in column) for column in zip(*table, strict=True)]
    if sum(natural) + GAP * (len(natural) - 1) > width:
        raise TooMuchError  # which columns give way, and how far, is rich's to say
    return natural


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` columns, broken between words; a longer word is cut."""
    if width < LEAST and len(_known(text)) > width:
        raise TooMuchError
    _known(text)
    breaks: list[int] = []
    used = 0
    for found in _WORD.finditer(text):
        start, word = found.start(), found.group()
        length = len(word.rstrip())
        if width - used >= length:
            used += len(word)
        elif length > width:
            while True:
                if start:
                    breaks.append(start)
                rest = len(word) - width
                if rest <= 0:
                    used = len(word)
                    break
                start += width
                word = word[width:]
        elif used and start:
            breaks.append(start)
            used = len(word)
    edges = [0, *breaks, len(text)]
    return [text[edges[at] : edges[at + 1]].rstrip(" ") for at in range(len(edges) - 1)]


def _known(text: str) -> str:
    """The text, where every character of it takes one column."""
    if text.isascii():
        if "\t" in text or "\n" in text or "\r" in text:
            raise TooMuchError
        return text
    if all((letter.isascii() and letter.isprintable()) or letter in _NARROW for letter in text):
        return text
    raise TooMuchError
