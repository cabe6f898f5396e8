"""Counts what PTX holds: the summary of the stage."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter

from irdiff.api import Artifact, Context, Coverage, Fact, Issue, Scalar, Scope, Summary, Value
from irdiff_ptx import declarations, opcodes
from irdiff_ptx.control import control_flow
from irdiff_ptx.keys import key_of
from irdiff_ptx.reader import Item, Listing, read
from irdiff_ptx.shapes import LITERAL, LONGEST_OPERANDS, NO_PLACES, Shape
from irdiff_ptx.source_lines import source_lines
from irdiff_ptx.specs import TALLIES
from irdiff_ptx.trips import TripCounts

MOST_UNKNOWN = 50
"""Lines not understood that are listed."""

LONGEST_OPCODE = 160
"""Characters; the longest of the ISA has about 100. What is longer is not counted under its name."""

Tally = dict[str, list[int]]


def listing_of(artifact: Artifact, context: Context) -> Listing:
    """The items of an artifact, read once for summary and canonical form."""
    return context.once("ptx.listing", lambda: read(artifact.read()))


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Everything the PTX says, in whole and for each loop. Raises ParseError where it is no PTX."""
    listing = listing_of(artifact, context)
    items = listing.items
    whole = _tallies(items, listing.shapes)
    directives = [items[index] for index in listing.odd if items[index][2][0] in ".?"]
    facts = _declared(directives)
    facts.extend(_facts(whole, ""))
    scopes: list[Scope] = []
    flow = control_flow(items, listing.odd)
    trips = TripCounts(items, listing.shapes, flow) if flow.loops else None
    for loop in flow.loops:
        parts = [slice(flow.blocks[block].start, flow.blocks[block].end) for block in sorted(loop.blocks)]
        inside = list(chain.from_iterable(items[part] for part in parts))
        lines = [item[0] for item in inside]
        scopes.append(
            Scope(
                id=loop.id,
                trip_count=trips.of(loop) if trips is not None else None,
                first=min(lines, default=0),
                last=max(lines, default=0),
            )
        )
        facts.extend(
            _facts(
                _tallies(inside, list(chain.from_iterable(listing.shapes[part] for part in parts))), loop.id
            )
        )
    coverage = _coverage(items, directives, whole["ptx.opcodes"])
    return Summary(
        facts=tuple(facts),
        scopes=tuple(scopes),
        coverage=coverage,
        issues=tuple(_issues(listing, coverage)),
        source_lines=source_lines(listing, [item[0] for item in items]),
    )


@lru_cache(maxsize=4096)
def _plan(opcode: str) -> tuple[str, str | Callable[[str], str | None]] | None:
    """(fact, key or how to make it from the operands) of an opcode that another tally than that of opcodes takes."""
    words = opcode.split(".")
    memory = opcodes.memory_fact(words)
    if memory is not None:
        size = opcodes.access_bytes(words)
        return memory, str(size) if size is not None else opcode
    fact = opcodes.fact_of(words)
    return None if fact is None else (fact, key_of(fact, opcode, words))


def _tallies(items: Sequence[Item], shapes: Sequence[Shape]) -> dict[str, Tally]:
    """For each tally of the stage, the lines of each key."""
    groups: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item[2]].append(item)
    tallies: dict[str, Tally] = {fact: {} for fact in TALLIES}
    counted = tallies["ptx.opcodes"]
    for opcode, group in groups.items():
        if not opcode[0].isalpha() or len(opcode) > LONGEST_OPCODE:
            continue
        counted[opcode] = lines = [item[0] for item in group]
        plan = _plan(opcode)
        if plan is None:
            continue
        tally, key = tallies[plan[0]], plan[1]
        if isinstance(key, str):
            tally[key] = [*tally[key], *lines] if key in tally else lines
            continue
        for line, _, _, operands in group:
            made = key(operands or "")
            if made is not None:
                tally.setdefault(made, []).append(line)
    _guards([item for item in items if item[1] is not None and item[2] in counted], tallies["ptx.predicated"])
    tallies["ptx.immediates"] = _literals(items, shapes, counted)
    return tallies


def _guards(items: Iterable[Item], guards: Tally) -> None:
    """The guards of instructions that have one."""
    for line, guard, opcode, _ in items:
        key = f"{opcode} {'unless' if (guard or '').startswith('@!') else 'if'}"
        guards.setdefault(key, []).append(line)


