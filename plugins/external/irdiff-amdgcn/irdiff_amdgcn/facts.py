"""Counts what AMDGPU assembly holds: the summary of the stage ``amdgcn``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from irdiff.api import Artifact, Context, Coverage, Fact, Issue, Scope, Summary

from irdiff_amdgcn import classes, opcodes, operands, resources, spills
from irdiff_amdgcn.control import control_flow
from irdiff_amdgcn.instruction_specs import TALLIES
from irdiff_amdgcn.metadata import Metadata, from_yaml
from irdiff_amdgcn.reader import Item, Listing, listing_of
from irdiff_amdgcn.source_lines import source_lines
from irdiff_amdgcn.trips import TripCounts
from irdiff_amdgcn.work import wave_work

MOST_UNKNOWN = 50
"""Lines not understood that are listed."""
STAGE = "amdgcn"
_DPP = re.compile(
    r"\b(quad_perm:\[[\d,]{1,16}\]|row_\w{1,24}(?::\d{1,2})?|wave_\w{1,12}(?::\d{1,2})?|dpp8:\[[\d,]{1,20}\])"
)
_OPERAND_TYPES = re.compile(r"\b(?:cbsz|blgp|matrix_[ab]_fmt):\w{1,16}")
_TO_LDS = re.compile(r"(?:^|\s)lds(?:\s|\Z)")
_BY_CLASS = {"conversion": "conversions", "cross lane": "cross_lane", "async copy": "async_copies"}
Tally = dict[str, list[int]]


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Everything the assembly says, in whole and for each loop. Raises ParseError where it is none."""
    listing = listing_of(artifact, context)
    metadata = from_yaml(listing.metadata)
    flow = control_flow(listing.items)
    facts = [*resources.header(listing, metadata), *resources.resources(listing, metadata)]
    facts += _facts(_tallies(flow.instructions), "")
    sites = spills.find_sites(flow.instructions, metadata)
    facts += spills.whole_kernel(sites, flow.instructions, metadata)
    trips = TripCounts(flow)
    counts = {loop.id: trips.of(loop) for loop in flow.loops}
    scopes: list[Scope] = []
    for loop in flow.loops:
        inside = flow.inside(loop)
        lines = [item.line for item in inside]
        scopes.append(
            Scope(
                id=loop.id,
                trip_count=counts[loop.id],
                first=min(lines, default=0),
                last=max(lines, default=0),
            )
        )
        facts += _facts(_tallies(inside), loop.id)
        facts += spills.facts_of(sites, inside, loop.id)
    work = wave_work(flow, counts) if any(opcodes.flops_of(item.word) for item in flow.instructions) else {}
    facts += [Fact(id="amdgcn.wave_flops", value=work[scope], scope=scope) for scope in sorted(work)]
    coverage = _coverage(listing)
    return Summary(
        facts=tuple(facts),
        scopes=tuple(scopes),
        coverage=coverage,
        issues=tuple(_issues(listing, metadata, coverage)),
        source_lines=source_lines(listing),
    )


def _tallies(items: Iterable[Item]) -> dict[str, Tally]:
    """For each tally of the stage, the lines of each key."""
    tallies: dict[str, Tally] = {fact: {} for fact in TALLIES}
    for item in items:
        for fact, key in _counted(item.word, item.operands):
            lines = tallies[fact].get(key)
            if lines is None:
                tallies[fact][key] = [item.line]
            else:
                lines.append(item.line)
    return tallies


@lru_cache(maxsize=1 << 14)
def _counted(opcode: str, text: str) -> tuple[tuple[str, str], ...]:
    """(tally, key) of everything that an instruction counts as."""
    if len(opcode) > opcodes.LONGEST:
        return (("amdgcn.classes", classes.UNCLASSIFIED),)
    name = classes.class_of(opcode)
    found = [("classes", name)]
    for part in opcodes.parts_of(opcode, text):
        found.append(("opcodes", part[: opcodes.LONGEST]))
        if opcodes.is_contraction(part):
            found.append(("fp", opcodes.base_of(part)))
    found += _keys(opcode, text)
    if name not in ("wait", "scheduling"):
        found += [("immediates", literal) for literal in operands.literals(text)]
    return tuple((f"amdgcn.{fact}", key) for fact, key in found)


