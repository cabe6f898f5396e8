"""What could not be read of a file: the lines, and issues that say so."""

from __future__ import annotations

from irdiff.api import Issue
from irdiff_mlir import aliases, ending, lines, locations, syntax
from irdiff_mlir.model import Item, ItemKind, Operation
from irdiff_mlir.syntax import Tree

_MAX_ISSUES = 20
"""Of one kind; the rest is counted."""


def unread(
    operations: tuple[Operation, ...],
    items: tuple[Item, ...],
    tree: Tree,
    code: tuple[str, ...],
    completed: ending.Completed,
) -> tuple[tuple[int, str], ...]:
    """Lines of code that no operation accounts for, and those with an error in them."""
    errors = {line for line in (*tree.errors, *(line for line, _ in tree.missing)) if line <= len(code)}
    found: list[tuple[int, str]] = [*completed.dropped, *completed.odd]
    dropped = {number for number, _ in found}
    begins = {operation.line for operation in operations}
    read = _read_lines(operations, items)
    for number, line in enumerate(code, 1):
        if not line or number in dropped:
            continue
        known = number in begins or (
            not syntax.begins_operation(line) and (number in read or line.strip()[:1] in "}^)")
        )
        if number in errors or not known:
            found.append((number, line))
    return tuple(sorted(found))


def _read_lines(operations: tuple[Operation, ...], items: tuple[Item, ...]) -> set[int]:
    """Lines of the heads of operations, up to the brace of their first region, and of what introduces the others."""
    ends = {operation.index: operation.last for operation in operations if not operation.regions}
    for item in items:
        if item.kind is ItemKind.REGION:
            ends.setdefault(item.operation, item.line)
    lines_read = {item.line for item in items if item.kind is ItemKind.REGION}
    for operation in operations:
        lines_read.update(range(operation.line, ends.get(operation.index, operation.line) + 1))
    return lines_read


def alias_issues(parts: lines.Lines, resolved: dict[str, str]) -> list[Issue]:
    """Aliases without content, and locations that lead back to themselves."""
    found = [
        Issue(
            severity="warning",
            code="alias-unresolved",
            message=f"{why}: it is kept by its name",
            line=line,
            hint="aliases that name each other, or grow without bound, are no work of the printer",
        )
        for line, why in aliases.unresolved(parts.aliases, resolved)[:_MAX_ISSUES]
    ]
    cycle = locations.cycle(parts.location_definitions)
    if cycle:
        found.append(
            Issue(severity="warning", code="location-cycle", message=f"location {cycle} leads back to itself")
        )
    return found


def whole(line_count: int, reason: str, *, has_region: bool) -> list[Issue]:
    """An issue where the file ends early: for the reason seen, or because nothing in it has a body."""
    reason = reason or ("" if has_region else "it holds no function")
    if not reason:
        return []
    return [
        Issue(
            severity="error",
            code="truncated",
            message=f"the file ends early: {reason}",
            line=line_count,
            hint="compile the kernel again; what is there was read",
        )
    ]


def syntax_issues(
    completed: ending.Completed,
    tree: Tree,
    unread_lines: tuple[tuple[int, str], ...],
    parts: lines.Lines,
    *,
    has_region: bool,
) -> tuple[Issue, ...]:
    """A file that ends early, and lines that are no MLIR."""
    issues = whole(completed.lines, completed.reason, has_region=has_region)
    dropped = {number for number, _ in completed.dropped}
    bad = [number for number, _ in unread_lines if number not in dropped]
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
