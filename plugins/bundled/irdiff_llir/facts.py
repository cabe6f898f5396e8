"""Counts what LLVM IR holds: the summary of the stage."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from irdiff.api import Artifact, Context, Coverage, Fact, Issue, Scope, Summary
from irdiff_llir import opcodes
from irdiff_llir.assembly import key_of_template
from irdiff_llir.control import blocks_and_loops
from irdiff_llir.kernel import kernel_fact
from irdiff_llir.reader import Item, Module, read
from irdiff_llir.shapes import LITERAL, MARK, Shape
from irdiff_llir.source_lines import source_lines
from irdiff_llir.specs import TALLIES
from irdiff_llir.syntax import type_bytes
from irdiff_llir.trips import TripCounts

MOST_UNKNOWN = 50
"""Lines not understood that are listed."""
_MARKS = frozenset({":", "}", "#", "{"})

Tally = dict[str, list[int]]

_INLINED = re.compile(r"(__(?:nv|ocml|ockl)_\w+)\.exit\d*\Z")
_SHARED = re.compile(
    r"getelementptr (?:inbounds |nuw |nusw )*\(?([^,()]{1,80}), "
    r"ptr addrspace\(3\) @global_smem, i(?:32|64) (-?\d{1,18})\b"
)


def module_of(artifact: Artifact, context: Context) -> Module:
    """The items of an artifact, read once for summary and canonical form."""
    return context.once("llir.module", lambda: read(artifact.read()))


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Everything the LLVM IR says, in whole and for each loop. Raises ParseError where it is none."""
    module = module_of(artifact, context)
    items = module.items
    whole = _tallies(items, module.shapes)
    facts = [*kernel_fact(module), _shared_offsets(module), *_facts(whole, "")]
    scopes: list[Scope] = []
    blocks, loops = blocks_and_loops(items, module.odd)
    trips = TripCounts(items, blocks, loops) if loops else None
    for loop in loops:
        parts = [slice(blocks[block].start, blocks[block].end) for block in sorted(loop.blocks)]
        inside = list(chain.from_iterable([items[part] for part in parts]))
        shapes = list(chain.from_iterable([module.shapes[part] for part in parts]))
        places = [item[0] for item in inside]
        scopes.append(
            Scope(
                id=loop.id,
                trip_count=trips.of(loop) if trips else None,
                first=min(places, default=0),
                last=max(places, default=0),
            )
        )
        facts.extend(_facts(_tallies(inside, shapes), loop.id))
    coverage = _coverage(module)
    return Summary(
        facts=tuple(facts),
        scopes=tuple(scopes),
        coverage=coverage,
        issues=tuple(_issues(module, coverage)),
        source_lines=source_lines(module),
    )


def _tallies(items: Sequence[Item], shapes: Sequence[Shape]) -> dict[str, Tally]:
    """For each tally of the stage, the lines of each key."""
    groups: defaultdict[Shape, list[Item]] = defaultdict(list)
    for item, shape in zip(items, shapes, strict=True):
        groups[shape].append(item)
    tallies: dict[str, Tally] = {fact: {} for fact in TALLIES}
    for line, _, opcode, name in groups.pop(MARK, ()):
        inlined = _INLINED.match(name) if opcode == ":" else None
        if inlined is not None:
            tallies["llir.libdevice"].setdefault(f"{inlined[1]} inlined", []).append(line)
    constants: defaultdict[str, list[int]] = defaultdict(list)
    for shape, group in groups.items():
        if shape.is_counted:
            _count_group(shape, group, tallies)
            _literals(shape, group, constants)
    tallies["llir.constants"] = constants
    return tallies


def _literals(shape: Shape, group: list[Item], constants: defaultdict[str, list[int]]) -> None:
    """Literal operands of instructions of one shape."""
    literals, zeros = shape.literals, shape.zeros
    if not literals:
        return
    for line, _, _, operands in group:
        if zeros and any(operands[zero] != "0" for zero in zeros):
            for literal in LITERAL.findall(operands):
                constants[literal].append(line)
            continue
        for place in literals:
            constants[operands[place]].append(line)


