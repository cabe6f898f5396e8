"""The table of LLVM instructions and what their operands must look like (LLVM Language Reference)."""

from __future__ import annotations

import re
from functools import lru_cache

from irdiff_llir.syntax import TYPE, split_operands

_FORMS: dict[str, tuple[str, int]] = {
    "add fadd sub fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor icmp fcmp": (", ", 1),
    "extractvalue insertvalue extractelement getelementptr": (", ", 1),
    "select insertelement shufflevector": (", ", 2),
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast addrspacecast": (
        " to ",
        1,
    ),
    "ptrtoaddr": (" to ", 1),
    "fneg phi call br switch ret indirectbr freeze va_arg alloca fence load store atomicrmw cmpxchg": ("", 0),
    "invoke callbr resume landingpad catchpad cleanuppad catchswitch catchret cleanupret": ("", 0),
}
_BARE = ("unreachable",)

SEPARATORS = {opcode: form for opcodes, form in _FORMS.items() for opcode in opcodes.split()}
"""Opcode to what must stand between its operands, and how often at least."""

TERMINATORS = frozenset({"br", "switch", "indirectbr", "ret", "unreachable", "invoke", "callbr", "resume"})
MEMORY = frozenset({"load", "store", "atomicrmw", "cmpxchg"})
SHORT = 256
"""Characters of operands that are worth remembering: the whole, its loops and the coverage ask for the same ones."""
FLOATING = frozenset(
    {"fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp", "select", "phi", "call", "fptrunc", "fpext"}
)
"""Instructions that can carry fast-math flags."""

_FAST = re.compile(r"(?:(?:reassoc|nnan|ninf|nsz|arcp|contract|afn|fast) )+")
_POINTER = re.compile(r"ptr(?: addrspace\((\d+)\))? ")
_ACCESS = re.compile(r"((?:(?:atomic|volatile|weak) )*)(.*)\Z", re.DOTALL)
_RMW = re.compile(r"(volatile )?([a-z_]+) (ptr.*)\Z", re.DOTALL)
_ORDER = re.compile(
    r"(?:syncscope\(\"[^\"]*\"\) )?(?:unordered|monotonic|acquire|release|acq_rel|seq_cst)(?: [a-z_]+)?\Z"
)


def is_known(opcode: str) -> bool:
    """Whether the instruction is in the table."""
    return opcode in SEPARATORS or opcode in _BARE


def is_understood(opcode: str, operands: str, *, is_balanced: bool) -> bool:
    """Whether the opcode is known and its operands, whose brackets come in pairs or not, have the form it needs."""
    if opcode in _BARE:
        return True
    needed = SEPARATORS.get(opcode)
    if needed is None or not operands or not is_balanced:
        return False
    separator, least = needed
    if least and operands.count(separator) < least:
        return False
    return opcode not in MEMORY or access(opcode, operands) is not None


def fast_flags(operands: str) -> str:
    """The fast-math flags in front of the operands, or nothing."""
    found = _FAST.match(operands)
    return found.group().strip() if found is not None else ""


def access(opcode: str, operands: str) -> str | None:
    """``load addrspace(1) <4 x i32>``: what a memory instruction reads or writes, or None where it is not one."""
    return _short_access(opcode, operands) if len(operands) <= SHORT else _access(opcode, operands)


def _access(opcode: str, operands: str) -> str | None:
    """``load addrspace(1) <4 x i32>``: what a memory instruction reads or writes, or None where it is not one."""
    found = _RMW.match(operands) if opcode == "atomicrmw" else _ACCESS.match(operands)
    if found is None:
        return None
    if opcode == "atomicrmw":
        before = f"{found[1] or ''}{found[2]}"
        parts = split_operands(found[3])
    else:
        before = found[1].strip()
        parts = split_operands(found[2])
    if len(parts) < 2:
        return None
    value, pointer = (parts[0], parts[1]) if opcode in ("load", "store") else (parts[1], parts[0])
    space = _POINTER.match(pointer)
    kind = TYPE.match(value)
    if space is None or kind is None:
        return None
    order = _ORDER.search(parts[2] if opcode == "cmpxchg" and len(parts) > 2 else parts[1])
    words = [opcode, before, f"addrspace({space[1] or 0})", kind.group(), order.group() if order else ""]
    return " ".join(word for word in words if word)


_short_access = lru_cache(maxsize=4096)(_access)
