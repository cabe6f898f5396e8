"""Facts counted from decoded instructions: for the whole kernel, and inside each loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from irdiff.api import Coverage, Fact, Scalar, Scope
from irdiff_sass.families import TABLE, access_bytes, class_of, is_mma, matrix_bytes
from irdiff_sass.instructions import OPERAND, Instruction
from irdiff_sass.listing import CodeText, Listing
from irdiff_sass.loops import Loop, find_loops

UNKNOWN_SHOWN = 50
"""Places listed of what was not understood."""

Key = Callable[[Instruction], str | None]


def _width(*families: str, matrix: str = "") -> Key:
    def key(instruction: Instruction) -> str | None:
        if not instruction.executes:
            return None
        if instruction.family in families:
            return str(access_bytes(instruction.opcode))
        if instruction.family == matrix:
            return f"{matrix_bytes(instruction.opcode)} matrix"
        return None

    return key


def _local(instruction: Instruction) -> str | None:
    if not instruction.executes or instruction.family not in ("LDL", "STL"):
        return None
    return f"{'load' if instruction.family == 'LDL' else 'store'} {access_bytes(instruction.opcode)}"


TALLIES: dict[str, Key] = {
    "sass.opcodes": lambda instruction: instruction.opcode,
    "sass.classes": lambda instruction: class_of(instruction.family),
    "sass.mma": lambda instruction: instruction.opcode if is_mma(instruction.family) else None,
    "sass.global_loads": _width("LDG", "LD"),
    "sass.global_stores": _width("STG", "ST"),
    "sass.shared_loads": _width("LDS", matrix="LDSM"),
    "sass.shared_stores": _width("STS", matrix="STSM"),
    "sass.local_accesses": _local,
}
"""Fact id to the key under which an instruction counts, or ``None``."""


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
    everywhere = _everywhere(instructions)
    facts = [Fact(id="sass.instructions", value=len(instructions), scope=scope, evidence=everywhere)]
    for fact_id, key in TALLIES.items():
        places: dict[str, list[int]] = {}
        for instruction in instructions:
            found = key(instruction)
            if found is not None:
                places.setdefault(found, []).append(instruction.address)
        value: dict[str, Scalar] = {each: len(places[each]) for each in sorted(places)}
        evidence = {each: tuple(places[each]) for each in sorted(places)}
        facts.append(Fact(id=fact_id, value=value, scope=scope, evidence=evidence))
    if all(instruction.control >= 0 for instruction in instructions):
        stalls = sum(instruction.stall for instruction in instructions)
        facts.append(Fact(id="sass.stalls", value=stalls, scope=scope, evidence=everywhere))
    return facts


def _everywhere(instructions: Sequence[Instruction]) -> dict[str, tuple[int, ...]]:
    """Every address."""
    return {"": tuple(instruction.address for instruction in instructions)} if instructions else {}


def coverage(codes: Iterable[CodeText]) -> Coverage:
    """Instructions whose opcode family is in the table and whose operands have a known form."""
    total = understood = 0
    unknown: list[tuple[int, str]] = []
    checked: dict[str, bool] = {}
    for code in codes:
        for instruction in code.without_padding():
            total += 1
            if instruction.family in TABLE and all(
                _known(operand, checked) for operand in instruction.operands
            ):
                understood += 1
            elif len(unknown) < UNKNOWN_SHOWN:
                text = f"{instruction.opcode} {', '.join(instruction.operands)}".rstrip()[:200]
                unknown.append((instruction.address, text))
    return Coverage(understood=understood, total=total, unknown=tuple(unknown))


def _known(operand: str, checked: dict[str, bool]) -> bool:
    if operand not in checked:
        checked[operand] = OPERAND.fullmatch(operand) is not None
    return checked[operand]
