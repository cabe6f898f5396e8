"""Counts what LLVM IR holds: the summary of the stage."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from irdiff.api import Artifact, Context, Coverage, Fact, Issue, Scope, Summary
from irdiff_llir import opcodes
from irdiff_llir.assembly import key_of_call
from irdiff_llir.control import blocks_and_loops
from irdiff_llir.kernel import kernel_fact
from irdiff_llir.reader import Item, Module, read
from irdiff_llir.source_lines import source_lines
from irdiff_llir.specs import TALLIES
from irdiff_llir.syntax import are_balanced, type_bytes
from irdiff_llir.trips import TripCounts

MOST_UNKNOWN = 50
"""Lines not understood that are listed."""
LONGEST_OPCODE = 40

Tally = dict[str, list[int]]

_CALLEE = re.compile(r"@(\"[^\"]*\"|[-\w.$]+)\(")
_LIBRARY = ("__nv_", "__ocml_", "__ockl_")
_INLINED = re.compile(r"(__(?:nv|ocml|ockl)_\w+)\.exit\d*\Z")
_SHARED = re.compile(
    r"getelementptr (?:inbounds |nuw |nusw )*\(?([^,()]{1,80}), "
    r"ptr addrspace\(3\) @global_smem, i(?:32|64) (-?\d{1,18})\b"
)

_PREDICATE = re.compile(
    r"\b(?:eq|ne|[su](?:gt|ge|lt|le)|o(?:eq|gt|ge|lt|le|ne|rd)|u(?:eq|gt|ge|lt|le|ne|no)|true|false)\b"
)
_NUMBER = r"0x[KLMHR]?[0-9A-F]{1,32}|f0x[0-9A-F]{1,32}|\d{1,20}(?:\.\d{1,20}(?:e[+-]\d{1,4})?)?"
_LITERAL = re.compile(
    r"[ (<\n](?:(?<=\n)|(?=[-\df])(?<!align.)(?<!addrspace\()"
    rf"(-?(?:{_NUMBER}))(?=[,) >\]]|$)(?! x ))",
    re.MULTILINE,
)
"""The end of a line, or (group) a number that stands alone behind a type: no name, type, alignment, address space,
count of elements or metadata."""
_MARKS = frozenset({":", "}", "#", "{"})
LONGEST_OPERANDS = 20_000
"""Operands longer than any instruction has are not searched for literals."""


def module_of(artifact: Artifact, context: Context) -> Module:
    """The items of an artifact, read once for summary and canonical form."""
    return context.once("llir.module", lambda: read(artifact.read()))


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Everything the LLVM IR says, in whole and for each loop. Raises ParseError where it is none."""
    module = module_of(artifact, context)
    items = module.items
    whole = _tallies(items)
    facts = [*kernel_fact(module), _shared_offsets(items), *_facts(whole, "")]
    scopes: list[Scope] = []
    blocks, loops = blocks_and_loops(items)
    trips = TripCounts(items, blocks, loops) if loops else None
    for loop in loops:
        inside = [
            item for block in sorted(loop.blocks) for item in items[blocks[block].start : blocks[block].end]
        ]
        places = [item[0] for item in inside]
        scopes.append(
            Scope(
                id=loop.id,
                trip_count=trips.of(loop) if trips else None,
                first=min(places, default=0),
                last=max(places, default=0),
            )
        )
        facts.extend(_facts(_tallies(inside), loop.id))
    coverage = _coverage(module)
    return Summary(
        facts=tuple(facts),
        scopes=tuple(scopes),
        coverage=coverage,
        issues=tuple(_issues(module, coverage)),
        source_lines=source_lines(module),
    )


def _tallies(items: Iterable[Item]) -> dict[str, Tally]:
    """For each tally of the stage, the lines of each key."""
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item[2]].append(item)
    tallies: dict[str, Tally] = {fact: {} for fact in TALLIES}
    for line, _, _, name in groups.get(":", ()):
        inlined = _INLINED.match(name)
        if inlined is not None:
            tallies["llir.libdevice"].setdefault(f"{inlined[1]} inlined", []).append(line)
    counted = {
        opcode: group
        for opcode, group in groups.items()
        if opcode[0].isalpha() and len(opcode) <= LONGEST_OPCODE
    }
    for opcode, group in counted.items():
        tallies["llir.opcodes"][opcode] = [item[0] for item in group]
        _count_group(opcode, group, tallies)
    _literals(counted.values(), tallies["llir.constants"])
    return tallies


