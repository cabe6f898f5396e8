"""Reads MLIR text into a :class:`~irdiff_mlir.model.Module`: one forward pass over the parser's spans."""

from __future__ import annotations

from irdiff.api import Artifact, Context, Issue, ParseError
from irdiff_mlir import aliases, building, drift, ending, lines, printed, syntax, trouble
from irdiff_mlir.model import Item, ItemKind, Module


def read(artifact: Artifact, context: Context) -> Module:
    """The module of an artifact, parsed once for each content. Raises ParseError where nothing can be read."""
    return context.once("mlir", lambda: parse(artifact.read()))


def parse(data: bytes) -> Module:
    """Parse the bytes of a file. Raises ParseError where nothing in it can be read."""
    text, damage = _decode(data)
    if not damage and (whole := printed.read(text)) is not None:
        return _as_printed(whole)
    return parse_whole(text, damage)


def parse_whole(text: str, damage: tuple[Issue, ...] = ()) -> Module:
    """Parse a text in one go, whatever its lines are. Raises ParseError where nothing in it can be read."""
    parts = lines.split(text)
    completed = ending.complete(parts)
    tree = syntax.parse(completed.text.encode())
    operations, items = building.build(tree, completed.lines)
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


def _as_printed(page: printed.Page) -> Module:
    """The module of a text of which every line was understood."""
    parts = page.parts
    old_names = drift.has_old_names("\n".join(page.spelled))
    resolved = aliases.resolve(parts.aliases, fold=old_names)
    return Module(
        operations=page.operations,
        items=page.items,
        aliases=resolved,
        alias_definitions=parts.aliases,
        location_definitions=parts.location_definitions,
        locations=parts.locations,
        comments=parts.comments,
        spaces=parts.spaces,
        unread=(),
        issues=(
            *trouble.whole(page.lines, ending.undefined(parts), has_region=page.has_region),
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
        text = data.decode("utf-8").removeprefix("\ufeff")  # a byte order mark says nothing
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
