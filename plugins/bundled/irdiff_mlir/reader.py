"""Reads MLIR text into a :class:`~irdiff_mlir.model.Module`: one forward pass over the parser's spans."""

from __future__ import annotations

import re

import msgspec

from irdiff.api import Artifact, Context, Issue, ParseError
from irdiff_mlir import aliases, drift, ending, lines, syntax, trouble
from irdiff_mlir.model import Item, ItemKind, Module, Operation
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
    head: str = ""
    results: tuple[tuple[str, int], ...] = ()
    name: str = ""
    generic: bool = False
    regions: int = 0
    region_end: int = 0
    """Byte offset after the last region begun."""
    region_last: int = 0


def read(artifact: Artifact, context: Context) -> Module:
    """The module of an artifact, parsed once for each content. Raises ParseError where nothing can be read."""
    return context.once("mlir", lambda: parse(artifact.read()))


def parse(data: bytes) -> Module:
    """Parse the bytes of a file. Raises ParseError where nothing in it can be read."""
    text, damage = _decode(data)
    parts = lines.split(text)
    completed = ending.complete(parts)
    tree = syntax.parse(completed.text.encode())
    operations, items = _Builder(tree, completed.lines).build()
    if not operations:
        raise ParseError(
            "no operation of MLIR in it", line=1, hint="check that the file is what its suffix says"
        )
    old_names = drift.has_old_names(text)
    resolved = aliases.resolve(parts.aliases, fold=old_names)
    unread = trouble.unread(operations, items, tree, parts.code, completed)
    resources = tuple(
        Item(kind=ItemKind.RAW, operation=-1, line=number, text=line) for number, line in parts.resources
    )
    raw = tuple(
        Item(kind=ItemKind.RAW, operation=-1, line=number, text=line.strip()) for number, line in unread
    )
    return Module(
        operations=operations,
        items=(*items, *raw, *_cut(completed), *resources),
        aliases=resolved,
        alias_definitions=parts.aliases,
        location_definitions=parts.location_definitions,
        locations=parts.locations,
        comments=parts.comments,
        spaces=parts.spaces,
        unread=unread,
        issues=(
            *damage,
            *trouble.syntax_issues(
                completed, tree, unread, parts, has_region=any(operation.regions for operation in operations)
            ),
            *trouble.alias_issues(parts, resolved),
        ),
        old_names=old_names,
    )


def _cut(completed: ending.Completed) -> tuple[Item, ...]:
    """A mark where a file ends early: what is there of it is never the same as a whole file."""
    if not completed.closed:
        return ()
    return (Item(kind=ItemKind.RAW, operation=-1, line=completed.lines, text="<the file ends early>"),)


def _decode(data: bytes) -> tuple[str, tuple[Issue, ...]]:
    """The text, bytes that are none written as escapes, and an issue where there are such."""
    if not data.strip():
        raise ParseError(
            "the file is empty", line=1, hint="it was not written to its end: compile the kernel again"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.decode("utf-8", "backslashreplace").replace("\0", "\\x00"), _damage(
            "not UTF-8 text", data, error.start
        )
    if "\0" in text:
        return text.replace("\0", "\\x00"), _damage("a NUL byte in text", data, data.index(b"\0"))
    return text, ()


def _damage(message: str, data: bytes, offset: int) -> tuple[Issue, ...]:
    line = data.count(b"\n", 0, offset) + 1
    return (
        Issue(
            severity="error",
            code="not-text",
            message=f"{message}: the file is damaged",
            line=line,
            hint="compile the kernel again; what is left was read",
        ),
    )


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
                        text=_squeeze(self._text(span.start, span.end)),
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
            self._read_head(entry, self._text(entry.span.start, span.start))
            between = ""
        else:
            between = _squeeze(self._text(entry.region_end, span.start))
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
            tail = _squeeze(self._text(entry.region_end, entry.span.end).removesuffix(END_MARK))
            last = min(entry.region_last, self.line_count)
            self.items.append(Item(kind=ItemKind.END, operation=entry.index, line=last, text=tail))
        else:
            self._read_head(entry, self._text(entry.span.start, entry.span.end).removesuffix(END_MARK))
        written = drift.registered(entry.name)
        self.done[entry.index] = Operation(
            index=entry.index,
            name=drift.operation(written),
            written=written,
            line=entry.span.line,
            last=last,
            parent=entry.parent,
            results=entry.results,
            head=entry.head,
            tail=tail,
            regions=entry.regions,
            generic=entry.generic,
        )

    @staticmethod
    def _read_head(entry: _Open, text: str) -> None:
        """Results, name and the rest of the text before the first region."""
        position = 0
        if text.startswith("%") and (match := _RESULTS.match(text)):
            entry.results = tuple(
                (name, min(int(count[:9]), _MAX_COUNT) if count else 1)
                for name, count in _RESULT.findall(match[0])
            )
            position = match.end()
        if match := _NAME.match(text, position):
            entry.name = match[1] or match[2] or ""
            entry.generic = match[1] is not None
            position = match.end()
        entry.head = _squeeze(text[position:])


def _squeeze(text: str) -> str:
    """White space outside strings as single spaces, none at the ends."""
    if '"' not in text:
        return " ".join(text.split())
    pieces = _STRING.split(text)
    return "".join(
        piece if index % 2 else re.sub(r"\s+", " ", piece) for index, piece in enumerate(pieces)
    ).strip()
