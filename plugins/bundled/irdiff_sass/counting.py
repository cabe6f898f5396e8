"""Facts counted from decoded instructions: for the whole kernel, and inside each loop."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from irdiff.api import Coverage, Fact, Scalar, Scope
from irdiff_sass.decoded import CodeText, Listing
from irdiff_sass.families import TABLE, access_bytes, class_of, is_mma, matrix_bytes
from irdiff_sass.instructions import NO_CONTROL
from irdiff_sass.loops import Loop, find_loops

UNKNOWN_SHOWN = 50
"""Places listed of what was not understood."""

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
ACCESSES = frozenset(TALLIES[3:])
"""Those that count what executes alone."""
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
def _keys(opcode: str) -> tuple[tuple[str, str], ...]:
    """(fact, key) of each tally that counts an opcode."""
    family = opcode.partition(".")[0]
    found = [("sass.opcodes", opcode), ("sass.classes", class_of(family))]
    if is_mma(family):
        found.append(("sass.mma", opcode))
    if family in _ACCESSES:
        found.append((_ACCESSES[family], str(access_bytes(opcode))))
    if family in _MATRICES:
        found.append((_MATRICES[family], f"{matrix_bytes(opcode)} matrix"))
    if family in _LOCAL:
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
    scopes: list[Scope] = []
    members: dict[str, frozenset[int]] = {}
    texts: list[str] = []
    facts = _facts(_all([_body(code) for code in listing.codes]), "")
    for code in listing.codes:
        ids: list[str] = []
        for loop in _outer_first(find_loops(code)):
            parent = f"{ids[loop.parent]}/" if loop.parent is not None else ""
            scope = f"{parent}loop{len(scopes)}"
            ids.append(scope)
            inside = _loop(code, sorted(loop.members))
            addresses = inside.addresses
            scopes.append(Scope(id=scope, first=addresses[0], last=addresses[-1]))
            members[scope] = frozenset(addresses)
            texts.append(f"depth {scope.count('/') + 1}: {len(addresses)} instructions")
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


class _Inside(msgspec.Struct, frozen=True, kw_only=True):
    """Some instructions: those of a loop, or all but the padding."""

    addresses: tuple[int, ...] = ()
    controls: tuple[int, ...] = ()
    places: dict[str, tuple[int, ...]] = {}
    """Opcode to addresses."""
    idle: frozenset[int] = frozenset()
    """Addresses of those that never execute."""


def _body(code: CodeText) -> _Inside:
    stop = code.body
    places = code.places
    if stop < len(code):
        kept = places["NOP"][: stop - len(code)]
        places = places | {"NOP": kept} if kept else {each: places[each] for each in places if each != "NOP"}
    return _Inside(
        addresses=code.addresses[:stop],
        controls=code.controls[:stop],
        places=places,
        idle=_idle(code, range(stop)),
    )


def _loop(code: CodeText, indices: Sequence[int]) -> _Inside:
    places: dict[str, list[int]] = defaultdict(list)
    for index in indices:
        places[code.opcode(index)].append(code.addresses[index])
    return _Inside(
        addresses=tuple([code.addresses[index] for index in indices]),
        controls=tuple([code.controls[index] for index in indices]),
        places={opcode: tuple(addresses) for opcode, addresses in places.items()},
        idle=_idle(code, indices),
    )


def _idle(code: CodeText, indices: Iterable[int]) -> frozenset[int]:
    if all(shape.executes for shape in code.forms):
        return frozenset()
    return frozenset([code.addresses[index] for index in indices if not code.shapes[index].executes])


def _all(sections: Sequence[_Inside]) -> _Inside:
    """The instructions of several sections."""
    if len(sections) == 1:
        return sections[0]
    places: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for section in sections:
        for opcode, addresses in section.places.items():
            places[opcode].append(addresses)
    return _Inside(
        addresses=_joined([each.addresses for each in sections]),
        controls=_joined([each.controls for each in sections]),
        places={opcode: _joined(several) for opcode, several in places.items()},
        idle=frozenset().union(*[each.idle for each in sections]),
    )


def _joined(several: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(itertools.chain.from_iterable(several))


def _facts(inside: _Inside, scope: str) -> list[Fact]:
    everywhere = {"": inside.addresses} if inside.addresses else {}
    facts = [Fact(id="sass.instructions", value=len(inside.addresses), scope=scope, evidence=everywhere)]
    tallies = _tallies(inside)
    for fact_id in TALLIES:
        places = tallies[fact_id]
        evidence = {key: places[key] for key in sorted(places)}
        value: dict[str, Scalar] = {key: len(places) for key, places in evidence.items()}
        facts.append(Fact(id=fact_id, value=value, scope=scope, evidence=evidence))
    if NO_CONTROL not in inside.controls:
        stalls = sum([control & 15 for control in inside.controls])
        facts.append(Fact(id="sass.stalls", value=stalls, scope=scope, evidence=everywhere))
    return facts


def _tallies(inside: _Inside) -> dict[str, dict[str, tuple[int, ...]]]:
    """For each tally the addresses of each key, in order: counted by opcode, of which there are few."""
    found: dict[str, dict[str, list[tuple[int, ...]]]] = {fact_id: {} for fact_id in TALLIES}
    for opcode, addresses in inside.places.items():
        for fact_id, key in _keys(opcode):
            executed = addresses
            if inside.idle and fact_id in ACCESSES:
                executed = tuple([address for address in addresses if address not in inside.idle])
            if executed:
                found[fact_id].setdefault(key, []).append(executed)
    return {
        fact_id: {
            key: several[0] if len(several) == 1 else tuple(sorted(_joined(several)))
            for key, several in tally.items()
        }
        for fact_id, tally in found.items()
    }


def coverage(codes: Iterable[CodeText]) -> Coverage:
    """Instructions whose opcode family is in the table and whose operands have a known form."""
    total = understood = 0
    unknown: list[tuple[int, str]] = []
    for code in codes:
        stop = code.body
        total += stop
        strange = {opcode for opcode in code.places if not _is_known(opcode)}
        odd = {shape for shape in code.forms if not shape.understood}
        if not strange and not odd:
            understood += stop
            continue
        for index in range(stop):
            if code.shapes[index] not in odd and code.opcode(index) not in strange:
                understood += 1
            elif len(unknown) < UNKNOWN_SHOWN:
                each = code.at(index)
                unknown.append((each.address, f"{each.opcode} {', '.join(each.operands)}".rstrip()[:200]))
    return Coverage(understood=understood, total=total, unknown=tuple(unknown))


@lru_cache(maxsize=4096)
def _is_known(opcode: str) -> bool:
    return opcode.partition(".")[0] in TABLE
