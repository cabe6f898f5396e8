"""Reads a text that is as the printer writes it, line by line, by the shapes of its lines.

A line that is anything else (damage, an operation over several lines, a constant with a page of elements) makes
:func:`read` return None: the whole text then goes through the parser, which finds the same in what both can read.
"""

from __future__ import annotations

import re

import msgspec

from irdiff_mlir import forms, lines, shapes
from irdiff_mlir.lines import Lines
from irdiff_mlir.model import Alias, Item, ItemKind, Location, LocationAlias, Operation

_VALUE = re.compile(r"(%(?:[0-9]+|[A-Za-z_][A-Za-z0-9_$.-]*)(?![\w$.-]))")
_MAX_DEPTH = 200
"""Regions deeper than this are left to the reader of damaged text."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What was read."""

    operations: tuple[Operation, ...]
    items: tuple[Item, ...]
    parts: Lines
    lines: int
    has_region: bool


class _Open(msgspec.Struct):
    """An operation whose last region has not ended."""

    index: int
    parent: int
    line: int
    texts: list[str]
    values: tuple[str, ...]
    places: list[int]
    """Where the items that begin its regions are."""


def read(text: str) -> Page | None:
    """The page; None where a line is not as the printer writes it."""
    if "\r" in text or not text.endswith("\n"):
        return None
    page = _Page()
    raw = text.split("\n")
    if not page.read(raw) or page.stack or not page.operations:
        return None
    return Page(
        operations=tuple(page.operations),  # type: ignore[arg-type]  # all ended, as the stack is empty
        items=tuple(page.items),
        parts=Lines(
            code=(),
            closed=(),
            aliases=tuple(page.aliases),
            location_definitions=tuple(page.definitions),
            locations=tuple(page.locations),
            comments=tuple(page.comments),
            spaces=tuple(page.spaces),
        ),
        lines=len(raw),
        has_region=page.has_region,
    )


