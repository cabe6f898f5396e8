"""Decoded machine code, and reading it from the ``.sass`` text of a dump folder.

Triton writes that text with ``TRITON_KERNEL_DUMP`` (``triton/tools/disasm.py``, Triton 3.0 to 3.9): a line
``Function:NAME``, then ``wait:read:write:yield:stall<tab>INSTRUCTION;`` without addresses, ``LBBn:`` before an
instruction that a branch names. The text of ``nvdisasm -c`` and ``cuobjdump -sass`` is read too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from irdiff.api import ParseError
from irdiff_sass.instructions import NO_CONTROL, SIZE, Instruction, read_statement

UNREADABLE = "?"
"""Opcode of a line that is no instruction; its text is the only operand."""


class CodeText(msgspec.Struct, frozen=True, kw_only=True):
    """The instructions of one section."""

    role: str
    """``entry0``, ``function0``."""
    base: int
    """Address of its first instruction in the artifact."""
    instructions: tuple[Instruction, ...]

    def indices(self) -> dict[int, int]:
        """Place in the section to index of the instruction there."""
        return {instruction.address - self.base: index for index, instruction in enumerate(self.instructions)}

    def without_padding(self) -> tuple[Instruction, ...]:
        """The instructions up to the NOPs that fill the section."""
        end = len(self.instructions)
        while end and self.instructions[end - 1].opcode == "NOP" and not self.instructions[end - 1].predicate:
            end -= 1
        return self.instructions[:end]


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """All decoded code of one artifact."""

    codes: tuple[CodeText, ...]


class Undecoded(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no listing."""

    reason: str
    """A sentence for the user, with what to do."""


CONTROL = re.compile(r"(--|\d{2}):([0-7-]):([0-7-]):([Y-]):([0-9a-f])")
FUNCTION = re.compile(r"\s*Function\s*:\s*(\S.*)")
SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+).*")
LABEL = re.compile(r"(LBB\d{1,9}|\.L_x_\d{1,9}):")
ADDRESSED = re.compile(r"\s*/\*([0-9a-f]{4,8})\*/\s+([^/]*);.*")
NAMED_PLACE = re.compile(r"`\((\.L_x_\d{1,9})\)|LBB\d{1,9}")
NOISE = re.compile(r"\s*(?:/\*.*|//.*|\..*|\t?[A-Za-z0-9_$.]+:|code for .*|=+|Fatbin .*|[a-z_ ]+ = .*)?\s*")


def read_listing(data: bytes) -> Listing:
    """The instructions of a ``.sass`` file. Raises ParseError where it holds none."""
    text = data.decode("utf-8", "replace")
    functions: list[list[tuple[str, int]]] = []
    labels: list[dict[str, int]] = []
    for line in text.splitlines():
        if FUNCTION.fullmatch(line) or SECTION.fullmatch(line):
            if not functions or functions[-1]:
                functions.append([])
                labels.append({})
            continue
        if not functions:
            functions.append([])
            labels.append({})
        label = LABEL.fullmatch(line.strip())
        if label:
            labels[-1][label.group(1)] = len(functions[-1]) * SIZE
            continue
        statement = _statement(line)
        if statement is not None:
            functions[-1].append(statement)
    if not any(functions):
        raise ParseError(
            "holds no SASS instruction", line=1, hint="it should be the text Triton's dump writes"
        )
    return Listing(codes=tuple(_codes([each for each in functions if each], labels)))


def _statement(line: str) -> tuple[str, int] | None:
    """(instruction's text, control bits) of a line; ``None`` for one that holds no instruction."""
    head, tab, rest = line.partition("\t")
    control = CONTROL.fullmatch(head)
    if tab and control:
        return rest.strip().rstrip(";").rstrip(), _control_bits(control)
    addressed = ADDRESSED.fullmatch(line)
    if addressed:
        return addressed.group(2).strip(), NO_CONTROL
    if NOISE.fullmatch(line):
        return None
    return line.strip(), NO_CONTROL


def _control_bits(found: re.Match[str]) -> int:
    wait, read, write, yields, stall = found.groups()
    return (
        int(stall, 16)
        | (0 if yields == "Y" else 1 << 4)
        | (7 if write == "-" else int(write)) << 5
        | (7 if read == "-" else int(read)) << 8
        | (0 if wait == "--" else int(wait) & 63) << 11
    )


def _codes(functions: Sequence[list[tuple[str, int]]], labels: Sequence[dict[str, int]]) -> list[CodeText]:
    codes = []
    base = 0
    for number, statements in enumerate(functions):
        places = labels[number] if number < len(labels) else {}
        instructions = []
        for index, (text, control) in enumerate(statements):
            written = NAMED_PLACE.sub(lambda found: _place(found, places), text)  # noqa: B023  # used at once
            instructions.append(decode(written, address=base + index * SIZE, control=control))
        codes.append(CodeText(role=f"entry{number}", base=base, instructions=tuple(instructions)))
        base += len(statements) * SIZE
    return codes


def _place(found: re.Match[str], places: dict[str, int]) -> str:
    name = found.group(1) or found.group(0)
    return f"{places[name]:#x}" if name in places else found.group(0)


def decode(
    text: str, *, address: int, base: int = 0, length: int = 0, control: int = NO_CONTROL
) -> Instruction:
    """The instruction of a text; one with the opcode ``?`` where the text is none."""
    instruction = read_statement(text, address=address, base=base, length=length, control=control)
    if instruction is not None:
        return instruction
    return Instruction(
        address=address, predicate="", opcode=UNREADABLE, operands=(text.strip()[:200],), control=control
    )
