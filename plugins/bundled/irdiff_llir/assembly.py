"""Inline assembly inside LLVM IR calls: which instruction a block is there for."""

from __future__ import annotations

import re
from functools import lru_cache

_HEAD = re.compile(r"(?:^|[\s)\]}>])asm(?: [a-z]+)* \Z")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_OPCODE = re.compile(r"(?:@!?[$%\w]+\s+)?([A-Za-z_][\w.:]*)(?:\s+(.*))?\Z", re.DOTALL)
USUAL = 1024
"""Characters of a template that is worth remembering: Triton writes the same ones again and again."""
_OPERAND = re.compile(r"\[[^\]]*\]|\{[^}]*\}|[^\s,\[\]{}]+")


def template_of(operands: str) -> tuple[int, int] | None:
    """Where the template of an ``asm`` call stands, or None where the call is no inline assembly."""
    quote = operands.find('"')
    if quote < 0 or _HEAD.search(operands[:quote]) is None:
        return None
    end = operands.find('"', quote + 1)
    return quote + 1, end if end >= 0 else len(operands)


def key_of_template(template: str) -> str:
    """``asm_key`` of a template as LLVM IR writes it."""
    return _remembered(template) if len(template) <= USUAL else _key(template)


def _key(template: str) -> str:
    return asm_key(_ESCAPE.sub(lambda found: chr(int(found[1], 16)), template))


_remembered = lru_cache(maxsize=1024)(_key)


def asm_key(text: str) -> str:
    """Opcode, with its width, of the first instruction that does the work.

    Moves in front of it only set up its destination (Triton's masked load starts with ``mov.u32 $0, 0x0``);
    they name the block where there is nothing else. The size operand of ``cp.async`` is added.
    """
    moves = ""
    for line in text.split("\n"):
        for statement in line.partition("//")[0].split(";"):
            found = _OPCODE.match(statement.strip().lstrip("{} \t"))
            if found is None or found[1].endswith(":"):
                continue
            opcode = found[1]
            if opcode.startswith("mov."):
                moves = moves or opcode
                continue
            return f"{opcode}{_copy_size(opcode, found[2] or '')}"
    return moves or "(empty)"


def _copy_size(opcode: str, operands: str) -> str:
    if not opcode.startswith(("cp.async.ca.", "cp.async.cg.")):
        return ""
    parts = _OPERAND.findall(operands)
    try:
        return f" {int(parts[2][:20], 0)}"
    except (IndexError, ValueError):
        return ""