def _literals(items: Sequence[Item], shapes: Sequence[Shape], counted: Tally) -> Tally:
    """Literal operands, where the shape of the line says that they are, or found by a search of the operands."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for item, shape in [
        pair for pair in zip(items, shapes, strict=True) if pair[1].literals is not NO_PLACES
    ]:
        line, _, opcode, operands = item
        if not operands or opcode not in counted:
            continue
        places, zeros = shape.literals, shape.zeros
        if places is not None and (not zeros or all(operands[zero] == "0" for zero in zeros)):
            for place in places:
                found[operands[place]].append(line)
        elif len(operands) <= LONGEST_OPERANDS:
            for literal in LITERAL.findall(operands):
                found[literal].append(line)
    return found


def _facts(tallies: dict[str, Tally], scope: str) -> Iterable[Fact]:
    for fact in TALLIES:
        tally = tallies[fact]
        if not tally:
            yield Fact(id=fact, value={}, scope=scope)
            continue
        evidence = {key: tuple(sorted(tally[key])) for key in sorted(tally)}
        value: Value = {key: len(places) for key, places in evidence.items()}
        yield Fact(id=fact, value=value, scope=scope, evidence=evidence)


def _declared(items: list[Item]) -> list[Fact]:
    """Facts from directives."""
    header: dict[str, Scalar] = {}
    lines: dict[str, tuple[int, ...]] = {}
    register_counts: dict[str, int] = {}
    register_lines: Tally = {}
    local: list[Item] = []
    head: declarations.Head | None = None
    head_line = 0
    for item in items:
        line, _, word, text = item
        if word in (".version", ".target", ".address_size") and word[1:] not in header:
            value = (text or "").removeprefix(word).strip()
            header[word[1:]] = int(value) if word == ".address_size" and value in ("32", "64") else value
            lines[word[1:]] = (line,)
        elif word == ".reg":
            for kind, _, count in declarations.registers(text or ""):
                register_counts[kind] = register_counts.get(kind, 0) + (1 if count is None else count)
                register_lines.setdefault(kind, []).append(line)
        elif word == ".local":
            local.append(item)
        elif word == ".entry" and head is None:
            head, head_line = declarations.parse_head(text or ""), line
    kinds = sorted(register_counts)
    facts = [
        Fact(id="ptx.header", value=header, evidence=lines),
        *_target(str(header.get("target", "")), lines.get("target", ())),
        Fact(
            id="ptx.virtual_registers",
            value={kind: register_counts[kind] for kind in kinds},
            evidence={kind: tuple(register_lines[kind]) for kind in kinds},
        ),
        Fact(
            id="ptx.local_bytes",
            value=declarations.storage_bytes(item[3] or "" for item in local),
            evidence={"": tuple(item[0] for item in local)} if local else {},
        ),
    ]
    if head is not None:
        bounds = {name: declarations.bound_value(name, value) for name, value in sorted(head.bounds)}
        facts.append(Fact(id="ptx.launch_bounds", value=bounds, evidence=dict.fromkeys(bounds, (head_line,))))
        texts = tuple(parameter.text for parameter in head.parameters)
        facts.append(Fact(id="ptx.parameters", value=texts, evidence={"": (head_line,)}))
    return facts


def _target(directive: str, lines: tuple[int, ...]) -> list[Fact]:
    """``sm_90a, debug`` is ``cuda:90``: the suffix is a choice of Triton's, not another GPU."""
    arch = re.match(r"sm_(\d{2,3})", directive)
    return [Fact(id="ptx.target", value=f"cuda:{arch.group(1)}", evidence={"": lines})] if arch else []


def _coverage(items: tuple[Item, ...], directives: list[Item], counted: Tally) -> Coverage:
    """Instructions and directives understood; braces and labels carry nothing of their own."""
    too_long = {opcode for opcode in set(map(itemgetter(2), items)) if len(opcode) > LONGEST_OPCODE}
    long = [(item[0], item[2][:120]) for item in items if item[2] in too_long] if too_long else []
    unknown = [
        *long,
        *((item[0], (item[3] or "")[:120]) for item in directives if not declarations.is_understood(item)),
    ]
    unknown.extend(
        (line, opcode) for opcode, lines in counted.items() if not opcodes.is_known(opcode) for line in lines
    )
    unknown.sort()
    total = sum(map(len, counted.values())) + len(directives) + len(long)
    return Coverage(understood=total - len(unknown), total=total, unknown=tuple(unknown[:MOST_UNKNOWN]))


def _issues(listing: Listing, coverage: Coverage) -> Iterable[Issue]:
    if listing.damage is not None:
        yield Issue(
            severity="error",
            code="not-text",
            message=f"{listing.damage[0]}: the file is damaged",
            stage="ptx",
            line=listing.damage[1],
            hint="compile the kernel again; what is left was read",
        )
    if listing.truncated is not None:
        yield Issue(
            severity="error",
            code="truncated",
            message="the PTX ends in the middle: the last statement or block is not closed",
            stage="ptx",
            line=listing.truncated,
            hint="compile the kernel again, or copy the file again",
        )
    if listing.open_assembly is not None:
        yield Issue(
            severity="warning",
            code="open-inline-assembly",
            message="a block of inline assembly begins and does not end: lines may be missing",
            stage="ptx",
            line=listing.open_assembly,
            hint="compile the kernel again, or copy the file again",
        )
    missing = coverage.total - coverage.understood
    if missing:
        line, text = coverage.unknown[0]
        yield Issue(
            severity="warning",
            code="not-understood",
            message=f"{missing} of {coverage.total} statements not understood, the first: {text}",
            stage="ptx",
            line=line,
            hint="they are counted under their own names; a newer irdiff may know them",
        )
    if not any(text.startswith(".loc") for _, text in listing.debug):
        yield Issue(
            severity="note",
            code="no-line-information",
            message="no line information: nothing here can be traced to lines of the Python source",
            stage="ptx",
            hint="compile without TRITON_DISABLE_LINE_INFO",
        )
    for line, text in listing.debug:
        if text.startswith(".file") and text.rstrip('"').endswith((".ttgir", ".ttir", ".llir")):
            yield Issue(
                severity="note",
                code="lines-of-an-ir-file",
                message="line information points into a compiler stage's file, not into Python",
                stage="ptx",
                line=line,
                hint="compile without USE_IR_LOC",
            )
            break
