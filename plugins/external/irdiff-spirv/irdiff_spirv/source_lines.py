"""Places of instructions to the lines of the user's source, from OpLine (SPIR-V specification, 3.52.2)."""

from __future__ import annotations

from irdiff_spirv.module import Module

_ENDS = frozenset({"OpNoLine", "OpLabel", "OpFunctionEnd"})
"""A line holds until one of these, or the next OpLine."""


def source_lines(module: Module) -> dict[int, str]:
    """``path:line`` of each instruction that has one; empty without a disassembler."""
    if module.degraded is not None:
        return {}
    files = {
        each.result: each.operands[0].strip('"')
        for each in module.instructions
        if each.opcode == "OpString" and each.operands
    }
    found: dict[int, str] = {}
    here = ""
    for each in module.instructions:
        if each.opcode == "OpLine" and len(each.operands) > 1:
            path = files.get(each.operands[0], "")
            here = f"{path}:{each.operands[1]}" if path and each.operands[1].isdecimal() else ""
        elif each.opcode in _ENDS:
            here = ""
        elif here:
            found[each.place] = here
    return found
