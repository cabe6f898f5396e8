"""Walks the words of a binary module: enough to count what is in it where no disassembler is there.

SPIR-V specification, 2.3 Physical Layout: five words of header, then instructions, each of which begins with a word
that holds its length in words (high half) and its opcode (low half). Strings are UTF-8, little-endian in words, and
end in a zero byte (2.2.1).
"""

from __future__ import annotations

import struct

from irdiff.api import ParseError

from irdiff_spirv.module import Header, Instruction, Module
from irdiff_spirv.names import names

MAGIC = 0x07230203
HEADER = 20
NO_TOOL = "spirv-dis was not found: instructions are counted, most of their operands are not read"
_GENERATORS = {
    6: "Khronos LLVM/SPIR-V Translator",
    7: "Khronos SPIR-V Tools Assembler",
    43: "LLVM SPIR-V Backend",
}
"""Of the registry spir-v.xml, those that a Triton kernel may meet."""
_ENUMERANTS = {
    "OpCapability": ("capability",),
    "OpMemoryModel": ("addressing", "memory"),
    "OpEntryPoint": ("model",),
    "OpExecutionMode": ("", "mode"),
    "OpTypePointer": ("storage",),
    "OpVariable": ("storage",),
}
"""What the operands after type and result are, where they are read; ``""`` is an id."""
_STRINGS = {"OpExtension": 0, "OpExtInstImport": 0, "OpEntryPoint": 2, "OpName": 1, "OpString": 0}
"""Which operand after type and result is a string."""
_IDS = frozenset({"OpLabel", "OpBranch", "OpFunctionCall", "OpTypeVector", "OpLoad", "OpStore", "OpExtInst"})
"""Whose first operand after type and result is an id."""


def is_binary(data: bytes) -> bool:
    """Whether the content begins as a binary module does, in either byte order."""
    return data[:4] in (struct.pack("<I", MAGIC), struct.pack(">I", MAGIC))


def walk(data: bytes) -> Module:
    """The module, its operands read as far as that is possible by number. Raises ParseError."""
    if len(data) < HEADER:
        raise ParseError("the module ends in its header", offset=len(data), hint="copy the file again")
    order = "<" if data[:4] == struct.pack("<I", MAGIC) else ">"
    count = len(data) // 4
    words = struct.unpack(f"{order}{count}I", data[: count * 4])
    version = f"{words[1] >> 16 & 255}.{words[1] >> 8 & 255}"
    tool, number = words[2] >> 16, words[2] & 0xFFFF
    header = Header(version, f"{_GENERATORS.get(tool, f'generator {tool}')}; {number}")
    instructions = []
    at = HEADER // 4
    truncated = None if len(data) % 4 == 0 else count * 4
    while at < count:
        length = words[at] >> 16
        if length == 0 or at + length > count:
            truncated = at * 4
            break
        instructions.append(_instruction(at * 4, words[at] & 0xFFFF, words[at + 1 : at + length]))
        at += length
    return Module(header, tuple(instructions), {}, truncated, NO_TOOL)


def _instruction(place: int, number: int, words: tuple[int, ...]) -> Instruction:
    opcode, flags = names().opcodes.get(number, (f"Op{number}", ""))
    operands: list[str] = []
    result = None
    rest = words
    if "t" in flags and rest:
        operands.append(f"%{rest[0]}")
        rest = rest[1:]
    if "r" in flags and rest:
        result = f"%{rest[0]}"
        rest = rest[1:]
    return Instruction(place, opcode, result, (*operands, *_operands(opcode, rest)))


def _operands(opcode: str, words: tuple[int, ...]) -> list[str]:
    found: list[str] = []
    string_at = _STRINGS.get(opcode)
    kinds = _ENUMERANTS.get(opcode, ())
    index = 0
    while index < len(words):
        position = len(found)
        word = words[index]
        if position == string_at:
            text, used = _string(words[index:])
            found.append(f'"{text}"')
            index += used
            continue
        if position < len(kinds) and kinds[position]:
            found.append(names().enumerants[kinds[position]].get(word, str(word)))
        else:
            found.append(f"%{word}" if _is_id(opcode, position, string_at) else str(word))
        index += 1
    return found


def _is_id(opcode: str, position: int, string_at: int | None) -> bool:
    """Whether an operand is an id, for the opcodes whose ids facts need."""
    if string_at is not None:
        return position != string_at
    if opcode in ("OpExecutionMode", "OpDecorate"):
        return position == 0
    return opcode in ("OpTypePointer", "OpPhi", "OpBranchConditional") or (opcode in _IDS and position == 0)


def _string(words: tuple[int, ...]) -> tuple[str, int]:
    """(text, words it takes up)."""
    data = bytearray()
    for used, word in enumerate(words, 1):
        data += struct.pack("<I", word)
        if 0 in data[-4:]:
            return bytes(data[: data.index(0)]).decode("utf-8", "replace"), used
    return bytes(data).decode("utf-8", "replace"), len(words)
