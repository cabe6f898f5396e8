"""Shapes of statements: what all that differ in nothing but digits have in common, found once for all of them.

A statement is made blind by writing ``0`` for each of its digits; the ``0`` of each ``0x`` is set apart first, as
``#``: ``IADD3 R10, R2, 0x10, RZ ;`` is ``IADD0 R00, R0, #x00, RZ ;``. No length changes, so what stands where in one
statement stands there in all of its shape, and a process meets few shapes: 3,700 in the 51,000 instructions of the
recorded H200 cache.

Invariant: an expression that is matched with blind text treats all digits alike but for the ``0`` of ``0x``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from irdiff_sass.instructions import (
    NEVER,
    OPERAND,
    SPELLED_STATEMENT,
    Parts,
    names_place,
    split_operands,
)

_BLIND = bytes.maketrans(b"123456789", b"000000000")
LONGEST = 256
"""Characters of a statement whose shape is worth remembering in the process."""
SHORT = 64
"""Characters of an operand that is worth remembering."""

MASKS = frozenset({"PR", "UPR"})
"""Operands that stand for all predicates, picked by a mask of their numbers."""
_CLOSED = re.compile(rf" *{SPELLED_STATEMENT} *;")


class Shape(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """Where the parts of a statement stand in its line."""

    text: slice
    predicate: slice
    opcode: slice
    rest: slice
    name: str = ""
    """The opcode, where it holds no digit."""
    executes: bool = True
    """False where the predicate is always false."""
    names_place: bool = False
    """Whether the last operand can be a place in the code."""
    names_masks: bool = False
    """Whether an operand stands for all predicates."""
    describes: bool = False
    """Whether a uniform register is a descriptor or an address in tensor memory."""
    reuses: int = 0
    """Flags of reuse."""
    fills: bool = False
    """Whether it is a NOP, as sections are filled with."""
    understood: bool = False
    """Whether each operand has a known form."""


_NOWHERE = slice(0, 0)
ODD = Shape(text=_NOWHERE, predicate=_NOWHERE, opcode=_NOWHERE, rest=_NOWHERE, names_place=True)
"""Of a line that must be looked at itself."""


class _LongError(Exception):
    """A statement is too long to be remembered."""


def shapes_of(lines: Sequence[str], end: str = "") -> list[Shape]:
    """The shape of each line, which holds a statement and a semicolon; ``end``: what to add to each line first."""
    if not lines:
        return []
    blinded = _blind(f"{end}\n".join(lines) + end).split("\n")
    if len(blinded) != len(lines):
        return [ODD] * len(lines)
    try:
        return list(map(_remembered, blinded))
    except _LongError:
        return [_remembered(line) if len(line) <= LONGEST else ODD for line in blinded]


def _blind(text: str) -> str:
    """The text with ``#`` for the zero of each ``0x`` and ``0`` for any other digit; a ``#`` of its own is ``$``."""
    if "#" in text:
        text = text.replace("#", "$")
    return text.encode().replace(b"0x", b"#x").translate(_BLIND).decode()


@lru_cache(maxsize=1 << 13)
def _remembered(line: str) -> Shape:
    if len(line) > LONGEST:
        raise _LongError
    return _shape(line)


def _shape(line: str) -> Shape:
    """The shape of a blind line; ``ODD`` where it says too little."""
    found = _CLOSED.fullmatch(line.replace("#", "0"))
    if found is None:
        return ODD
    text, predicate, opcode, operands = found.groups("")
    if "LBB" in operands:
        return ODD
    # any digit does for the blind ones but a zero, which could be taken for that of 0x
    sample = line[found.start(4) : found.end(4)].replace("0", "7").replace("#", "0") if operands else ""
    return _told(
        Parts(predicate, opcode, sample, text),
        sample.split(", ") if operands else (),
        text=slice(*found.span(1)),
        predicate=slice(*found.span(2)) if predicate else _NOWHERE,
        opcode=slice(*found.span(3)),
        rest=slice(*found.span(4)) if operands else _NOWHERE,
        name=opcode if "0" not in opcode else "",
    )


def spelled(parts: Parts) -> tuple[str, Shape]:
    """A line that holds the parts of any statement, and its shape."""
    predicate, opcode, rest, text = parts
    start = len(predicate) + 1 if predicate else 0
    stop = start + len(opcode)
    shape = _told(
        parts,
        split_operands(rest) if rest else (),
        text=slice(0, len(text)),
        predicate=slice(0, len(predicate)),
        opcode=slice(start, stop),
        rest=slice(stop + 1, None),
        name=opcode,
    )
    return f"{predicate} {opcode} {rest}" if predicate else f"{opcode} {rest}", shape


def _told(
    parts: Parts,
    operands: Sequence[str],
    *,
    text: slice,
    predicate: slice,
    opcode: slice,
    rest: slice,
    name: str,
) -> Shape:
    """A shape with these places, and what parts and operands tell of it."""
    return Shape(
        text=text,
        predicate=predicate,
        opcode=opcode,
        rest=rest,
        name=name,
        executes=parts.predicate not in NEVER,
        names_place=names_place(parts.opcode),
        names_masks="PR" in parts.rest and any(map(_is_mask, operands)),
        describes="desc[UR" in parts.text or "tmem[UR" in parts.text,
        reuses=parts.text.count(".reuse"),
        fills=parts.opcode == "NOP" and not parts.predicate,
        understood=all(map(is_operand, operands)),
    )


def _is_mask(operand: str) -> bool:
    return operand.lstrip("!").partition(".")[0] in MASKS


def is_operand(text: str) -> bool:
    """Whether an operand has a known form; short ones, which nearly all are, are looked at once in a process."""
    return _is_short_operand(text) if len(text) <= SHORT else OPERAND.fullmatch(text) is not None


@lru_cache(maxsize=1 << 12)
def _is_short_operand(text: str) -> bool:
    return OPERAND.fullmatch(text) is not None
