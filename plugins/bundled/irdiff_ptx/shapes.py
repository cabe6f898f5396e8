"""Shapes of lines: what all lines that differ in nothing but digits have in common, found once for all of them.

A line is made blind by writing ``0`` for each of its digits: ``add.s32 %r17, %r2, 8;`` is ``add.s00 %r00, %r0, 0;``.
No length changes, so what stands where in one line stands there in all lines of its shape, and a process meets few
shapes: 2,200 in the 91,846 lines of the recorded H200 cache.

Invariant: an expression that is matched with blind text treats all digits alike, or its answer is not used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from irdiff_ptx.keys import KEYED_OPCODES, packing
from irdiff_ptx.opcodes import LONGEST_OPCODE, REFERRING, turns

_BLIND = bytes.maketrans(b"123456789", b"000000000")
LONGEST = 1_536
"""Characters of a line whose shape is worth remembering in the process."""
MOST = 4096
"""Shapes that are remembered."""

_NAME = r"[!~-]?[\w%$][\w%$.|+-]*"
_GROUP = r"(?:\[[^\][;\"]*\]|\{[^{};\"]*\}|\([^();\"]*\))(?:\|[\w%$]+)?"
INSTRUCTION = re.compile(
    rf"\s*(@!?[\w%$]+\s)?\s*([a-z][\w.:]*)(?:\s+((?:{_NAME}|{_GROUP})(?:\s*,\s*(?:{_NAME}|{_GROUP}))*))?\s*;\s*(?://.*)?\Z"
)
LONGEST_INSTRUCTION = 65_536
"""Characters; the longest of the ISA has some thousand. ``re`` remembers every operand of a longer one to step back."""
LITERAL = re.compile(r"(?<![\w%$.])-?(?:0[xXfFdD][0-9A-Fa-f]{1,16}|\d{1,20})(?![\w.])")
"""A number that stands alone: no part of a register, label or name."""
LONGEST_OPERANDS = 20_000
"""Operands longer than any instruction has are not searched for literals."""
_LABEL = re.compile(r"\s*([\w$%]+)\s*(:)\s*(?://.*)?\Z")
_CUTS = re.compile(r"[;{}\"/]")
_WORD = re.compile(r"[\w$%]+|-?\d+")
_SPACED = re.compile(r"\S+")
_DEBUG_LABEL = re.compile(r"\$L__(?:tmp|func_begin|func_end|info_string|pc_sec)\d*\Z")
_RESPELLED = (".reqntid", ".maxntid")
"""Lines whose number of words another rule changes."""
BEGIN, END = "// begin inline asm", "// end inline asm"
_LOC = "\t.loc\t"  # as LLVM writes it: taken without looking further
_PLAIN_LOC = re.compile(r"\t\.loc\t(0{1,9} 0{1,9}) 0(?!.*inlined_at)")

WHOLE, LABELS, LOCATES, PART, OTHER, BEGINS, ENDS = (1 << bit for bit in range(7))
"""What a line is, as bits of a byte. WHOLE: one instruction and nothing else. LABELS: one label and nothing else.
LOCATES: a ``.loc``. PART: what must be put together with other lines; OTHER: and may be cut. None of them: nothing but
a comment, or nothing at all. BEGINS, ENDS: its comment frames inline assembly."""
MARKS, TURNS, GUARDED, REFERS, PACKS, UNPACKS, KEYED = (1 << bit for bit in range(7))
"""What an item is, as bits of a byte. MARKS: no instruction. TURNS: behind it control may go elsewhere. GUARDED: it has
a guard. REFERS: it may refer to a label. PACKS, UNPACKS: it moves a group of registers, or into one. KEYED: other
operands may be part of the key of a tally."""


@lru_cache(maxsize=4096)
def place(start: int, end: int) -> slice:
    """A place; equal ones are one object, for shapes hold many."""
    return slice(start, end)


NOWHERE = place(0, 0)
"""The place of what a line does not have: it cuts out nothing."""
EVERYWHERE = slice(None)


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What a line or mark is, and where its parts stand if it is an item."""

    kind: int = 0
    """Of the line."""
    flags: int = 0
    """Of the item, where the line is one."""
    opcode: slice = NOWHERE
    guard: slice = NOWHERE
    operands: slice = NOWHERE
    literals: tuple[slice, ...] = ()
    """Where literal operands stand, if :func:`is_literal`: ``0x1F`` is one, ``1x1F`` is not."""
    targets: tuple[slice, ...] = ()
    """The registers that the instruction may write."""
    source: slice = EVERYWHERE
    """File and line of a ``.loc`` where nothing is inlined, else the whole line."""
    comment: slice | None = None
    """The place of the comment, where there is one."""
    spaced: str | None = None
    """The line without its comment and with each word as ``x``; None where other rules of the form speak of it."""


