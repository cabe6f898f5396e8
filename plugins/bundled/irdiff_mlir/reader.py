"""Reads MLIR text into a :class:`~irdiff_mlir.model.Module`: one forward pass over the parser's spans."""

from __future__ import annotations

import re
from bisect import bisect_right

import msgspec

from irdiff.api import Artifact, Context, Issue, ParseError
from irdiff_mlir import aliases, drift, ending, lines, syntax
from irdiff_mlir.model import Item, ItemKind, Module, Operation
from irdiff_mlir.syntax import END_MARK, Span, Tree

_RESULTS = re.compile(r"%[^=\"(]*= ")
_RESULT = re.compile(r"(%[\w$.-]+)(?::(\d+))?")
_NAME = re.compile(r'"([^"]*)"|([A-Za-z_][\w$.]*)')
_STRING = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*"?)')
_MAX_ISSUES = 20
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
    """Parse the bytes of a file. Raises ParseError for an empty file or one that is no UTF-8 text."""
    text = _decode(data)
    parts = lines.split(text)
    completed = ending.complete(parts)
    tree = syntax.parse(completed.text.encode())
    operations, items = _Builder(tree, completed.lines).build()
    if not operations:
        raise ParseError(
            "no operation of MLIR in it", line=1, hint="check that the file is what its suffix says"
        )
    old_names = drift.has_old_names(text)
    unread = _unread(operations, tree, parts.code, completed)
    resources = tuple(
        Item(kind=ItemKind.RAW, operation=-1, line=number, text=line) for number, line in parts.resources
    )
    raw = tuple(Item(kind=ItemKind.RAW, operation=-1, line=number, text=line.strip()) for number, line in unread)
    return Module(
        operations=operations,
        items=(*items, *raw, *_cut(completed), *resources),
        aliases=aliases.resolve(parts.aliases, fold=old_names),
        alias_definitions=parts.aliases,
        location_definitions=parts.location_definitions,
        locations=parts.locations,
        comments=parts.comments,
        spaces=parts.spaces,
        unread=unread,
        issues=_issues(
            completed, tree, unread, parts, has_region=any(operation.regions for operation in operations)
        ),
        old_names=old_names,
    )


def _cut(completed: ending.Completed) -> tuple[Item, ...]:
    """A mark where a file ends early: what is there of it is never the same as a whole file."""
    if not completed.closed:
        return ()
    return (Item(kind=ItemKind.RAW, operation=-1, line=completed.lines, text="<the file ends early>"),)


def _decode(data: bytes) -> str:
    if not data.strip():
        raise ParseError("the file is empty", line=1, hint="it was not written to its end: compile the kernel again")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError(
            "not UTF-8 text", line=line, hint="the file is damaged or is no MLIR: compile the kernel again"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ParseError("a NUL byte in text", line=line, hint="the file is damaged: compile the kernel again")
    return text


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
                (name, min(int(count[:9]), _MAX_COUNT) if count else 1) for name, count in _RESULT.findall(match[0])
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


def _unread(
    operations: tuple[Operation, ...], tree: Tree, code: tuple[str, ...], completed: ending.Completed
) -> tuple[tuple[int, str], ...]:
    """Lines of code that no operation accounts for, and those with an error in them."""
    errors = {line for line in (*tree.errors, *(line for line, _ in tree.missing)) if line <= len(code)}
    begins = {operation.line for operation in operations}
    starts = sorted(begins)
    unread: list[tuple[int, str]] = [*completed.dropped, *completed.odd]
    dropped = {number for number, _ in unread}
    by_line: dict[int, Operation] = {}
    for operation in operations:
        by_line.setdefault(operation.line, operation)
    for number, line in enumerate(code, 1):
        if not line or number in dropped:
            continue
        if number in errors:
            unread.append((number, line))
        elif number not in begins and line.strip()[:1] not in "}^)":
            before = bisect_right(starts, number) - 1
            inside = before >= 0 and by_line[starts[before]].last >= number
            if not inside or syntax.begins_operation(line):
                unread.append((number, line))
    return tuple(sorted(unread))


def _issues(
    completed: ending.Completed,
    tree: Tree,
    unread: tuple[tuple[int, str], ...],
    parts: lines.Lines,
    *,
    has_region: bool,
) -> tuple[Issue, ...]:
    issues: list[Issue] = []
    reason = completed.reason or ("" if has_region else "it holds no function")
    if reason:
        issues.append(
            Issue(
                severity="error",
                code="truncated",
                message=f"the file ends early: {reason}",
                line=completed.lines,
                hint="compile the kernel again; what is there was read",
            )
        )
    dropped = {number for number, _ in completed.dropped}
    bad = [number for number, _ in unread if number not in dropped]
    bad += [line for line, _ in tree.missing if line <= completed.lines and line not in bad]
    if not bad and (tree.errors or tree.missing) and not completed.reason:
        bad = [completed.lines]  # an error that lies where there is no code of the file's own
    issues.extend(
        Issue(
            severity="error",
            code="syntax",
            message=f"not MLIR as Triton prints it: {parts.code[number - 1].strip()[:80]}",
            line=number,
            hint="the file is damaged, or the grammar does not know this syntax",
        )
        for number in sorted(bad)[:_MAX_ISSUES]
    )
    if len(bad) > _MAX_ISSUES:
        issues.append(
            Issue(severity="error", code="syntax", message=f"{len(bad) - _MAX_ISSUES} more lines like these")
        )
    return tuple(issues)
