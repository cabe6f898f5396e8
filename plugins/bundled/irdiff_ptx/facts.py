"""Counts what PTX holds: the summary of the stage."""

from __future__ import annotations

import re
from collections.abc import Iterable

from irdiff.api import Artifact, Context, Coverage, Fact, Issue, Scalar, Scope, Summary
from irdiff_ptx import declarations, opcodes
from irdiff_ptx.control import control_flow
from irdiff_ptx.items import Item
from irdiff_ptx.opcodes import LONGEST_OPCODE
from irdiff_ptx.reader import Listing, read
from irdiff_ptx.source_lines import source_lines
from irdiff_ptx.tallies import Tally, facts_of, tallies, tallies_within
from irdiff_ptx.trips import TripCounts

MOST_UNKNOWN = 50
"""Lines not understood that are listed."""


def listing_of(artifact: Artifact, context: Context) -> Listing:
    """The items of an artifact, read once for summary and canonical form."""
    return context.once("ptx.listing", lambda: read(artifact.read()))


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Everything the PTX says, in whole and for each loop. Raises ParseError where it is no PTX."""
    listing = listing_of(artifact, context)
    items = listing.items
    whole = tallies(items)
    directives = [items[index] for index in listing.marks if items.opcodes[index][0] in ".?"]
    facts = _declared(directives)
    facts.extend(facts_of(whole, ""))
    scopes: list[Scope] = []
    flow = control_flow(items, listing.marks)
    trips = TripCounts(items, flow) if flow.loops else None
    for loop in flow.loops:
        parts = flow.parts(loop)
        spans = items.spans(parts)
        scopes.append(
            Scope(
                id=loop.id,
                trip_count=trips.of(loop) if trips is not None else None,
                first=spans[0][0] if spans else 0,
                last=spans[-1][1] if spans else 0,
            )
        )
        facts.extend(facts_of(tallies_within(items, whole, parts), loop.id))
    coverage = _coverage(listing, directives, whole["ptx.opcodes"])
    return Summary(
        facts=tuple(facts),
        scopes=tuple(scopes),
        coverage=coverage,
        issues=tuple(_issues(listing, coverage)),
        source_lines=source_lines(listing),
    )


def _declared(items: list[Item]) -> list[Fact]:
    """Facts from directives."""
    header: dict[str, Scalar] = {}
    lines: dict[str, tuple[int, ...]] = {}
    register_counts: dict[str, int] = {}
    register_lines: dict[str, list[int]] = {}
    local: list[Item] = []
    head: declarations.Head | None = None
    head_line = 0
    for item in items:
        line, _, word, text = item
        if word in (".version", ".target", ".address_size") and word[1:] not in header:
            value = text.removeprefix(word).strip()
            header[word[1:]] = int(value) if word == ".address_size" and value in ("32", "64") else value
            lines[word[1:]] = (line,)
        elif word == ".reg":
            for kind, _, count in declarations.registers(text):
                register_counts[kind] = register_counts.get(kind, 0) + (1 if count is None else count)
                register_lines.setdefault(kind, []).append(line)
        elif word == ".local":
            local.append(item)
        elif word == ".entry" and head is None:
            head, head_line = declarations.parse_head(text), line
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
            value=declarations.storage_bytes(item[3] for item in local),
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


def _coverage(listing: Listing, directives: list[Item], counted: Tally) -> Coverage:
    """Instructions and directives understood; braces and labels carry nothing of their own."""
    instructions = sum(map(len, counted.values()))
    long: list[tuple[int, str]] = []
    if instructions + len(listing.marks) < len(listing.items):
        pairs = zip(listing.items.numbers, listing.items.opcodes, strict=True)
        long = [(line, opcode[:120]) for line, opcode in pairs if len(opcode) > LONGEST_OPCODE]
    unknown = [
        *long,
        *((item[0], item[3][:120]) for item in directives if not declarations.is_understood(item)),
    ]
    unknown.extend(
        (line, opcode) for opcode, lines in counted.items() if not opcodes.is_known(opcode) for line in lines
    )
    unknown.sort()
    total = instructions + len(directives) + len(long)
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
    if not listing.locations:
        yield Issue(
            severity="note",
            code="no-line-information",
            message="no line information: nothing here can be traced to lines of the Python source",
            stage="ptx",
            hint="compile without TRITON_DISABLE_LINE_INFO",
        )
    for line in listing.files:
        if listing.lines[line - 1].strip().rstrip('"').endswith((".ttgir", ".ttir", ".llir")):
            yield Issue(
                severity="note",
                code="lines-of-an-ir-file",
                message="line information points into a compiler stage's file, not into Python",
                stage="ptx",
                line=line,
                hint="compile without USE_IR_LOC",
            )
            break
