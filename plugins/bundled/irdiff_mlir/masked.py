"""Lines of a text with the names of their values and locations masked: what follows from that is found once for each.

Lines repeat from kernel to kernel but for such names. They are masked in all of a text at once.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from irdiff_mlir import forms, shapes
from irdiff_mlir.forms import Form

VALUE = re.compile(r"(%(?:[0-9]+|[A-Za-z_][A-Za-z0-9_$.-]*)(?![\w$.-]))")
"""A name of a value as the printer writes it, where no string can be."""
CARRIES = "\0"
"""Stands for the one location that ends a line; no text that is read by lines has one."""
_TRAILING = re.compile(r" loc\((#loc\d*|unknown)\)$", re.MULTILINE)


class Line(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """A line with its names masked, and what follows from that alone."""

    form: Form | None = None
    """Of a line that is one operation; what else is set says the rest of other lines."""
    results: int = 0
    """How many of the names come before the head of the operation."""
    names: int
    located: bool
    space: str = ""
    """White space of the line, as the digest of white space has it."""
    kind: int = shapes.OTHER
    body: str = ""
    """Without indentation and location; ``""`` where the line is to be looked at by itself."""


def split(text: str) -> tuple[list[str], tuple[str, ...], list[str]]:
    """The masked lines of an ASCII text, all names, and all locations that end a line, in order."""
    pieces = _TRAILING.split(text)
    carried = pieces[1::2]
    pieces = VALUE.split(CARRIES.join(pieces[::2]))
    return forms.MASK.join(pieces[::2]).split("\n"), tuple(pieces[1::2]), carried


@lru_cache(forms.MOST)
def line(masked: str) -> Line:
    """What a line is, whatever its values and its location are called."""
    located = masked[-1:] == CARRIES
    plain = masked[:-1] if located else masked
    body = plain.lstrip(" ")
    names = masked.count(forms.MASK)
    if not body or body[0] in "#!" or '"' in body or "loc(" in body or "//" in body:
        return Line(names=names, located=located)
    found = shapes.shape(body)
    space = plain[: len(plain) - len(body)] + found.spaces
    if found.form is None:
        return Line(names=names, located=located, space=space, kind=found.kind, body=body)
    return Line(
        form=found.form, results=len(found.form.results), names=names, located=located, space=space, body=body
    )