def _count_group(shape: Shape, group: list[Item], tallies: dict[str, Tally]) -> None:
    """What the opcode and the operands of all instructions of one shape say."""
    lines = [item[0] for item in group]
    opcode = shape.opcode
    tallies["llir.opcodes"].setdefault(opcode, []).extend(lines)
    if shape.predicate:
        tallies["llir.comparisons"].setdefault(shape.predicate, []).extend(lines)
    if shape.fast_math:
        tallies["llir.fast_math"].setdefault(shape.fast_math, []).extend(lines)
    if shape.called is not None:
        fact, place = shape.called
        tally = tallies[fact]
        for line, _, _, operands in group:
            name = operands[place]
            tally.setdefault(key_of_template(name) if fact == "llir.inline_asm" else name, []).append(line)
    elif opcode in opcodes.MEMORY:
        for line, _, _, operands in group:
            key = opcodes.access(opcode, operands)
            if key is not None:
                tallies["llir.memory"].setdefault(key, []).append(line)


def _facts(tallies: dict[str, Tally], scope: str) -> Iterable[Fact]:
    for fact in TALLIES:
        tally = tallies[fact]
        if not tally:
            yield Fact(id=fact, value={}, scope=scope)
            continue
        evidence = {key: tuple(sorted(tally[key])) for key in sorted(tally)}
        guessed = fact == "llir.libdevice" and any(key.endswith(" inlined") for key in evidence)
        yield Fact(
            id=fact,
            value={key: len(places) for key, places in evidence.items()},
            scope=scope,
            evidence=evidence,
            exactness="estimate" if guessed else None,
        )


def _shared_offsets(module: Module) -> Fact:
    lines: Tally = {}
    naming = [item for item, shape in zip(module.items, module.shapes, strict=True) if shape.has_shared]
    for line, _, opcode, operands in naming:
        text = f"getelementptr {operands}" if opcode == "getelementptr" else operands
        for kind, count in _SHARED.findall(text):
            size = type_bytes(kind)
            offset = int(count) * size if size is not None else 0
            if offset:
                lines.setdefault(str(offset), []).append(line)
    keys = sorted(lines)
    return Fact(
        id="llir.shared_offsets", value=tuple(keys), evidence={key: tuple(lines[key]) for key in keys}
    )


def _coverage(module: Module) -> Coverage:
    """Instructions and definitions understood; metadata is left out (it is not executed)."""
    unknown: list[tuple[int, str]] = []
    total = len(module.items)
    for (line, _, opcode, operands), shape in zip(module.items, module.shapes, strict=True):
        if shape.is_understood:
            continue
        if opcode not in _MARKS:
            unknown.append((line, f"{opcode} {operands}"[:120] if opcode != "?" else operands[:120]))
        elif opcode != "{":
            total -= 1
    for line, kind, text in module.top:
        if kind == "!":
            continue
        total += 1
        if kind == "?":
            unknown.append((line, text[:120]))
    unknown.sort()
    return Coverage(understood=total - len(unknown), total=total, unknown=tuple(unknown[:MOST_UNKNOWN]))


def _issues(module: Module, coverage: Coverage) -> Iterable[Issue]:
    if module.damage is not None:
        yield Issue(
            severity="error",
            code="not-text",
            message=f"{module.damage[0]}: the file is damaged",
            stage="llir",
            line=module.damage[1],
            hint="compile the kernel again; what is left was read",
        )
    if module.truncated is not None:
        yield Issue(
            severity="error",
            code="truncated",
            message="the LLVM IR ends in the middle: a function or definition is not complete",
            stage="llir",
            line=module.truncated,
            hint="compile the kernel again, or copy the file again",
        )
    missing = coverage.total - coverage.understood
    if missing:
        line, text = coverage.unknown[0]
        yield Issue(
            severity="warning",
            code="not-understood",
            message=f"{missing} of {coverage.total} lines not understood, the first: {text}",
            stage="llir",
            line=line,
            hint="they are counted under their own names; a newer irdiff may know them",
        )
