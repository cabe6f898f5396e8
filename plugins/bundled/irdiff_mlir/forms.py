"""What operations that differ in the names of their values alone have in common, read once for all of them.

A kernel has thousands of operations and a folder of kernels a few hundred forms: ``arith.addi %v, %v : i32``. What
follows from a form alone (its attributes, its types as written, where its operands stand) is found once for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from irdiff_mlir import drift

MASK = "%v"
"""Stands for the name of any value."""
MOST = 8192
"""Entries of each table of texts read before: some megabytes, a hundred times what one kernel needs."""
LONGEST = 4_096
"""Characters of a text that is remembered; a longer one is read each time."""

_VALUE = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*"?)|(%[\w$.-]+)')
_NAME = re.compile(r"(%[\w$.-]+)")
_NUMBER = re.compile(r"#(\d{1,9})")
_BEFORE_QUOTED = ("<", "{", " : ", "->")
"""What begins types and attributes: in the printer's text names rarely follow."""


class Form(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """An operation without the names of its values; compared by identity."""

    name: str
    """Registered name in the newest dialect's spelling."""
    written: str
    """Registered name as this release spells it."""
    generic: bool
    results: tuple[int, ...]
    """For each name it defines, how many values that stands for."""
    text: str
    """The head with :data:`MASK` for every name; with the names themselves where :attr:`quoted`."""
    pieces: tuple[str, ...]
    """The head, cut at the names of values: one piece more than there are names."""
    numbers: tuple[int, ...]
    """For each name in the head which of its values is used: ``%x#1``."""
    numbered: bool
    """Whether any of them is not the first."""
    quoted: bool
    """Whether a name stands where only types and attributes do, which facts quote: the text is damaged, or odd."""


def masked(text: str) -> tuple[str, tuple[str, ...]]:
    """Text with :data:`MASK` for every name of a value, and the names in order; strings are left alone."""
    if '"' not in text:
        pieces = _NAME.split(text)
        return MASK.join(pieces[::2]), tuple(pieces[1::2])
    names: list[str] = []

    def mask(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        names.append(match[2])
        return MASK

    return _VALUE.sub(mask, text), tuple(names)


def joined(pieces: Sequence[str], between: Sequence[str]) -> str:
    """Pieces with one text in each gap between them."""
    if not between:
        return pieces[0]
    parts = [""] * (2 * len(pieces) - 1)
    parts[::2] = pieces
    parts[1::2] = between
    return "".join(parts)


def form(name: str, results: tuple[int, ...], text: str, *, generic: bool) -> Form:
    """The form of an operation: printed name, how many values its results stand for, its masked head."""
    if len(text) > LONGEST:
        return _made(name, results, text, generic)
    return _form(name, results, text, generic)


def named(form: Form, values: tuple[str, ...]) -> Form:
    """The form of one operation alone where its names may be quoted: no :data:`MASK` is to be told as a name."""
    text = joined(form.pieces, values)
    return form if text == form.text else msgspec.structs.replace(form, text=text)


def _made(name: str, results: tuple[int, ...], text: str, generic: bool) -> Form:  # noqa: FBT001
    written = drift.registered(name)
    pieces = _pieces(text)
    numbers = tuple([_number(piece) if piece[:1] == "#" else 0 for piece in pieces[1:]])
    position = len(text) - len(pieces[-1])
    return Form(
        name=drift.operation(written),
        written=written,
        generic=generic,
        results=results,
        text=text,
        pieces=pieces,
        numbers=numbers,
        numbered=any(numbers),
        quoted=len(pieces) > 1
        and (written == "arith.constant" or any(mark in text[:position] for mark in _BEFORE_QUOTED)),
    )


_form = lru_cache(MOST)(_made)


def _number(piece: str) -> int:
    """``#1`` behind a name: which of its values is meant."""
    match = _NUMBER.match(piece)
    return int(match[1]) if match else 0


def _pieces(text: str) -> tuple[str, ...]:
    """A masked text, cut at the names."""
    if '"' not in text:
        return tuple(text.split(MASK))
    pieces: list[str] = []
    position = 0
    for match in _VALUE.finditer(text):
        if match[2] is not None:
            pieces.append(text[position : match.start()])
            position = match.end()
    return (*pieces, text[position:])
