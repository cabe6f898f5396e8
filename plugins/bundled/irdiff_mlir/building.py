"""Turns the parser's spans into operations and the items between them."""

from __future__ import annotations

import re

import msgspec

from irdiff_mlir import forms
from irdiff_mlir.forms import Form
from irdiff_mlir.model import Item, ItemKind, Operation
from irdiff_mlir.syntax import END_MARK, Span, Tree

_RESULTS = re.compile(r"%[^=\"(]*= ")
_RESULT = re.compile(r"(%[\w$.-]+)(?::(\d+))?")
_NAME = re.compile(r'"([^"]*)"|([A-Za-z_][\w$.]*)')
_STRING = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*"?)')
_MAX_COUNT = 1 << 20
"""More results than any operation has; a larger number is damage."""


class _Open(msgspec.Struct):
    """An operation whose end has not been reached."""

    span: Span
    index: int
    parent: int
    form: Form | None = None
    results: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    regions: int = 0
    region_end: int = 0
    """Byte offset after the last region begun."""
    region_last: int = 0


def build(tree: Tree, line_count: int) -> tuple[tuple[Operation, ...], tuple[Item, ...]]:
    """The operations, and the document as items; ``line_count``: lines of the file itself."""
    return _Builder(tree, line_count).build()


class _Builder:
    """Turns spans into operations and items with an explicit stack: nesting costs no recursion."""

    def __init__(self, tree: Tree, line_count: int) -> None:
        self.tree = tree
        self.line_count = line_count
        self.stack: list[_Open | Span] = []
        self.items: list[Item] = []
        self.done: list[Operation | None] = []

    def build(self) -> tuple[tuple[Operation, ...], tuple[Item, ...]]:
        for span in self.tree.spans:
            while self.stack and self._end(self.stack[-1]) <= span.start:
                self._close()
            top = self.stack[-1] if self.stack else None
            if span.kind == "region":
                if isinstance(top, _Open):
                    self._region(top, span)
            elif isinstance(top, _Open):
                continue  # inside an attribute dictionary that the grammar takes for a region
            elif span.kind == "operation":
                self._open(span)
            else:
                self.items.append(
                    Item(
                        kind=ItemKind.LABEL,
                        operation=self._owner(),
                        line=span.line,
                        text=squeezed(self._text(span.start, span.end)),
                    )
                )
        while self.stack:
            self._close()
        return tuple(operation for operation in self.done if operation is not None), tuple(self.items)

    @staticmethod
    def _end(entry: _Open | Span) -> int:
        return entry.span.end if isinstance(entry, _Open) else entry.end

    def _owner(self) -> int:
        for entry in reversed(self.stack):
            if isinstance(entry, _Open):
                return entry.index
        return -1

    def _text(self, start: int, end: int) -> str:
        return self.tree.text[start:end].decode("utf-8", "replace")

    def _open(self, span: Span) -> None:
        entry = _Open(span=span, index=len(self.done), parent=self._owner())
        self.done.append(None)
        self.stack.append(entry)
        self.items.append(Item(kind=ItemKind.OPERATION, operation=entry.index, line=span.line))

    def _region(self, entry: _Open, span: Span) -> None:
        if entry.regions == 0:
            text = self._text(entry.span.start, span.start)
            entry.form, entry.results, entry.values = head(text)
            between = ""
        else:
            between = squeezed(self._text(entry.region_end, span.start))
        self.items.append(Item(kind=ItemKind.REGION, operation=entry.index, line=span.line, text=between))
        entry.regions += 1
        entry.region_end = span.end
        entry.region_last = span.last
        self.stack.append(span)

    def _close(self) -> None:
        entry = self.stack.pop()
        if not isinstance(entry, _Open):
            return
        tail = ""
        last = min(entry.span.last, self.line_count)
        if entry.regions:
            tail = squeezed(self._text(entry.region_end, entry.span.end).removesuffix(END_MARK))
            last = min(entry.region_last, self.line_count)
            self.items.append(Item(kind=ItemKind.END, operation=entry.index, line=last, text=tail))
        else:
            text = self._text(entry.span.start, entry.span.end).removesuffix(END_MARK)
            entry.form, entry.results, entry.values = head(text)
        assert entry.form is not None
        form = forms.named(entry.form, entry.values) if entry.form.quoted else entry.form
        self.done[entry.index] = Operation(
            index=entry.index,
            name=form.name,
            form=form,
            line=entry.span.line,
            last=last,
            parent=entry.parent,
            results=entry.results,
            values=entry.values,
            tail=tail,
            regions=entry.regions,
        )


def head_of_masked(text: str) -> Form:
    """The form of the head of an operation in which every name is masked."""
    name, results, rest, generic = _begun(text)
    return forms.form(name, tuple([count for _, count in results]), squeezed(rest), generic=generic)


def count_names(text: str) -> int:
    """How many names of values the text of an operation without regions holds."""
    _, results, rest, _ = _begun(text)
    return len(results) + len(forms.masked(squeezed(rest))[1])


def head(text: str) -> tuple[Form, tuple[str, ...], tuple[str, ...]]:
    """Form, names of results and names of values of an operation's text before its first region."""
    name, results, behind, generic = _begun(text)
    rest, values = forms.masked(squeezed(behind))
    counts = tuple([count for _, count in results])
    return forms.form(name, counts, rest, generic=generic), tuple([result for result, _ in results]), values


def _begun(text: str) -> tuple[str, list[tuple[str, int]], str, bool]:
    """Registered name, results with the number of values of each, what follows, whether the name is quoted."""
    position = 0
    name, generic = "", False
    results: list[tuple[str, int]] = []
    if text.startswith("%") and (match := _RESULTS.match(text)):
        results = [
            (result, min(int(count[:9]), _MAX_COUNT) if count else 1)
            for result, count in _RESULT.findall(match[0])
        ]
        position = match.end()
    if match := _NAME.match(text, position):
        name = match[1] or match[2] or ""
        generic = match[1] is not None
        position = match.end()
    return name, results, text[position:], generic


def squeezed(text: str) -> str:
    """White space outside strings as single spaces, none at the ends."""
    if '"' not in text:
        return " ".join(text.split())
    pieces = _STRING.split(text)
    return "".join(
        piece if index % 2 else re.sub(r"\s+", " ", piece) for index, piece in enumerate(pieces)
    ).strip()