def is_debug_label(name: str) -> bool:
    """Whether LLVM puts such a label only for debug sections."""
    return _DEBUG_LABEL.match(name) is not None


def is_literal(text: str) -> bool:
    """Whether what stands at the place of a literal is one: the first digit of ``0x1F`` must be 0."""
    return text.lstrip("-")[0] == "0" or text.lstrip("-").isdecimal()


def blind(text: str) -> str:
    """The text with every ASCII digit as ``0``."""
    return text.encode().translate(_BLIND).decode()


class _LongLineError(Exception):
    """A line is too long to be remembered."""


class Shapes(dict[str, Shape]):
    """Blind line to shape, found where it is asked for; MOST are remembered at once."""

    def __missing__(self, line: str) -> Shape:
        if len(line) > LONGEST:
            raise _LongLineError
        if len(self) >= MOST:
            self.clear()
        shape = self[line] = _shape(line)
        return shape


@lru_cache(maxsize=1)
def remembered() -> Shapes:
    """What the process remembers: a look into a dictionary takes half as long as one into a cache of calls."""
    return Shapes()


def shapes_of(lines: Sequence[str]) -> list[Shape]:
    """The shapes of blind lines."""
    known = remembered()
    try:
        return [*map(known.__getitem__, lines)]
    except _LongLineError:
        long = {line: _shape(line) for line in set(lines) if len(line) > LONGEST}
        return [long[line] if len(line) > LONGEST else known[line] for line in lines]


def _shape(line: str) -> Shape:
    framing = BEGINS if line.endswith(BEGIN) else ENDS if line.endswith(END) else 0
    if line.startswith(_LOC):
        plain = _PLAIN_LOC.match(line)
        return Shape(kind=LOCATES | framing, source=EVERYWHERE if plain is None else place(*plain.span(1)))
    comment, spaced = _layout(line)
    bare = line.lstrip()
    if not bare or bare.startswith("//"):
        return Shape(kind=framing, comment=comment, spaced=spaced)
    found = INSTRUCTION.match(line) if len(line) <= LONGEST_INSTRUCTION else None
    if found is None:
        label = _LABEL.match(line)
        if label is None:
            kind = OTHER if _CUTS.search(line) else PART
            return Shape(kind=kind | framing, comment=comment, spaced=spaced)
        name, colon = place(*label.span(1)), place(*label.span(2))
        kind = LABELS | framing
        return Shape(kind=kind, flags=MARKS, opcode=colon, operands=name, comment=comment, spaced=spaced)
    guard, opcode, operands = found.groups(default="")
    start = found.start(3)
    is_searched = len(opcode) <= LONGEST_OPCODE and len(operands) <= LONGEST_OPERANDS
    literals = LITERAL.finditer(operands) if is_searched else ()
    return Shape(
        kind=WHOLE | framing,
        flags=_flags(guard, opcode, operands),
        opcode=place(*found.span(2)),
        guard=place(*found.span(1)) if guard else NOWHERE,
        operands=place(*found.span(3)) if operands else NOWHERE,
        literals=tuple([place(start + each.start(), start + each.end()) for each in literals]),
        targets=tuple([place(start + first, start + last) for first, last in written(operands)]),
        comment=comment,
        spaced=spaced,
    )


def _flags(guard: str, opcode: str, operands: str) -> int:
    flags = TURNS if turns(opcode) else 0
    if guard:
        flags |= GUARDED
    if opcode.startswith(REFERRING):
        flags |= REFERS
    if "{" in operands and opcode.startswith("mov") and opcode[3:4] in ".":
        flags |= {"pack": PACKS, "unpack": UNPACKS}.get(packing(operands), 0)
    if opcode.startswith(KEYED_OPCODES):
        flags |= KEYED
    return flags


def _layout(line: str) -> tuple[slice | None, str | None]:
    """Where the comment stands, and how the line is spaced."""
    code, mark, comment = line.partition("//")
    bare = code.strip()
    spoken_of = (
        (mark and not bare)
        or is_debug_label(bare.rstrip(":"))
        or bare.startswith(_RESPELLED)
        or "assertFile_" in bare
    )
    text = comment.strip()
    start = len(line) - len(comment) + comment.find(text)
    where = place(start, start + len(text)) if mark else None
    return where, None if spoken_of else _SPACED.sub("x", code.rstrip() if mark else code)


def written(operands: str) -> list[tuple[int, int]]:
    """Where the registers stand that an instruction writes: its first operand, a group or a pair of them.

    A guess too many (``st``, ``bra``) only leaves a loop unproven.
    """
    if not operands or operands[0] == "[":
        return []
    first = (operands.partition("}") if operands[0] == "{" else operands.partition(","))[0]
    if first[0] == "%" and "|" not in first:
        return [(0, len(first.rstrip()))]
    return [found.span() for found in _WORD.finditer(first) if found[0][0] == "%"]
