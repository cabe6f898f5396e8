"""The one place that knows tree-sitter: from text without locations to nested spans of operations.

The grammar of tree-sitter-mlir has no line ends and no table of dialects. An operation in its custom syntax
therefore ends for it at its location or where nothing can continue it, and swallows the next one where it has
no location. So a short location is put at the end of every operation first. The grammar also takes an
attribute dictionary whose first key has a dialect prefix (``{tt.divisibility = 16 : i32}``) for a region with
operations: those are told apart by what stands in the braces.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec
import tree_sitter_mlir
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from irdiff_mlir.vocabulary import KNOWN

END_MARK = " loc(#z)"
"""Put where an operation ends."""

_QUERY = "(operation) @operation (region) @region (block_label) @label (ERROR) @error (MISSING) @missing"
_STARTS = re.compile(r'\s*(?:%[\w$.:, %-]+= |"[\w.$]+"|[a-z_]\w*\.[\w.$]+|module\b|\}|\^|\)|#|!|$)')
_OPERATION = re.compile(r'\s*(?:%[\w$.:, %-]+= )?(?:"[\w$]+\.[\w.$]+"\(|[a-z_]\w*\.[\w.$]+|module\b)')
_DICTIONARY = re.compile(rb'\{\s*(?:\}|("[^"]*"|[\w.$-]+)\s*(=|[,}]))')


class Span(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A piece of the parsed text."""

    kind: str
    """``operation``, ``region`` or ``label``."""
    start: int
    """Byte offset in :attr:`Tree.text`."""
    end: int
    line: int
    """From 1."""
    last: int


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """Spans in document order, outer ones first."""

    text: bytes
    spans: tuple[Span, ...]
    errors: tuple[int, ...]
    """Lines with text that is not MLIR, ascending."""
    missing: tuple[tuple[int, str], ...]
    """(line, token) of tokens that had to be assumed."""


def marked(code: tuple[str, ...], closed: tuple[bool, ...]) -> str:
    """The code with a short location at the end of every operation.

    A line that ended in a location ends an operation. Where locations are not printed, it does if it does not
    open a region or a list and the next line can begin something new.
    """
    lines = list(code)
    following = ""
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        if not line.strip():
            continue
        if closed[index] or (
            line[-1] not in "{(,[=" and not line.lstrip().startswith("^") and _STARTS.match(following)
        ):
            lines[index] = line + END_MARK
        following = line
    return "\n".join(lines)


@cache
def _grammar() -> tuple[Language, Query]:
    language = Language(tree_sitter_mlir.language())
    return language, Query(language, _QUERY)


def parse(text: bytes) -> Tree:
    """Parse; never fails, whatever the bytes are."""
    language, query = _grammar()
    root = Parser(language).parse(text).root_node
    captures = QueryCursor(query).captures(root)
    spans = [
        Span(
            kind=kind,
            start=node.start_byte,
            end=node.end_byte,
            line=node.start_point.row + 1,
            last=node.end_point.row + 1,
        )
        for kind in ("operation", "region", "label")
        for node in captures.get(kind, ())
        if kind != "region" or not _is_dictionary(text, node)
    ]
    rank = {"operation": 0, "region": 1, "label": 2}
    spans.sort(key=lambda span: (span.start, -span.end, rank[span.kind]))
    errors = {row for node in captures.get("error", ()) for row in _rows(node)}
    return Tree(
        text=text,
        spans=tuple(spans),
        errors=tuple(sorted(errors)),
        missing=tuple((node.start_point.row + 1, node.type) for node in captures.get("missing", ())),
    )


def _rows(node: Node) -> tuple[int, ...]:
    """Lines of an error: those of its own tokens, not of the operations recovered inside it."""
    if node.start_point.row == node.end_point.row:
        return (node.start_point.row + 1,)
    return tuple(
        child.start_point.row + 1
        for child in node.children
        if child.type not in ("operation", "block", "comment")
    ) or (node.start_point.row + 1,)


def _is_dictionary(text: bytes, node: Node) -> bool:
    """Whether what the grammar calls a region is an attribute dictionary.

    The printer begins a new line after the brace of a region, and never inside a dictionary.
    """
    if node.start_point.row != node.end_point.row:
        return False
    match = _DICTIONARY.match(text, node.start_byte, node.end_byte)
    if match is None:
        return False
    if match[2] in (b"=", None):
        return True
    return match[1].decode("ascii", "replace") not in KNOWN


def ends_the_one_before(line: str) -> bool:
    """Whether an operation in the line before, if nothing in that is open, ends before this line."""
    return _STARTS.match(line) is not None


def begins_operation(line: str) -> bool:
    """Whether a line looks like the beginning of an operation."""
    return _OPERATION.match(line) is not None
