"""What an instruction reads or writes: the storage class and the size of what its pointer points to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from irdiff_spirv.module import Instruction

_SPACES = {"CrossWorkgroup": "global", "Workgroup": "shared"}


class Memory(NamedTuple):
    """The types of a module."""

    sizes: dict[str, int]
    """Type to its bytes, for scalars and vectors."""
    pointers: dict[str, tuple[str, str]]
    """Type to (storage class, type it points to)."""
    types: dict[str, str]
    """Value to its type."""

    @staticmethod
    def of(instructions: Iterable[Instruction]) -> Memory:
        """Read the types of a module."""
        memory = Memory({}, {}, {})
        for each in instructions:
            if each.result is not None and each.opcode.startswith("OpType"):
                memory._declare(each.result, each)
            elif each.result is not None and each.operands:
                memory.types[each.result] = each.operands[0]
        return memory

    def _declare(self, name: str, each: Instruction) -> None:
        operands = each.operands
        if each.opcode in ("OpTypeInt", "OpTypeFloat") and operands and _number(operands[0]):
            self.sizes[name] = _number(operands[0]) // 8
        elif each.opcode == "OpTypeVector" and len(operands) > 1 and operands[0] in self.sizes:
            self.sizes[name] = self.sizes[operands[0]] * _number(operands[1])
        elif each.opcode == "OpTypePointer" and len(operands) > 1:
            self.pointers[name] = operands[0], operands[1]

    def access(self, each: Instruction) -> tuple[str, str] | None:
        """(fact, bytes) of a load or store of global or shared memory; the key is ``?`` where the size is not known."""
        at = {"OpLoad": 1, "OpStore": 0}.get(each.opcode)
        if at is None or len(each.operands) <= at:
            return None
        space, pointee = self.pointers.get(self.types.get(each.operands[at], ""), ("", ""))
        if space not in _SPACES:
            return None
        size = self.sizes.get(pointee)
        what = "loads" if each.opcode == "OpLoad" else "stores"
        return f"{_SPACES[space]}_{what}", str(size) if size is not None else "?"


def called(instructions: Iterable[Instruction]) -> dict[str, str]:
    """Function to the name it is imported by (OpDecorate ... LinkageAttributes "name" Import)."""
    return {
        each.operands[0]: each.operands[2].strip('"')
        for each in instructions
        if each.opcode == "OpDecorate"
        and len(each.operands) == 4
        and each.operands[1::2] == ("LinkageAttributes", "Import")
    }


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
