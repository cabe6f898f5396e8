"""Canonical spelling of a text whatever its module: old names folded, dictionaries sorted, cut at its names.

All of it follows from the text alone, so it is made once for all operations and kernels that share the text.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from irdiff_mlir import attributes, drift, forms
from irdiff_mlir.forms import Form

_TOKEN = re.compile(
    r'@"[^"\\]*(?:\\.[^"\\]*)*"?|"[^"\\]*(?:\\.[^"\\]*)*"?|@[\w$.-]+|%[\w$.-]+|\^[\w$.-]+'
    r"|#(?<![\w.]#)[A-Za-z_][\w$-]*(?![\w.<])|!(?<![\w.]!)[A-Za-z_][\w$-]*(?![\w.<])"
)
_PRINTED = {registered: printed for printed, registered in drift.BARE.items()}

USE, DEFINE = "use", "define"
"""How a name is treated: as what it means, or as one that begins here; a block's slot is its name."""

Erasures = tuple[tuple[str, tuple[str, ...]], ...]
"""(normalisation, what it took away)."""


@lru_cache(forms.MOST)
def fold(text: str) -> tuple[str, tuple[str, ...]]:
    """A text in its newest spelling, and the older spellings in it if it had another."""
    folded = drift.text(text)
    for default in drift.RELEASE_DEFAULTS:
        folded = folded.replace(f", {default}", "").replace(f"{default}, ", "")
    return folded, tuple(drift.old_spellings(text)) if folded != text else ()


class Begun(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An operation with its old spellings as far as they go by its name."""

    shown: str
    """What stands before the head."""
    head: str
    erased: Erasures
    movable: bool


@lru_cache(forms.MOST)
def begun(form: Form, folds: bool) -> Begun:  # noqa: FBT001
    """Name and head of all operations of one form; ``folds``: old spellings become the newest ones."""
    name = form.name if folds else form.written
    shown = f'"{name}"' if form.generic else _PRINTED.get(name, name)
    erased: list[tuple[str, tuple[str, ...]]] = []
    if name != form.written:
        erased.append(("dialect-renames", (form.written,)))
    head = form.text
    if folds:
        folded = drift.head(form.written, head)
        if folded != head:
            erased.append(("dialect-renames", (form.written, *drift.old_spellings(head))))
            head = folded
    movable = "{" in head and any("%" in head[start:end] for start, end in attributes.dictionaries(head))
    joined = "" if not head or head[0] == "(" else " "
    return Begun(shown=shown + joined, head=head, erased=tuple(erased), movable=movable)


class Spelled(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A text with old spellings folded and dictionaries sorted, whatever its module."""

    pieces: tuple[str, ...]
    """The text with ``%s`` for names of values and blocks, cut at the references."""
    references: tuple[str, ...]
    """What may stand for something else in a module: aliases and names of functions."""
    names: tuple[str, ...]
    """Names of values."""
    slots: tuple[str, ...] | None
    erased: Erasures


@lru_cache(forms.MOST)
def spelled(text: str, folds: bool, sorts: bool) -> Spelled:  # noqa: FBT001
    """A text with old spellings folded and attribute dictionaries sorted, as far as asked for."""
    erased: list[tuple[str, tuple[str, ...]]] = []
    if folds:
        text, spellings = fold(text)
        if spellings:
            erased.append(("dialect-renames", spellings))
    if sorts and "{" in text and ", " in text:
        text, order = attributes.in_order(text)
        if order:
            erased.append(("attribute-order", (order,)))
    pieces = [""]
    references: list[str] = []
    names: list[str] = []
    slots: list[str] = []
    position = 0
    for match in _TOKEN.finditer(text):
        word, end = match[0], match.end()
        pieces[-1] += text[position : match.start()].replace("%", "%%")
        position = end
        if word[0] == "%":
            names.append(word)
            slots.append(DEFINE if text.startswith((": ", " = "), end) else USE)
            pieces[-1] += "%s"
        elif word[0] == "^":
            slots.append(word)
            pieces[-1] += "%s"
        elif word[0] == '"':
            pieces[-1] += word.replace("%", "%%")
        else:
            references.append(word)
            pieces.append("")
    pieces[-1] += text[position:].replace("%", "%%")
    return Spelled(
        pieces=tuple(pieces),
        references=tuple(references),
        names=tuple(names),
        slots=None if all(slot == USE for slot in slots) else tuple(slots),
        erased=tuple(erased),
    )


class Template(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """The text of all operations of one form."""

    text: str
    """With ``%s`` for every name of a value or block."""
    slots: tuple[str, ...] | None = None
    """For each name how it is treated; None where all are used or, if unknown, defined."""
    erased: Erasures = ()
    movable: bool = False
    """Names stand in attribute dictionaries, which are sorted: the text is then that before the head alone."""
    plain: bool = False
    """Whether it takes no more than names to fill it."""


@lru_cache(forms.MOST)
def template(form: Form, folds: bool, sorts: bool) -> tuple[Template, Spelled | None]:  # noqa: FBT001
    """The template of a form; where its head refers to what a module defines, the part before that, and the head."""
    start = begun(form, folds)
    if start.movable:
        return Template(text=start.shown, erased=start.erased, movable=True), None
    shown = start.shown.replace("%", "%%")
    if not start.head:
        return Template(text=shown, erased=start.erased, plain=not start.erased), None
    found = spelled(start.head, folds, sorts)
    erased = start.erased + found.erased
    if found.references:
        return Template(text=shown, slots=found.slots, erased=erased), found
    plain = found.slots is None and not erased
    return Template(text=shown + found.pieces[0], slots=found.slots, erased=erased, plain=plain), None
