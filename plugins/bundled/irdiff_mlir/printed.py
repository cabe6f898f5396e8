"""Reads a text that is as the printer writes it, line by line, by the shapes of its lines.

A line that is anything else (damage, an operation over several lines, a constant with a page of elements) makes
:func:`read` return None: the whole text then goes through the parser, which finds the same in what both can read.
"""

from __future__ import annotations

import msgspec

from irdiff_mlir import forms, lines, masked, shapes
from irdiff_mlir.lines import Lines
from irdiff_mlir.model import Alias, Item, ItemKind, Operation

_LAST = "\n}"
"""How the last line of code begins; definitions of locations follow."""
_MAX_DEPTH = 200
"""Regions deeper than this are left to the reader of damaged text."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What was read."""

    operations: tuple[Operation, ...]
    items: tuple[Item, ...]
    parts: Lines
    lines: int
    has_region: bool
    spelled: tuple[str, ...]
    """All of the text but what cannot hold the spelling of a dialect."""


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
    if "\r" in text or masked.CARRIES in text or not text.endswith("\n"):
        return None
    page = _Page()
    if not page.read(text) or page.stack or not page.operations:
        return None
    return Page(
        operations=tuple(page.operations),  # type: ignore[arg-type]  # all ended, as the stack is empty
        items=tuple(page.items),
        parts=Lines(
            code=(),
            closed=(),
            aliases=tuple(page.aliases),
            location_definitions=page.definitions.done(),
            locations=page.locations.done(),
            comments=tuple(page.comments),
            spaces=tuple(page.spaces),
        ),
        lines=text.count("\n") + 1,
        has_region=page.has_region,
        spelled=page.spelled,
    )


class _Page:
    """The lines so far."""

    def __init__(self) -> None:
        self.operations: list[Operation | None] = []
        self.items: list[Item] = []
        self.aliases: list[Alias] = []
        self.definitions = lines.Definitions()
        self.locations = lines.Carried()
        self.comments: list[tuple[int, str]] = []
        self.spaces: list[str] = []
        self.stack: list[_Open] = []
        self.ordinal = 0
        self.has_region = False
        self.spelled: tuple[str, ...] = ()

    def read(self, text: str) -> bool:
        """Whether every line was understood."""
        last = text.rfind(_LAST)
        code = text.find("\n", last + 1) + 1
        if last >= 0 and (behind := lines.definitions(text, code)) is not None:
            # the line end before them is that of a line of code, and what follows the last one is an empty line
            understood = self._code(text[:code])
            self.definitions.extend(behind, self.ordinal)
            self.spelled = (text[:code], *{string or whole for _, whole, string, _, _ in behind})
            return understood
        self.spelled = (text,)
        return self._code(text)

    def _code(self, text: str) -> bool:  # noqa: C901  # the one hot loop: a call for each line costs a tenth
        """Read lines, of which most are operations: what is alike in many is looked up by the line without names."""
        raw = text.split("\n")
        if len(max(raw, key=len)) > forms.LONGEST or not text.isascii():
            return all(self._odd(number, line) for number, line in enumerate(raw, 1))
        found, flat, carried = masked.split(text)
        add_space, add_operation, add_item = self.spaces.append, self.operations.append, self.items.append
        add_line, add_trailing = self.locations.lines.append, self.locations.trailing.append
        add_ordinal = self.locations.ordinals.append
        operations, locations, kind_operation = self.operations, self.locations, ItemKind.OPERATION
        at = seen = 0
        parent = -1
        for number, line in enumerate(map(masked.line, found), 1):
            start, at = at, at + line.names
            trailing = ""
            if line.located:
                trailing = carried[seen]
                seen += 1
            form = line.form
            if form is not None:
                if trailing:
                    add_line(number)
                    add_trailing(trailing)
                    add_ordinal(self.ordinal)
                self.ordinal += 1
                add_space(line.space)
                middle = start + line.results
                values = flat[middle:at]
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
                        results=flat[start:middle],
                        values=values,
                    )
                )
                add_item(Item(kind=kind_operation, operation=index, line=number))
                continue
            if not line.body:
                if not self._odd(number, raw[number - 1]):
                    return False
            else:
                if trailing:
                    locations.add(number, trailing, self.ordinal)
                self.ordinal += 1
                add_space(line.space)
                body = raw[number - 1].lstrip(" ")
                if not self._structure(line.kind, number, body, line.body, flat[start:at], trailing):
                    return False
            parent = self.stack[-1].index if self.stack else -1
        return True

    def _odd(self, number: int, line: str) -> bool:
        """Whether a line was understood that is looked at by itself: it has strings, comments, several locations."""
        first = line[:1]
        if first == "#" or first == "!":
            return self._definition(number, line)
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
                self.locations.add(number, trailing, self.ordinal)
            else:
                plain, trailing = self._take_apart(number, line)
                if not plain:
                    return True
        body = plain.lstrip(" ")
        if not body:
            if plain:
                return False
            if not line:
                self.spaces.append("")
            return True
        self.ordinal += 1
        if '"' in body:
            text, names = forms.masked(body)
        else:
            pieces = masked.VALUE.split(body)
            text, names = forms.MASK.join(pieces[::2]), tuple(pieces[1::2])
        found = shapes.shape(text)
        self.spaces.append(plain[: len(plain) - len(body)] + found.spaces)
        if found.form is None or len(body) > forms.LONGEST:
            return self._structure(found.kind, number, body, text, names, trailing)
        count = len(found.form.results)
        form = forms.named(found.form, names[count:]) if found.form.quoted else found.form
        index = len(self.operations)
        self.operations.append(
            Operation(
                index=index,
                name=form.name,
                form=form,
                line=number,
                last=number,
                parent=self.stack[-1].index if self.stack else -1,
                results=names[:count],
                values=names[count:],
            )
        )
        self.items.append(Item(kind=ItemKind.OPERATION, operation=index, line=number))
        return True

    def _definition(self, number: int, line: str) -> bool:
        """Whether a line defines a location or another alias, which is then noted."""
        if line.startswith("#loc"):
            name, found, rest = line.partition(" = loc(")
            if not found or rest[-1:] != ")" or not lines.is_simple(name):
                return False
            self.definitions.add(name, rest[:-1], self.ordinal)
            return True
        alias = lines.alias(line, number, self.ordinal, len(self.definitions.names))
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
            self.locations.add(number, trailing, self.ordinal, inner)
        return plain, trailing

    def _structure(
        self, kind: int, number: int, body: str, text: str, names: tuple[str, ...], trailing: str
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
            return self._begin(number, text, names)
        if not self.stack:
            return False
        entry = self.stack[-1]
        entry.texts.append(text)
        if kind == shapes.BETWEEN:
            entry.places.append(len(self.items))
            self.items.append(Item(kind=ItemKind.REGION, operation=entry.index, line=number))
            return True
        return self._end(number, self.stack.pop())

    def _begin(self, number: int, text: str, names: tuple[str, ...]) -> bool:
        index = len(self.operations)
        parent = self.stack[-1].index if self.stack else -1
        self.operations.append(None)
        self.items.append(Item(kind=ItemKind.OPERATION, operation=index, line=number))
        self.stack.append(
            _Open(
                index=index,
                parent=parent,
                line=number,
                texts=[text],
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
