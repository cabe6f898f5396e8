"""Puts a stage's facts, loops, coverage and issues together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from irdiff.api import Coverage, Fact, Issue, Summary
from irdiff_mlir.locations import python_lines
from irdiff_mlir.program import Program
from irdiff_mlir.vocabulary import KNOWN

_MOST_UNKNOWN = 50


def summary(program: Program, facts: Iterable[Fact]) -> Summary:
    """The summary of a program with these facts."""
    return Summary(
        facts=tuple(facts),
        scopes=program.loop_scopes(),
        coverage=coverage(program),
        issues=(*program.module.issues, *_notes(program)),
        source_lines=python_lines(program.module),
    )


def coverage(program: Program) -> Coverage:
    """Operations that are known and whose types could be told, of these and of the lines that are no MLIR.

    An operation that stands in a line with an error counts with that line.
    """
    unread = program.module.unread
    bad_lines = {line for line, _ in unread}
    unknown = list(unread)
    total = len(unread)
    for operation, found in zip(program.module.operations, program.types, strict=True):
        if operation.line in bad_lines:
            continue
        total += 1
        if operation.name not in KNOWN or found is None:
            unknown.append((operation.line, f"{operation.written} {operation.head}"[:120].rstrip()))
    return Coverage(
        understood=total - len(unknown), total=total, unknown=tuple(sorted(unknown)[:_MOST_UNKNOWN])
    )


def _notes(program: Program) -> list[Issue]:
    module = program.module
    notes: list[Issue] = []
    names = sorted({operation.written for operation in module.operations if operation.name not in KNOWN})
    if names:
        notes.append(
            Issue(
                severity="note",
                code="unknown-operation",
                message=f"operations counted by name and not understood: {', '.join(names[:8])}"
                + (f" and {len(names) - 8} more" if len(names) > 8 else ""),
                line=next(operation.line for operation in module.operations if operation.written == names[0]),
            )
        )
    if not module.issues and not any(map(_names_a_file, module.location_definitions.texts)):
        places = module.locations
        if not any(map(_names_a_file, chain(places.trailing, *places.inner.values()))):
            notes.append(
                Issue(
                    severity="note",
                    code="no-line-information",
                    message="no source line is recorded",
                    hint="TRITON_DISABLE_LINE_INFO was set; compile without it to see lines of Python",
                )
            )
    if program.left_out:
        notes.append(
            Issue(
                severity="warning",
                code="too-many-loops",
                message=f"{len(program.left_out)} loops are counted with what is around them",
                line=program.left_out[0],
                hint="more loops, or deeper ones, than a kernel has: the file may be damaged",
            )
        )
    return notes


def _names_a_file(location: str) -> bool:
    """``"file.py":3:0`` and not ``unknown``."""
    return '":' in location
