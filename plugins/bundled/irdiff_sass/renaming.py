"""Renaming registers so that only their names are lost.

An instruction names the first of several registers that it uses, so a name alone does not say what is touched.
Registers that one operand can reach are therefore kept together: for each mention an upper bound of its span is
known from the opcode, overlapping spans make a group of neighbours, groups are numbered in order of first use, and
a register becomes (group, distance from the group's start). Invariant: if two texts become equal, mapping group to
group takes each operand's registers to the same registers on the other side. Too wide a bound only keeps more.

Predicates and barrier registers stand for themselves and are numbered one by one. Where a number means more than
a name (masks of predicates, the calling convention, an opcode not known) the class keeps its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from irdiff_sass.families import TABLE, access_bytes, matrix_bytes
from irdiff_sass.instructions import Instruction

MENTION = re.compile(
    r"(?<![A-Za-z0-9_.])(?:(tmem|idesc|gdesc|desc)\[)?(UR|UP|R|P|B)(\d{1,3})(?![A-Za-z0-9_])"
)
NAME = re.compile(r"(?<![A-Za-z0-9_.])(UR|UP|R|P|B)(\d{1,3})(?![A-Za-z0-9_])")
ALL = frozenset({"R", "UR", "P", "UP", "B"})
GROUPED = ("R", "UR")

MASKS = frozenset({"PR", "UPR"})
"""Operands that stand for all predicates, picked by a mask of their numbers."""
PAIRS = frozenset(
    {
        "CS2R",
        "CS2UR",
        "LEPC",
        "RET",
        "BRX",
        "BRXU",
        "JMX",
        "JMXU",
        "DADD",
        "DFMA",
        "DMUL",
        "DSETP",
        "FADD2",
        "FMUL2",
        "FFMA2",
        "CCTL",
        "SYNCS",
        "UTCBAR",
        "LDGSTS",
    }
)
"""Families with operands of two registers and no modifier that says so."""
QUADS = frozenset({"HMMA", "IMMA", "BMMA"})
"""Fragments of up to four registers."""
MEMORY = frozenset(
    {
        "LD",
        "LDG",
        "LDL",
        "LDS",
        "ST",
        "STG",
        "STL",
        "STS",
        "ATOM",
        "ATOMG",
        "ATOMS",
        "RED",
        "REDG",
        "LDC",
        "LDCU",
        "ULDC",
        "LDSM",
        "STSM",
    }
)
SCALAR_CLASSES = frozenset({"integer", "float", "conversion", "special function", "uniform"})
"""Classes of 32-bit operations, unless a modifier says otherwise."""
ALIGNED = 8
"""The widest operand of any other family: 256 bits."""
SHAPE = re.compile(r"\.64x(\d{1,3})x")
TENSOR_MEMORY = 128
TILED = re.compile(r"UTMA(?:LDG|STG)\.([1-5])D")
TENSOR_MAP = 12
"""Shared address, barrier, coordinates and offsets of a TMA copy lie in neighbouring uniform registers."""


def _limit(instruction: Instruction) -> int:
    """Registers that an operand can span where it is aligned to its own size."""
    family, opcode = instruction.family, instruction.opcode
    modifiers = opcode.split(".")[1:]
    if family in ("LDSM", "STSM"):
        return matrix_bytes(opcode) // 4
    if family in MEMORY:
        return max(2, access_bytes(opcode) // 4)
    if family in PAIRS:
        return 2
    if family in QUADS:
        return 4
    if TABLE.get(family) not in SCALAR_CLASSES:
        return ALIGNED
    if any("256" in each or "128" in each for each in modifiers):
        return ALIGNED
    return 2 if any("64" in each or each == "WIDE" for each in modifiers) else 1


def _unaligned(instruction: Instruction) -> int:
    """Vector registers of an operand that need not be aligned to its size; 0 where there is none."""
    family = instruction.family
    if family.endswith("GMMA"):
        shape = SHAPE.search(instruction.opcode)
        return max(ALIGNED, int(shape.group(1)) // 2 if shape else TENSOR_MEMORY)
    if family in ("LDTM", "STTM", "LDT", "STT"):
        return TENSOR_MEMORY
    if family in ("DMMA", "QMMA", "OMMA") or (
        family.startswith("ATOM") and instruction.opcode.endswith("128")
    ):
        return ALIGNED
    return 0


def _spans(instruction: Instruction) -> Iterator[tuple[str, int, int]]:
    """(class, first register, upper bound of how many) of each mention."""
    limit, unaligned = _limit(instruction), _unaligned(instruction)
    tensor_map = instruction.family.startswith(("UTMA", "UBLK"))
    for position, operand in enumerate(instruction.operands):
        for found in MENTION.finditer(operand):
            place, kind, number = found.group(1), found.group(2), int(found.group(3))
            if kind == "UR" and place is not None:
                descriptor = 2 if instruction.family.startswith("UTC") else 4
                width = {"tmem": 1, "idesc": 1, "desc": 2}.get(place, descriptor)
            elif kind == "UR" and tensor_map:
                width = _tensor_map_width(instruction.opcode) if position == 0 else 4
            elif kind == "R" and unaligned:
                width = unaligned
            else:
                width = min(limit, number & -number) if number else limit
            yield kind, number, width


def _tensor_map_width(opcode: str) -> int:
    """Shared address, barrier and one coordinate for each dimension of a tiled copy."""
    tiled = TILED.fullmatch(opcode)
    return 2 + int(tiled.group(1)) if tiled else TENSOR_MAP


def kept_classes(code: Sequence[Instruction]) -> frozenset[str]:
    """Classes whose numbers mean more than a name in this code."""
    kept: set[str] = set()
    for instruction in code:
        if instruction.family not in TABLE:
            return ALL
        if instruction.opcode.startswith("CALL.ABS"):
            kept.add("R")
        if any(operand.lstrip("!").partition(".")[0] in MASKS for operand in instruction.operands):
            kept |= {"P", "UP"}
    return frozenset(kept)


class Renaming:
    """Names in order of first use, for one section of code."""

    def __init__(self, code: Sequence[Instruction], *, alone: bool) -> None:
        """``alone``: no other section shares the registers."""
        self._kept = kept_classes(code) if alone else ALL
        self._starts = {kind: _groups(code, kind) for kind in GROUPED if kind not in self._kept}
        self._numbers: dict[tuple[str, int], int] = {}
        self._used: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        """The text with its names replaced: ``r3`` is the start of the fourth group, ``r3_1`` the next one."""
        return NAME.sub(self._name, text)

    def given(self) -> list[str]:
        """Which register or group became which."""
        return [f"{kind}{start}>{number}" for (kind, start), number in self._numbers.items()]

    def _name(self, found: re.Match[str]) -> str:
        kind, number = found.group(1), int(found.group(2))
        if kind in self._kept:
            return found.group(0)
        start = self._starts[kind].get(number, number) if kind in GROUPED else number
        if (kind, start) not in self._numbers:
            self._numbers[kind, start] = self._used.get(kind, 0)
            self._used[kind] = self._used.get(kind, 0) + 1
        name = f"{kind.lower()}{self._numbers[kind, start]}"
        return f"{name}_{number - start}" if number > start else name


def _groups(code: Iterable[Instruction], kind: str) -> dict[int, int]:
    """Register to the start of its group, for each register mentioned."""
    widest: dict[int, int] = {}
    for instruction in code:
        for each, number, width in _spans(instruction):
            if each == kind and width > widest.get(number, 0):
                widest[number] = width
    starts: dict[int, int] = {}
    start = end = -1
    for number in sorted(widest):
        if number >= end:
            start, end = number, number
        end = max(end, number + widest[number])
        starts[number] = start
    return starts
