"""Operands of AMDGPU instructions: registers, what a wait waits for, literals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

REGISTER = re.compile(r"(?<![\w.$@])([vsa])(?:(\d{1,4})|\[(\d{1,4})(?::(\d{1,4}))?\])(?![\w\[])")
"""A vector, scalar or accumulator register, or a range of neighbours: ``v5``, ``s[0:3]``. LLVM names every register
that an operand touches, so a range is the whole of it."""
LABEL = re.compile(r"(?<![\w$@])\.L[\w.$]+")
_TOKENS = re.compile(
    r"(?:ttmp|[vsa])\[\d+(?::\d+)?\]|[A-Za-z_.$@][\w.$@]*(?::(?:\[[-\w, :.]*\]|-?[\w.$]+))?|\([^()]*\)|"
    r"-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)|[-+|~!&*\[\],:\s]"
)
_COUNTER = re.compile(r"(\w+cnt)(?:_sat)?\((\d{1,3}|0x[0-9a-f]{1,4})\)")
_LITERAL = re.compile(r"(?<![\w.$@\[:])-?(?:0x[0-9a-fA-F]{1,16}|\d{1,20}(?:\.\d{1,20})?)(?![\w.:\]])")
_OFFSET = re.compile(r"\boffset[01]?:-?\w{1,12}")
LONGEST = 4096
"""Operands longer than any instruction has are not searched."""
_COMBINED = {"s_wait_loadcnt_dscnt": ("loadcnt", "dscnt"), "s_wait_storecnt_dscnt": ("storecnt", "dscnt")}


@lru_cache(maxsize=8192)
def understood(operands: str) -> bool:
    """Whether every part of the operands has a known form."""
    return len(operands) <= LONGEST and not _TOKENS.sub("", operands)


def registers(operands: str) -> Iterator[tuple[str, int, int]]:
    """(class, first, last) of each register or range mentioned."""
    for found in REGISTER.finditer(operands[:LONGEST]):
        kind, single, first, last = found.groups()
        if single is not None:
            yield kind, int(single), int(single)
        elif last is None or int(first) <= int(last):
            yield kind, int(first), int(last or first)


def split(operands: str) -> list[str]:
    """Operands one by one; a comma inside brackets separates none."""
    parts: list[str] = []
    begin = depth = 0
    text = operands[:LONGEST]
    for place, mark in enumerate(text):
        if mark in "[(":
            depth += 1
        elif mark in "])":
            depth -= 1
        elif mark == "," and depth <= 0:
            parts.append(text[begin:place].strip())
            begin = place + 1
    return [*parts, text[begin:].strip()]


def number(text: str) -> int | None:
    """A whole number, decimal or hexadecimal."""
    try:
        return int(text, 0) if len(text) <= 20 else None
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def waits(opcode: str, operands: str) -> tuple[str, ...]:
    """What a wait waits for, by counter, with how many may stay outstanding: ``vmcnt 0``, ``dscnt 4``.

    ``s_waitcnt vmcnt(1) lgkmcnt(0)`` up to gfx11, ``s_waitcnt_vscnt null, 0x0`` on gfx10 and gfx11,
    ``s_wait_loadcnt 0x1`` from gfx12 on (RDNA 4 ISA, "s_wait_*cnt"); combined ones hold two counters of six bits.
    """
    if opcode == "s_waitcnt":
        found = _COUNTER.findall(operands)
        if found:
            return tuple(f"{counter} {number(value)}" for counter, value in found)
        return (f"s_waitcnt {operands.strip()}".strip(),)
    value = number(operands.rpartition(",")[2].strip())
    if opcode in _COMBINED and value is not None:
        first, second = _COMBINED[opcode]
        return f"{first} {value >> 8 & 63}", f"{second} {value & 63}"
    for prefix in ("s_waitcnt_", "s_wait_"):
        if opcode.startswith(prefix):
            counter = opcode.removeprefix(prefix)
            return (f"{counter} {value}" if value is not None else f"{counter} {operands.strip()}".strip(),)
    return (opcode,)


def literals(operands: str) -> list[str]:
    """Literal numbers and offsets among the operands, as written."""
    text = operands[:LONGEST]
    return _LITERAL.findall(text) + _OFFSET.findall(text)
