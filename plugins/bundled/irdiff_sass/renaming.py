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
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from irdiff_sass.decoded import CodeText
from irdiff_sass.families import TABLE, access_bytes, matrix_bytes

# A name stands alone. Each pattern but the last begins with a letter and looks back from behind it: `re` then skips
# from one such letter to the next, which is three times as fast as to look back from every character.
_END = r"(\d{1,3})(?![A-Za-z0-9_])"
_BEFORE = r"(?<![A-Za-z0-9_.]{})"
NAME = re.compile(
    rf"((?:{'|'.join(kind + _BEFORE.format(kind) for kind in ('UR', 'UP', 'R', 'P', 'B'))})\d{{1,3}})(?![A-Za-z0-9_])"
)
VECTOR = re.compile("R" + _BEFORE.format("R") + _END)
UNIFORM = re.compile("UR" + _BEFORE.format("UR") + _END)
DESCRIBED = re.compile(_BEFORE.format("") + r"(?:(tmem|idesc|gdesc|desc)\[)?UR" + _END)
GLUED = re.compile(r"\.reuse[A-Za-z0-9_]")
"""A flag of reuse that something follows: without the flag, names may be others."""
ALL = frozenset({"R", "UR", "P", "UP", "B"})
GROUPED = ("R", "UR")

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


def _limit(opcode: str) -> int:
    """Registers that an operand can span where it is aligned to its own size."""
    family = opcode.partition(".")[0]
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