def _keys(opcode: str, text: str) -> Iterator[tuple[str, str]]:
    """(tally, key) of an instruction in the tallies that what it does alone decides."""
    access = opcodes.access_of(opcode)
    if access is not None:
        yield from _access(text, *access)
        return
    if opcodes.is_atomic(opcode):
        yield "atomics", opcode
        return
    name = classes.class_of(opcode)
    if name == "tensor":
        modifiers = _OPERAND_TYPES.findall(text[: operands.LONGEST])
        yield "mma", " ".join([opcodes.base_of(opcode), *modifiers])
    elif name == "wait":
        for key in operands.waits(opcode, text):
            yield "async_waits", key
    elif name == "barrier":
        yield "barriers", f"{opcode} {text}".strip()[: opcodes.LONGEST]
    elif name in _BY_CLASS:
        yield _BY_CLASS[name], opcodes.base_of(opcode)
    control = _DPP.search(text[: operands.LONGEST]) if "_dpp" in opcode or ":" in text else None
    if control is not None:
        yield "cross_lane", f"{opcodes.base_of(opcode)} {control[1]}"


def _access(text: str, space: str, direction: str, size: int, direct: bool) -> Iterator[tuple[str, str]]:  # noqa: FBT001  # the parts of access_of
    if direct or _TO_LDS.search(text[: operands.LONGEST]):
        yield "async_copies", f"{space} {size}"
        return
    yield "accesses", f"{space} {direction} {size}"
    if space == "scratch":
        yield "local_accesses", f"{direction} {size}"
    else:
        yield f"{'shared' if space == 'ds' else 'global'}_{direction}s", str(size)


def _facts(tallies: dict[str, Tally], scope: str) -> Iterator[Fact]:
    for fact in TALLIES:
        tally = tallies[fact]
        keys = sorted(tally)
        yield Fact(
            id=fact,
            value={key: len(tally[key]) for key in keys},
            scope=scope,
            evidence={key: tuple(sorted(tally[key])) for key in keys},
        )


def _coverage(listing: Listing) -> Coverage:
    """Of instructions: opcode in the table and operands of a known form."""
    total = understood = 0
    unknown: list[tuple[int, str]] = []
    for item in listing.items:
        if item.kind == "unknown":
            total += 1
        elif item.kind == "instruction":
            total += 1
            if classes.is_known(item.word) and operands.understood(item.operands):
                understood += 1
                continue
        else:
            continue
        if len(unknown) < MOST_UNKNOWN:
            unknown.append((item.line, f"{item.word} {item.operands}".strip()[:120]))
    return Coverage(understood=understood, total=total, unknown=tuple(unknown))


def _issues(listing: Listing, metadata: Metadata, coverage: Coverage) -> Iterator[Issue]:
    if listing.truncated is not None:
        yield Issue(
            severity="error",
            code="truncated",
            message="the assembly ends in the middle: the code object's metadata or the end of a function is missing",
            stage=STAGE,
            line=listing.truncated,
            hint="compile the kernel again, or copy the file again",
        )
    if listing.undecoded is not None:
        yield Issue(
            severity="error",
            code="not-text",
            message="not UTF-8 text: the file is damaged",
            stage=STAGE,
            line=listing.undecoded,
            hint="compile the kernel again; what is left was read",
        )
    if len(metadata.kernels) > 1:
        names = ", ".join(kernel.name for kernel in metadata.kernels[:8])
        yield Issue(
            severity="note",
            code="several-kernels",
            message=f"the file holds {len(metadata.kernels)} kernels ({names}): resources are the largest of them, "
            "counts their sums",
            stage=STAGE,
        )
    missing = coverage.total - coverage.understood
    if missing:
        line, text = coverage.unknown[0]
        yield Issue(
            severity="warning",
            code="not-understood",
            message=f"{missing} of {coverage.total} instructions not understood, the first: {text}",
            stage=STAGE,
            line=line,
            hint="they are counted under their own names; a newer irdiff-amdgcn may know them",
        )
    if not any(item.word == ".loc" for item in listing.debug):
        yield Issue(
            severity="note",
            code="no-line-information",
            message="no line information: nothing here can be traced to lines of the Python source",
            stage=STAGE,
            hint="compile without TRITON_DISABLE_LINE_INFO",
        )