class _Page:
    """The lines so far."""

    def __init__(self) -> None:
        self.operations: list[Operation | None] = []
        self.items: list[Item] = []
        self.aliases: list[Alias] = []
        self.definitions: list[LocationAlias] = []
        self.locations: list[Location] = []
        self.comments: list[tuple[int, str]] = []
        self.spaces: list[str] = []
        self.stack: list[_Open] = []
        self.ordinal = 0
        self.has_region = False

    def read(self, raw: list[str]) -> bool:  # noqa: C901  # the one hot loop: a call for each line costs a tenth
        """Whether every line was understood."""
        shape, split, add_location, add_space = (
            shapes.shape,
            _VALUE.split,
            self.locations.append,
            self.spaces.append,
        )
        add_operation, add_item, operations = self.operations.append, self.items.append, self.operations
        kind_operation = ItemKind.OPERATION
        parent = -1
        for number, line in enumerate(raw, 1):
            first = line[:1]
            if first == "#" or first == "!":
                if not self._definition(number, line):
                    return False
                continue
            trailing = ""
            plain = line
            if "loc(" in line or "//" in line:
                plain, found_location, trailing = line.rpartition(" loc(")
                if (
                    found_location
                    and trailing[-1:] == ")"
                    and "//" not in line
                    and lines.is_simple(trailing[:-1])
                    and " loc(" not in plain
                ):
                    trailing = trailing[:-1]
                    add_location(Location(line=number, trailing=trailing, ordinal=self.ordinal))
                else:
                    plain, trailing = self._take_apart(number, line)
                    if not plain:
                        continue
            body = plain.lstrip(" ")
            if not body:
                if plain:
                    return False
                if not line:
                    add_space("")
                continue
            self.ordinal += 1
            if '"' in body:
                masked, names = forms.masked(body)
            else:
                pieces = split(body)
                masked, names = forms.MASK.join(pieces[::2]), tuple(pieces[1::2])
            found = shape(masked)
            add_space(plain[: len(plain) - len(body)] + found.spaces)
            form = found.form
            if form is not None and len(body) <= forms.LONGEST:
                count = len(form.results)
                values = names[count:]
                if form.quoted:
                    form = forms.named(form, values)
                index = len(operations)
                add_operation(
                    Operation(
                        index=index,
                        name=form.name,
                        form=form,
                        line=number,
                        last=number,
                        parent=parent,
                        results=names[:count],
                        values=values,
                    )
                )
                add_item(Item(kind=kind_operation, operation=index, line=number))
            elif not self._structure(found.kind, number, body, masked, names, trailing):
                return False
            else:
                parent = self.stack[-1].index if self.stack else -1
        return True

    def _definition(self, number: int, line: str) -> bool:
        """Whether a line defines a location or another alias, which is then noted."""
        if line.startswith("#loc"):
            name, found, rest = line.partition(" = loc(")
            if not found or rest[-1:] != ")" or not lines.is_simple(name):
                return False
            self.definitions.append(LocationAlias(name=name, text=rest[:-1], ordinal=self.ordinal))
            return True
        alias = lines.alias(line, number, self.ordinal, len(self.definitions))
        if alias is None:
            return False
        self.aliases.append(alias)
        return True

    def _take_apart(self, number: int, line: str) -> tuple[str, str]:
        """Code and trailing location of a line with several locations, or with a comment."""
        plain, trailing, inner, comment = lines.take_apart(line)
        if comment:
            self.comments.append((self.ordinal, comment))
        if trailing or inner:
            self.locations.append(
                Location(line=number, trailing=trailing, inner=tuple(inner), ordinal=self.ordinal)
            )
        return plain, trailing

    def _structure(
        self, kind: int, number: int, body: str, masked: str, names: tuple[str, ...], trailing: str
    ) -> bool:
        """A line that is no whole operation; False where it cannot be read by itself."""
        if kind == shapes.OTHER or len(body) > forms.LONGEST or (trailing and kind != shapes.CLOSE):
            return False
        if kind == shapes.LABEL:
            if not self.stack:
                return False
            self.items.append(
                Item(kind=ItemKind.LABEL, operation=self.stack[-1].index, line=number, text=body)
            )
            return True
        if kind == shapes.OPEN:
            return self._begin(number, masked, names)
        if not self.stack:
            return False
        entry = self.stack[-1]
        entry.texts.append(masked)
        if kind == shapes.BETWEEN:
            entry.places.append(len(self.items))
            self.items.append(Item(kind=ItemKind.REGION, operation=entry.index, line=number))
            return True
        return self._end(number, self.stack.pop())

    def _begin(self, number: int, masked: str, names: tuple[str, ...]) -> bool:
        index = len(self.operations)
        parent = self.stack[-1].index if self.stack else -1
        self.operations.append(None)
        self.items.append(Item(kind=ItemKind.OPERATION, operation=index, line=number))
        self.stack.append(
            _Open(
                index=index,
                parent=parent,
                line=number,
                texts=[masked],
                values=names,
                places=[len(self.items)],
            )
        )
        self.items.append(Item(kind=ItemKind.REGION, operation=index, line=number))
        self.has_region = True
        return len(self.stack) <= _MAX_DEPTH

    def _end(self, number: int, entry: _Open) -> bool:
        frame = shapes.frame(tuple(entry.texts))
        if frame is None:
            return False
        form = frame.form
        count = len(form.results)
        results, values = entry.values[:count], entry.values[count:]
        if len(values) != len(form.pieces) - 1:
            return False
        for place, text in zip(entry.places[1:], frame.between, strict=True):
            if text:
                self.items[place] = Item(
                    kind=ItemKind.REGION, operation=entry.index, line=self.items[place].line, text=text
                )
        self.items.append(Item(kind=ItemKind.END, operation=entry.index, line=number, text=frame.tail))
        self.operations[entry.index] = Operation(
            index=entry.index,
            name=form.name,
            form=forms.named(form, values) if form.quoted else form,
            line=entry.line,
            last=number,
            parent=entry.parent,
            results=results,
            values=values,
            tail=frame.tail,
            regions=len(entry.texts) - 1,
        )
        return True
