"""Decoded machine code, and reading it from the ``.sass`` text of a dump folder.

Triton writes that text with ``TRITON_KERNEL_DUMP`` (``triton/tools/disasm.py``, Triton 3.0 to 3.9): a line
``Function:NAME``, then ``wait:read:write:yield:stall<tab>INSTRUCTION;`` without addresses, ``LBBn:`` before an
instruction that a branch names. The text of ``nvdisasm -c`` and ``cuobjdump -sass`` is read too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from irdiff.api import ParseError
from irdiff_sass.instructions import NO_CONTROL, SIZE, Instruction, read_statements


class CodeText(msgspec.Struct, frozen=True, kw_only=True):
    """The instructions of one section."""

    role: str
    """``entry0``, ``function0``."""
    base: int
    """Address of its first instruction in the artifact."""
    instructions: tuple[Instruction, ...]

    def indices(self) -> dict[int, int]:
        """Place in the section to index of the instruction there."""
        base = self.base
        return {each.address - base: index for index, each in enumerate(self.instructions)}

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
LINES = re.compile(
    r"^(?:[^\S\n]*(/)\*[0-9a-f]{4,8}\*/[^\S\n]+([^/\n]*);.*|((?:--|\d{2}):[0-7-]:[0-7-]:[Y-]:[0-9a-f])\t(.*)|(.*))$",
    re.MULTILINE,
)
"""Every line of a text: an addressed instruction (mark, text), one behind control fields (fields, text), or another.

The first two are what ``ADDRESSED`` and ``CONTROL`` say; all lines are parted by one search.
"""


def read_listing(data: bytes) -> Listing:
    """The instructions of a ``.sass`` file. Raises ParseError where it holds none."""
    lines = data.decode("utf-8", "replace").splitlines()
    statements: list[tuple[str, int]] = []
    functions = [statements]
    labels: list[dict[str, int]] = [{}]
    for addressed, statement, control, rest, other in LINES.findall("\n".join(lines)):
        if addressed:
            statements.append((statement.strip(), NO_CONTROL))
        elif control:
            statements.append((rest.strip().rstrip(";").rstrip(), _control_bits(control)))
        elif FUNCTION.fullmatch(other) or SECTION.fullmatch(other):
            if statements:
                statements = []
                functions.append(statements)
                labels.append({})
        elif label := LABEL.fullmatch(other.strip()):
            labels[-1][label.group(1)] = len(statements) * SIZE
        elif not NOISE.fullmatch(other):
            statements.append((other.strip(), NO_CONTROL))
    if not any(functions):
        raise ParseError(
            "holds no SASS instruction", line=1, hint="it should be the text Triton's dump writes"
        )
    return Listing(codes=tuple(_codes([each for each in functions if each], labels)))


@lru_cache(maxsize=1 << 12)
def _control_bits(fields: str) -> int:
    wait, read, write, yields, stall = fields.split(":")
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
        texts = [_placed(text, places) if "`(" in text or "LBB" in text else text for text, _ in statements]
        instructions = read_statements(texts, [control for _, control in statements], address=base)
        codes.append(CodeText(role=f"entry{number}", base=base, instructions=instructions))
        base += len(statements) * SIZE
    return codes


def _placed(text: str, places: Mapping[str, int]) -> str:
    """A statement with the places that its labels name."""

    def place(found: re.Match[str]) -> str:
        name = found.group(1) or found.group(0)
        return f"{places[name]:#x}" if name in places else found.group(0)

    return NAMED_PLACE.sub(place, text)


def decode(
    text: str, *, address: int, base: int = 0, length: int = 0, control: int = NO_CONTROL
) -> Instruction:
    """The instruction of a text; one with the opcode ``?`` where the text is none."""
    return read_statements((text,), (control,), address=address, base=base, length=length)[0]
