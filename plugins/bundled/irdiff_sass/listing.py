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
from irdiff_sass.instructions import (
    NO_CONTROL,
    NOT_PARTED,
    SIZE,
    USUAL_STATEMENT,
    Instruction,
    Parted,
    read_statements,
)


class CodeText(msgspec.Struct, frozen=True, kw_only=True):
    """The instructions of one section."""

    role: str
    """``entry0``, ``function0``."""
    base: int
    """Address of its first instruction in the artifact."""
    instructions: tuple[Instruction, ...]

    def indices(self) -> dict[int, int]:
        """Place in the section to index of the instruction there."""
        count = len(self.instructions)
        return dict(zip(range(0, count * SIZE, SIZE), range(count), strict=True))

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
    rf"^(?:[ \t]*/\*[0-9a-f]{{4,8}}\*/ +{USUAL_STATEMENT} *;[^\n;/]*(?:/.*)?"
    r"|[^\S\n]*(/)\*[0-9a-f]{4,8}\*/[^\S\n]+([^/\n]*);.*"
    r"|((?:--|\d{2}):[0-7-]:[0-7-]:[Y-]:[0-9a-f])\t(.*)|(.*))$",
    re.MULTILINE,
)
"""Every line of a text: an addressed instruction (parted; or mark, text), one behind control fields (fields, text), or
another.

The first three are what ``ADDRESSED`` and ``CONTROL`` say; all lines are parted by one search.
"""


LINE_ENDS = "\r\v\f\x1c\x1d\x1e"
"""What ends a line in ASCII beside a line feed."""


def read_listing(data: bytes) -> Listing:
    """The instructions of a ``.sass`` file. Raises ParseError where it holds none."""
    text = _with_line_feeds(data.decode("utf-8", "replace"))
    statements: list[tuple[str, int, Parted]] = []
    functions = [statements]
    labels: list[dict[str, int]] = [{}]
    for usual, predicate, opcode, operands, addressed, statement, control, rest, other in LINES.findall(text):
        if usual and "LBB" not in operands:
            statements.append((usual, NO_CONTROL, (usual, predicate, opcode, operands)))
        elif usual or addressed:
            statements.append(((usual or statement).strip(), NO_CONTROL, NOT_PARTED))
        elif control:
            statements.append((rest.strip().rstrip(";").rstrip(), _control_bits(control), NOT_PARTED))
        elif _begins_function(other):
            if statements:
                statements = []
                functions.append(statements)
                labels.append({})
        elif label := LABEL.fullmatch(other.strip()):
            labels[-1][label.group(1)] = len(statements) * SIZE
        elif not NOISE.fullmatch(other):
            statements.append((other.strip(), NO_CONTROL, NOT_PARTED))
    if not any(functions):
        raise ParseError(
            "holds no SASS instruction", line=1, hint="it should be the text Triton's dump writes"
        )
    return Listing(codes=tuple(_codes([each for each in functions if each], labels)))


def _with_line_feeds(text: str) -> str:
    """A text whose lines end in line feeds, whatever they ended in."""
    if text.isascii() and not any(end in text for end in LINE_ENDS):
        return text
    return "\n".join(text.splitlines())


def _begins_function(line: str) -> bool:
    return FUNCTION.fullmatch(line) is not None or SECTION.fullmatch(line) is not None


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


def _codes(
    functions: Sequence[list[tuple[str, int, Parted]]], labels: Sequence[dict[str, int]]
) -> list[CodeText]:
    codes = []
    base = 0
    for number, statements in enumerate(functions):
        places = labels[number] if number < len(labels) else {}
        texts = [
            text if parted is not NOT_PARTED or not ("`(" in text or "LBB" in text) else _placed(text, places)
            for text, _, parted in statements
        ]
        controls = [control for _, control, _ in statements]
        # behind control fields nothing is parted yet: it is when all texts of the section are at once
        found = [parted for _, _, parted in statements] if max(controls) == NO_CONTROL else None
        instructions = read_statements(texts, controls, address=base, parted=found)
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
