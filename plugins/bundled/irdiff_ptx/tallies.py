"""Counts the instructions of PTX: for each tally of the stage, the lines of each key."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from irdiff.api import Fact, Value
from irdiff_ptx.items import Items
from irdiff_ptx.keys import key_of, without_addresses
from irdiff_ptx.opcodes import LONGEST_OPCODE, access_bytes, fact_of, memory_fact
from irdiff_ptx.shapes import GUARDED, KEYED, PACKS, UNPACKS, is_literal
from irdiff_ptx.specs import TALLIES

LONGEST_KEPT = 64
"""Characters of operands whose key is worth remembering in the process."""
_SHORTER = 4
"""How many times less work it is to look for a key of a tally than to count an item."""

Tally = dict[str, tuple[int, ...]]


@lru_cache(maxsize=4096)
def _plan(opcode: str) -> tuple[str, str | Callable[[str], str]] | None:
    """(fact, key or how to make it from the operands) of an opcode that another tally than that of opcodes takes."""
    words = opcode.split(".")
    memory = memory_fact(words)
    if memory is not None:
        size = access_bytes(words)
        return memory, str(size) if size is not None else opcode
    fact = fact_of(words)
    if fact is None or words[0] == "mov":  # its shape says whether it packs
        return None
    return fact, key_of(fact, opcode, words)


@lru_cache(maxsize=1024)
def _key(opcode: str, operands: str) -> tuple[str, str] | None:
    """(fact, key) of an instruction whose key is made from its operands."""
    plan = _plan(opcode)
    return None if plan is None or isinstance(plan[1], str) else (plan[0], plan[1](operands))


def tallies(items: Items) -> dict[str, Tally]:
    """For each tally of the stage, the lines of each key."""
    opcodes: defaultdict[str, list[int]] = defaultdict(list)
    literals: defaultdict[str, list[int]] = defaultdict(list)
    columns = zip(items.numbers, items.opcodes, items.texts, items.shapes, strict=True)
    for line, opcode, text, shape in columns:
        opcodes[opcode].append(line)
        if shape.literals:
            for place in shape.literals:
                literals[text[place]].append(line)
    found: dict[str, Tally] = {fact: {} for fact in TALLIES}
    counted = found["ptx.opcodes"]
    for opcode, group in opcodes.items():
        if len(opcode) > LONGEST_OPCODE or not opcode[0].isalpha():
            continue
        counted[opcode] = lines = tuple(group)
        plan = _plan(opcode)
        if plan is not None and isinstance(plan[1], str):
            tally, key = found[plan[0]], plan[1]
            tally[key] = tuple(sorted((*tally[key], *lines))) if key in tally else lines
    _add_by_operands(items, found)
    found["ptx.immediates"] = {
        literal: tuple(group)
        for literal, group in literals.items()
        if literal.isdecimal() or is_literal(literal)
    }
    return found


def _add_by_operands(items: Items, tallies: dict[str, Tally]) -> None:
    """Count guards, and the instructions whose key is made from their operands."""
    made: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    opcodes, texts, shapes, flags = items.opcodes, items.texts, items.shapes, items.flags
    counted = tallies["ptx.opcodes"]
    for index in items.where(GUARDED | PACKS | UNPACKS | KEYED):
        opcode, flag = opcodes[index], flags[index]
        if opcode not in counted:
            continue
        line = items.numbers[index]
        if flag & GUARDED:
            is_not = texts[index].startswith("@!", shapes[index].guard.start)
            made["ptx.predicated", f"{opcode} {'unless' if is_not else 'if'}"].append(line)
        if flag & (PACKS | UNPACKS):
            made["ptx.packing", f"{opcode} {'pack' if flag & PACKS else 'unpack'}"].append(line)
        elif flag & KEYED:
            operands = texts[index][shapes[index].operands]
            if operands.startswith("["):
                operands = without_addresses(operands)
            find = _key if len(operands) <= LONGEST_KEPT else _key.__wrapped__
            found = find(opcode, operands)
            if found is not None:
                made[found].append(line)
    for (fact, key), group in made.items():
        tally = tallies[fact]
        tally[key] = tuple(sorted((*tally[key], *group))) if key in tally else tuple(group)


def tallies_within(items: Items, whole: dict[str, Tally], parts: Sequence[slice]) -> dict[str, Tally]:
    """The tallies of some parts of the items; cut out of those of the whole where that is less work."""
    spans = items.spans(parts)
    work = len(spans) * sum(map(len, whole.values()))
    if work > _SHORTER * sum(part.stop - part.start for part in parts) or not items.are_alone(parts):
        return tallies(items.within(parts))
    found: dict[str, Tally] = {}
    for fact, tally in whole.items():
        found[fact] = inside = {}
        for key, lines in tally.items():
            here: tuple[int, ...] = ()
            for first, last in spans:
                here += lines[bisect_left(lines, first) : bisect_right(lines, last)]
            if here:
                inside[key] = here
    return found


def facts_of(tallies: dict[str, Tally], scope: str) -> Iterable[Fact]:
    """The facts of the tallies, keys in order."""
    for fact, tally in tallies.items():
        evidence = {key: tally[key] for key in sorted(tally)} if tally else {}
        value: Value = dict(zip(evidence, map(len, evidence.values()), strict=True)) if tally else {}
        yield Fact(id=fact, value=value, scope=scope, evidence=evidence)
