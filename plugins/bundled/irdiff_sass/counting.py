"""Facts counted from decoded instructions: for the whole kernel, and inside each loop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from irdiff.api import Coverage, Fact, Scalar, Scope
from irdiff_sass.families import TABLE, access_bytes, class_of, is_mma, matrix_bytes
from irdiff_sass.instructions import NEVER, OPERAND, Instruction, split_operands
from irdiff_sass.listing import CodeText, Listing
from irdiff_sass.loops import Loop, find_loops

UNKNOWN_SHOWN = 50
"""Places listed of what was not understood."""

SHORT = 64
"""Characters of an operand that is worth remembering."""

TALLIES = (
    "sass.opcodes",
    "sass.classes",
    "sass.mma",
    "sass.global_loads",
    "sass.global_stores",
    "sass.shared_loads",
    "sass.shared_stores",
    "sass.local_accesses",
)
_ACCESSES = {
    "LDG": "sass.global_loads",
    "LD": "sass.global_loads",
    "STG": "sass.global_stores",
    "ST": "sass.global_stores",
    "LDS": "sass.shared_loads",
    "STS": "sass.shared_stores",
}
_MATRICES = {"LDSM": "sass.shared_loads", "STSM": "sass.shared_stores"}
_LOCAL = {"LDL": "load", "STL": "store"}


@lru_cache(maxsize=4096)
def _keys(opcode: str, *, executes: bool) -> tuple[tuple[str, str], ...]:
    """(fact, key) of each tally that counts an opcode."""
    family = opcode.partition(".")[0]
    found = [("sass.opcodes", opcode), ("sass.classes", class_of(family))]
    if is_mma(family):
        found.append(("sass.mma", opcode))
    if executes and family in _ACCESSES:
        found.append((_ACCESSES[family], str(access_bytes(opcode))))
    if executes and family in _MATRICES:
        found.append((_MATRICES[family], f"{matrix_bytes(opcode)} matrix"))
    if executes and family in _LOCAL:
        found.append(("sass.local_accesses", f"{_LOCAL[family]} {access_bytes(opcode)}"))
    return tuple(found)


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted in decoded code."""

    facts: tuple[Fact, ...]
    scopes: tuple[Scope, ...]
    members: dict[str, frozenset[int]]
    """Addresses of the instructions of each loop: between its first and last one there may be others."""


def count_facts(listing: Listing) -> Counted:
    """The facts and the loops of decoded code, without the NOPs that fill its sections."""
    facts: list[Fact] = []
    scopes: list[Scope] = []
    members: dict[str, frozenset[int]] = {}
    texts: list[str] = []
    everything = [instruction for code in listing.codes for instruction in code.without_padding()]
    facts += _facts(everything, "")
    for code in listing.codes:
        body = code.without_padding()
        ids: list[str] = []
        for loop in _outer_first(find_loops(body, code.indices())):
            parent = f"{ids[loop.parent]}/" if loop.parent is not None else ""
            scope = f"{parent}loop{len(scopes)}"
            ids.append(scope)
            inside = [body[index] for index in sorted(loop.members)]
            scopes.append(Scope(id=scope, first=inside[0].address, last=inside[-1].address))
            members[scope] = frozenset(instruction.address for instruction in inside)
            texts.append(f"depth {scope.count('/') + 1}: {len(inside)} instructions")
            facts += _facts(inside, scope)
    starts = tuple(scope.first for scope in scopes)
    facts.append(Fact(id="sass.loops", value=tuple(texts), evidence={"": starts} if starts else {}))
    return Counted(facts=tuple(facts), scopes=tuple(scopes), members=members)


def _outer_first(loops: Sequence[Loop]) -> Iterable[Loop]:
    """Loops in order of headers: a loop's header dominates those of the loops inside it.

    The assembler can still place an inner header before the outer one: such a loop is shown without a parent's
    number before its own is known, so parents are put first.
    """
    order: list[int] = []
    for position in range(len(loops)):
        chain = []
        current: int | None = position
        while current is not None and current not in order and current not in chain:
            chain.append(current)
            current = loops[current].parent
        order += reversed(chain)
    moved = {before: after for after, before in enumerate(order)}
    for before in order:
        loop = loops[before]
        parent = None if loop.parent is None else moved[loop.parent]
        yield Loop(header=loop.header, members=loop.members, parent=parent)