def _comparisons(opcode: str, group: list[Item], comparisons: Tally) -> None:
    """The predicates of comparisons."""
    for line, _, _, operands in group:
        found = _PREDICATE.search(operands)
        if found is not None:
            comparisons.setdefault(f"{opcode} {found[0]}", []).append(line)


def _behind_type(operands: str, heads: dict[str, bool]) -> str:
    """Operands without the type of a structure in front, which can be long, where it holds no literal itself.

    ``heads`` remembers which do not.
    """
    end = operands.find("} ") + 1
    head = operands[:end]
    if head not in heads:
        heads[head] = not any(_LITERAL.findall(head))
    return operands[end:] if heads[head] else operands


def _literals(groups: Iterable[list[Item]], constants: Tally) -> None:
    """Literal operands, by one search of all operands."""
    heads: dict[str, bool] = {}
    searched = [
        (line, _behind_type(operands, heads) if operands[:1] == "{" else operands)
        for group in groups
        for line, _, _, operands in group
        if len(operands) <= LONGEST_OPERANDS and " asm " not in operands
    ]
    index = 0
    for literal in _LITERAL.findall("\n".join([operands for _, operands in searched])):
        if literal:
            constants.setdefault(literal, []).append(searched[index][0])
        else:
            index += 1


def _count_group(opcode: str, group: list[Item], tallies: dict[str, Tally]) -> None:
    """What the operands of all instructions with one opcode say."""
    if opcode in ("icmp", "fcmp"):
        _comparisons(opcode, group, tallies["llir.comparisons"])
    if opcode in opcodes.FLOATING:
        for line, _, _, operands in group:
            if flags := opcodes.fast_flags(operands):
                tallies["llir.fast_math"].setdefault(f"{opcode} {flags}", []).append(line)
    if opcode == "call":
        for line, _, _, operands in group:
            _call(line, operands, tallies)
    elif opcode in opcodes.MEMORY:
        for line, _, _, operands in group:
            key = opcodes.access(opcode, operands)
            if key is not None:
                tallies["llir.memory"].setdefault(key, []).append(line)


def _call(line: int, operands: str, tallies: dict[str, Tally]) -> None:
    key = key_of_call(operands)
    if key is not None:
        tallies["llir.inline_asm"].setdefault(key, []).append(line)
        return
    found = _CALLEE.search(operands)
    if found is None:
        return
    name = found[1].strip('"')
    if name.startswith("llvm."):
        tallies["llir.intrinsics"].setdefault(name, []).append(line)
    elif name.startswith(_LIBRARY):
        tallies["llir.libdevice"].setdefault(name, []).append(line)


def _facts(tallies: dict[str, Tally], scope: str) -> Iterable[Fact]:
    for fact in TALLIES:
        tally = tallies[fact]
        keys = sorted(tally)
        guessed = fact == "llir.libdevice" and any(key.endswith(" inlined") for key in keys)
        yield Fact(
            id=fact,
            value={key: len(tally[key]) for key in keys},
            scope=scope,
            evidence={key: tuple(sorted(tally[key])) for key in keys},
            exactness="estimate" if guessed else None,
        )


def _shared_offsets(items: Iterable[Item]) -> Fact:
    lines: Tally = {}
    for line, _, opcode, operands in items:
        if "@global_smem" not in operands:
            continue
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
    counted = [item for item in module.items if item[2] not in _MARKS]
    total = len(counted) + sum([item[2] == "{" for item in module.items])
    balanced = are_balanced([operands for _, _, _, operands in counted])
    for (line, _, opcode, operands), is_balanced in zip(counted, balanced, strict=True):
        if is_balanced and operands and opcodes.PLAIN.get(opcode, "\n") in operands:
            continue
        if not opcodes.is_understood(opcode, operands, is_balanced=is_balanced):
            unknown.append((line, f"{opcode} {operands}"[:120] if opcode != "?" else operands[:120]))
    for line, kind, text in module.top:
        if kind == "!":
            continue
        total += 1
        if kind == "?":
            unknown.append((line, text[:120]))
    unknown.sort()
    return Coverage(understood=total - len(unknown), total=total, unknown=tuple(unknown[:MOST_UNKNOWN]))


def _issues(module: Module, coverage: Coverage) -> Iterable[Issue]:
    if module.nul is not None:
        yield Issue(
            severity="error",
            code="not-text",
            message="a NUL byte in text: the file is damaged",
            stage="llir",
            line=module.nul,
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
