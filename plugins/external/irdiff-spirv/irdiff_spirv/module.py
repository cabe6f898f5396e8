"""What both readers make of an artifact: the instructions of a module, with their operands as text."""

from __future__ import annotations

from typing import NamedTuple

DEBUG = frozenset(
    {
        *("OpSource", "OpSourceContinued", "OpSourceExtension", "OpString", "OpName", "OpMemberName"),
        *("OpLine", "OpNoLine", "OpModuleProcessed"),
    }
)
"""Instructions that mean nothing for what runs (SPIR-V specification, 3.52.2 Debug Instructions)."""
DEBUG_EXTENSION = '"SPV_KHR_non_semantic_info"'
_DEBUG_SETS = ("NonSemantic.", "OpenCL.DebugInfo.", "DebugInfo")


class Instruction(NamedTuple):
    """One instruction."""

    place: int
    """Byte offset in a binary module, line in a text."""
    opcode: str
    """``OpLoad``; ``Op4711`` for a number that has no name."""
    result: str | None
    """``%12``."""
    operands: tuple[str, ...]
    """As text, the result type first: ids with their ``%``, strings with their quotes."""


class Header(NamedTuple):
    """The first words of a binary module, or the comments that a disassembler writes for them."""

    version: str
    generator: str


class Module(NamedTuple):
    """A module."""

    header: Header
    instructions: tuple[Instruction, ...]
    text: dict[int, str]
    """Place to the text of the instruction; empty where nothing disassembled it."""
    truncated: int | None = None
    """Place of the instruction that is not whole."""
    degraded: str | None = None
    """Why operands were not read."""


def debug_sets(module: Module) -> frozenset[str]:
    """Ids of the imported sets of extended instructions that mean nothing for what runs."""
    return frozenset(
        each.result
        for each in module.instructions
        if each.opcode == "OpExtInstImport"
        and each.result is not None
        and each.operands
        and each.operands[0].strip('"').startswith(_DEBUG_SETS)
    )


def is_debug(instruction: Instruction, sets: frozenset[str]) -> bool:
    """Whether it only speaks of the source: a debug instruction, or one of a set that means nothing."""
    if instruction.opcode in DEBUG or instruction.result in sets:
        return True
    if instruction.opcode == "OpExtension":
        return instruction.operands[:1] == (DEBUG_EXTENSION,)
    return (
        instruction.opcode == "OpExtInst"
        and len(instruction.operands) > 1
        and instruction.operands[1] in sets
    )