def _facts(instructions: Sequence[Instruction], scope: str) -> list[Fact]:
    addresses = tuple([instruction.address for instruction in instructions])
    everywhere = {"": addresses} if addresses else {}
    facts = [Fact(id="sass.instructions", value=len(instructions), scope=scope, evidence=everywhere)]
    tallies = _tallies(instructions)
    for fact_id in TALLIES:
        places = tallies[fact_id]
        keys = sorted(places)
        value: dict[str, Scalar] = {key: len(places[key]) for key in keys}
        evidence = {key: tuple(places[key]) for key in keys}
        facts.append(Fact(id=fact_id, value=value, scope=scope, evidence=evidence))
    controls = [instruction.control for instruction in instructions]
    if min(controls, default=0) >= 0:
        stalls = sum([control & 15 for control in controls])
        facts.append(Fact(id="sass.stalls", value=stalls, scope=scope, evidence=everywhere))
    return facts


def _tallies(instructions: Sequence[Instruction]) -> dict[str, dict[str, list[int]]]:
    """For each tally the addresses of each key, in order: counted by opcode, of which there are few."""
    groups: dict[str, list[int]] = defaultdict(list)
    idle: dict[str, list[int]] = defaultdict(list)
    if NEVER.isdisjoint([instruction.predicate for instruction in instructions]):
        for instruction in instructions:
            groups[instruction.opcode].append(instruction.address)
    else:
        for instruction in instructions:
            opcodes = idle if instruction.predicate in NEVER else groups
            opcodes[instruction.opcode].append(instruction.address)
    tallies: dict[str, dict[str, list[int]]] = {fact_id: {} for fact_id in TALLIES}
    shared: list[list[int]] = []
    for executes, opcodes in ((True, groups), (False, idle)):
        for opcode, addresses in opcodes.items():
            for fact_id, key in _keys(opcode, executes=executes):
                tally = tallies[fact_id]
                known = tally.get(key)
                if known is None:
                    tally[key] = list(addresses)
                else:
                    known += addresses
                    shared.append(known)
    for known in shared:
        known.sort()
    return tallies


def coverage(codes: Iterable[CodeText]) -> Coverage:
    """Instructions whose opcode family is in the table and whose operands have a known form."""
    total = understood = 0
    unknown: list[tuple[int, str]] = []
    for code in codes:
        body = code.without_padding()
        total += len(body)
        strange = {opcode for opcode in {each.opcode for each in body} if not _is_known(opcode)}
        odd = {
            operand
            for operand in _distinct_operands({each.rest for each in body})
            if not _is_operand(operand)
        }
        if not strange and not odd:
            understood += len(body)
            continue
        for each in body:
            if each.opcode not in strange and odd.isdisjoint(each.operands):
                understood += 1
            elif len(unknown) < UNKNOWN_SHOWN:
                text = f"{each.opcode} {', '.join(each.operands)}".rstrip()[:200]
                unknown.append((each.address, text))
    return Coverage(understood=understood, total=total, unknown=tuple(unknown))


@lru_cache(maxsize=4096)
def _is_known(opcode: str) -> bool:
    return opcode.partition(".")[0] in TABLE


def _distinct_operands(lists: Iterable[str]) -> set[str]:
    """All operands of several lists of them."""
    plain = [operands for operands in lists if operands and "{" not in operands]
    found = set(", ".join(plain).split(", ")) if plain else set()
    for operands in lists:
        if "{" in operands:
            found.update(split_operands(operands))
    return found


def _is_operand(operand: str) -> bool:
    """Whether an operand has a known form; short ones, which nearly all are, are looked at once in a process."""
    return _is_short_operand(operand) if len(operand) <= SHORT else OPERAND.fullmatch(operand) is not None


@lru_cache(maxsize=1 << 14)
def _is_short_operand(operand: str) -> bool:
    return OPERAND.fullmatch(operand) is not None