def _unaligned(opcode: str) -> int:
    """Vector registers of an operand that need not be aligned to its size; 0 where there is none."""
    family = opcode.partition(".")[0]
    if family.endswith("GMMA"):
        shape = SHAPE.search(opcode)
        return max(ALIGNED, int(shape.group(1)) // 2 if shape else TENSOR_MEMORY)
    if family in ("LDTM", "STTM", "LDT", "STT"):
        return TENSOR_MEMORY
    if family in ("DMMA", "QMMA", "OMMA") or (family.startswith("ATOM") and opcode.endswith("128")):
        return ALIGNED
    return 0


class _Plan(NamedTuple):
    """What decides how many registers a mention in an operand can span."""

    limit: int
    """Where it is aligned to its own size."""
    unaligned: int
    """Of vector registers that need not be aligned; 0 where there are none."""
    descriptor: int
    """Uniform registers of a descriptor in memory."""
    first: int
    """Uniform registers of the first operand of a TMA copy; 0 for any other instruction."""

    @property
    def is_narrow(self) -> bool:
        """Whether a mention spans one register, unless it is a descriptor."""
        return self.limit == 1 and not self.unaligned and not self.first

    def spans(self, text: str) -> Iterator[tuple[str, int, int]]:
        """(class, first register, upper bound of how many) of each mention in instructions with this plan."""
        for number in map(int, set(VECTOR.findall(text))):
            yield "R", number, self.unaligned or self._aligned(number)
        if "desc[UR" in text or "tmem[UR" in text:
            described = set(DESCRIBED.findall(text))
        else:
            described = {("", digits) for digits in UNIFORM.findall(text)}
        for place, digits in described:
            number = int(digits)
            if place:
                width = {"tmem": 1, "idesc": 1, "desc": 2}.get(place, self.descriptor)
            else:
                width = self.first or self._aligned(number)
            yield "UR", number, width

    def _aligned(self, number: int) -> int:
        return min(self.limit, number & -number) if number else self.limit


@lru_cache(maxsize=4096)
def _plan(opcode: str) -> _Plan:
    return _Plan(
        limit=_limit(opcode),
        unaligned=_unaligned(opcode),
        descriptor=2 if opcode.startswith("UTC") else 4,
        first=_tensor_map_width(opcode) if opcode.startswith(("UTMA", "UBLK")) else 0,
    )


def _tensor_map_width(opcode: str) -> int:
    """Shared address, barrier and one coordinate for each dimension of a tiled copy."""
    tiled = TILED.fullmatch(opcode)
    return 2 + int(tiled.group(1)) if tiled else TENSOR_MAP


def kept_classes(code: CodeText) -> frozenset[str]:
    """Classes whose numbers mean more than a name in some code."""
    kept: set[str] = set()
    for opcode in code.places:
        if opcode.partition(".")[0] not in TABLE:
            return ALL
        if opcode.startswith("CALL.ABS"):
            kept.add("R")
    if any(shape.names_masks for shape in code.forms):
        kept |= {"P", "UP"}
    return frozenset(kept)


class Renaming:
    """Names in order of first use, for one section of code."""

    def __init__(self, code: CodeText, texts: Sequence[str], *, alone: bool) -> None:
        """``alone``: no other section shares the registers; ``texts``: those of the code, perhaps without padding."""
        self._code = code
        self._texts = texts
        self._kept = kept_classes(code) if alone else ALL
        self._starts: dict[str, dict[int, int]] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        self._used: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        """The code with its names replaced: ``r3`` is the start of the fourth group, ``r3_1`` the next one."""
        if self._kept == ALL:
            return text
        parts = NAME.split(text)
        names = dict.fromkeys(parts[1::2], "")
        written = "\n".join(self._texts)
        widest = _widest(self._code, self._texts, NAME.findall(written) if GLUED.search(written) else names)
        self._starts = {kind: _groups(widest[kind]) for kind in GROUPED if kind not in self._kept}
        for name in names:
            names[name] = self._name(name)
        parts[1::2] = map(names.__getitem__, parts[1::2])
        return "".join(parts)

    def given(self) -> list[str]:
        """Which register or group became which."""
        return [f"{kind}{start}>{number}" for (kind, start), number in self._numbers.items()]

    def _name(self, written: str) -> str:
        kind, number = _parted(written)
        if kind in self._kept:
            return written
        start = self._starts[kind].get(number, number) if kind in GROUPED else number
        if (kind, start) not in self._numbers:
            self._numbers[kind, start] = self._used.get(kind, 0)
            self._used[kind] = self._used.get(kind, 0) + 1
        name = f"{kind.lower()}{self._numbers[kind, start]}"
        return f"{name}_{number - start}" if number > start else name


@lru_cache(maxsize=1 << 12)
def _parted(name: str) -> tuple[str, int]:
    """Class and number of a register."""
    kind = name[:2] if name.startswith("U") else name[0]
    return kind, int(name[len(kind) :])


def _widest(code: CodeText, texts: Sequence[str], names: Iterable[str]) -> dict[str, dict[int, int]]:
    """For each class of registers that are grouped, each register mentioned to its widest span.

    ``names``: all registers mentioned. Each spans one where nothing says more: instructions are searched that can say
    so, all with one plan at once.
    """
    widest: dict[str, dict[int, int]] = {kind: {} for kind in GROUPED}
    for kind, number in map(_parted, names):
        if kind in widest:
            widest[kind][number] = 1
    for plan, several in _spoken(code, texts).items():
        for kind, number, width in plan.spans("\n".join(several)):
            if width > widest[kind].get(number, 0):
                widest[kind][number] = width
    return widest


def _spoken(code: CodeText, texts: Sequence[str]) -> dict[_Plan, set[str]]:
    """Texts of instructions, or of their operands, in which a register can span several."""
    described = {code.opcode(index) for index, shape in enumerate(code.shapes) if shape.describes}
    found: dict[_Plan, set[str]] = defaultdict(set)
    for opcode in code.places:
        plan = _plan(opcode)
        if plan.is_narrow and opcode not in described:
            continue
        indices = [index for index in code.of_opcode(opcode) if index < len(texts)]
        if plan.first:
            for index in indices:
                operands = code.at(index).operands
                found[plan].update(operands[:1])
                found[plan._replace(first=4)].update(operands[1:])
        else:
            found[plan].update([texts[index] for index in indices])
    return found


def _groups(widest: Mapping[int, int]) -> dict[int, int]:
    """Register to the start of its group, for each register mentioned."""
    starts: dict[int, int] = {}
    start = end = -1
    for number in sorted(widest):
        if number >= end:
            start, end = number, number
        end = max(end, number + widest[number])
        starts[number] = start
    return starts
