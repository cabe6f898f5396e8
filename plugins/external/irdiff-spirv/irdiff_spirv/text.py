"""Reads the text of a module, as spirv-dis writes it and spirv-as takes it."""

from __future__ import annotations

import re

from irdiff.api import ParseError

from irdiff_spirv.module import Header, Instruction, Module

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|;.*|[^\s;"]+')
_HEADER = re.compile(r";\s*(Version|Generator):\s*(.+?)\s*$")
_OFFSET = re.compile(r";\s*0x([0-9a-f]{8})$")


def read_text(text: str, *, offsets: bool, header: Header | None = None) -> Module:
    """The module. ``offsets``: each line ends with the byte offset of its instruction, which becomes its place.

    Raises ParseError where a line is no instruction, or where there is none at all.
    """
    said: dict[str, str] = {}
    instructions: list[Instruction] = []
    lines: dict[int, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        tokens = _TOKEN.findall(line)
        comment = tokens.pop() if tokens and tokens[-1].startswith(";") else ""
        if not tokens:
            found = _HEADER.match(comment)
            if found is not None and not instructions:
                said[found[1]] = found[2]
            continue
        offset = _OFFSET.match(comment) if offsets else None
        place = int(offset[1], 16) if offset is not None else number
        instructions.append(_instruction(place, tokens, number))
        lines[place] = line.removesuffix(comment).rstrip() if offsets else line
    if not instructions:
        raise ParseError("there is no instruction", line=1, hint="is it SPIR-V as spirv-dis writes it?")
    made = header or Header(said.get("Version", ""), said.get("Generator", ""))
    return Module(made, tuple(instructions), lines)


def _instruction(place: int, tokens: list[str], line: int) -> Instruction:
    result = None
    if len(tokens) > 2 and tokens[1] == "=":
        result, tokens = tokens[0], tokens[2:]
    opcode, *operands = tokens
    if not opcode.startswith("Op"):
        raise ParseError(f"{opcode[:40]} is no instruction", line=line)
    return Instruction(place, opcode, result, tuple(operands))
