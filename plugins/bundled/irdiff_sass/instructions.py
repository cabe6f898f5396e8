"""One SASS instruction, read from the text of a disassembler.

Syntax as ``nvdisasm`` 12.4 to 13.5 writes it: ``@!P0 LDG.E.128 R4, desc[UR4][R2.64+0x800] ;``. Quirks taken
away: nvdisasm 12.8 appends raw control fields on sm_120 (``&wr=0x1``, ``?trans1``), 13.5 marks spills
(``(*"SpillRefill"*)``). ``.reuse`` is kept here; the canonical form drops it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

SIZE = 16
"""Bytes of an instruction from sm_70 on."""

NO_CONTROL = -1

BRANCHES = frozenset({"BRA", "BSSY", "CALL", "LEPC", "RET", "WARPSYNC", "JMP"})
"""Families whose last operand can be a place in the code."""

NEVER = frozenset({"@!PT", "@!UPT"})
"""Predicates under which an instruction never executes: the assembler pads hazards with such loads."""


class Instruction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One instruction."""

    address: int
    """Bytes from the start of the artifact's code: sections follow one another."""
    predicate: str
    """``@!P0`` or empty."""
    opcode: str
    """With its modifiers: ``LDG.E.128``."""
    rest: str
    """Operands in one spacing; a place in the code is ``0x...`` from the start of its section."""
    control: int
    """Bits 105 to 125 of the word (stall, yield, barriers, wait mask, reuse), or -1 where not known."""
    text: str
    """Predicate, opcode and operands, spaced alike whatever disassembler wrote them."""

    @property
    def operands(self) -> tuple[str, ...]:
        """As written, one by one; of what is no instruction its text alone."""
        if self.opcode == UNREADABLE:
            return (self.rest,)
        return split_operands(self.rest) if self.rest else ()

    @property
    def family(self) -> str:
        """The opcode without modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def stall(self) -> int:
        """Cycles it makes its warp wait at least, 0 to 15; 0 where not known."""
        return self.control & 15 if self.control >= 0 else 0

    @property
    def executes(self) -> bool:
        """False for one whose predicate is always false."""
        return self.predicate not in NEVER

    @property
    def target(self) -> int | None:
        """The place in its section that it can go to or names, where it has one."""
        if not self.operands or self.family not in BRANCHES:
            return None
        last = self.operands[-1].rpartition(" ")[2]
        return int(last, 16) if PLACE.fullmatch(last) else None


UNREADABLE = "?"
"""Opcode of a line that is no instruction; its text is the only operand."""

LONGEST = 4096
"""Characters; a longer statement is no instruction."""
USUAL = 128
"""Characters of a statement that is worth remembering: a compiler writes the same ones in kernel after kernel."""

PLACE = re.compile(r"0x[0-9a-f]{1,12}")
STATEMENT = re.compile(r"(?:(@!?U?P[0-9T]+)\s+)?([A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*)(?:\s+(.*))?")
_USUAL = r"!-%')-+\-.0-:<->@-z|-~"
"""Printable ASCII but space, comma and what may begin or end something else: ``& ( / ; ? {``."""
USUAL_STATEMENT = rf"((?:(@!?U?P[0-9T]+) )?([A-Z][A-Za-z0-9_.]*)(?: ([ ,{_USUAL}]*[,{_USUAL}]))?)"
"""Text, predicate, opcode and operands of a statement of those characters, in whatever spacing."""
SPELLED_STATEMENT = (
    r"((?:(@!?U?P[0-9T]+) )?([A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*)"
    rf"(?: ([{_USUAL}]+(?:, [{_USUAL}]+)*))?)"
)
"""The same of an instruction that is written as :func:`spell` writes it."""
ANNOTATION = re.compile(r"\(\*[^*]*\*\)")
RAW_CONTROL = re.compile(r"\s[&?][A-Za-z][^ ;]*")


class Parts(NamedTuple):
    """One statement in its parts; the opcode of what is no instruction is ``?``."""

    predicate: str
    opcode: str
    rest: str
    """Operands in one spacing."""
    text: str
    """All in one spacing."""


def read_statement(
    text: str, *, address: int, base: int = 0, length: int = 0, control: int = NO_CONTROL
) -> Instruction | None:
    """An instruction from its text without address and semicolon; ``None`` for something else.

    With a ``length``, places in the code are made relative to ``base``; one outside of its ``length`` bytes is
    written as ``outside`` and its distance.
    """
    predicate, opcode, rest, spelled = parts_of(text, base, length)
    if opcode == UNREADABLE:
        return None
    return Instruction(
        address=address, predicate=predicate, opcode=opcode, rest=rest, control=control, text=spelled
    )


def parts_of(text: str, base: int = 0, length: int = 0) -> Parts:
    """The parts of any statement; see :func:`read_statement`."""
    parsed = _remembered(text) if len(text) <= USUAL else _parsed(text)
    if parsed is None:
        rest = text.strip()[:200]
        return Parts("", UNREADABLE, rest, spell("", UNREADABLE, (rest,)))
    predicate, opcode, operands = parsed
    if length and operands and names_place(opcode):
        operands = (*operands[:-1], _relative(operands[-1], base, length))
    return Parts(predicate, opcode, ", ".join(operands), spell(predicate, opcode, operands))


@lru_cache(maxsize=1 << 12)
def names_place(opcode: str) -> bool:
    """Whether the last operand can be a place in the code."""
    return opcode.partition(".")[0] in BRANCHES


def spell(predicate: str, opcode: str, operands: Sequence[str]) -> str:
    """A statement in one spacing."""
    text = f"{opcode} {', '.join(operands)}".rstrip()
    return f"{predicate} {text}" if predicate else text


def _parsed(text: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Predicate, opcode and operands of a statement."""
    if "(*" in text:
        text = ANNOTATION.sub("", text)
    if " &" in text or " ?" in text:
        text = RAW_CONTROL.sub("", text)
    found = STATEMENT.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if found is None:
        return None
    predicate, opcode, rest = found.groups("")
    return predicate, opcode, split_operands(rest) if rest else ()


_remembered = lru_cache(maxsize=1 << 12)(_parsed)


def _relative(operand: str, base: int, length: int) -> str:
    head, space, last = operand.rpartition(" ")
    if not PLACE.fullmatch(last):
        return operand
    distance = int(last, 16) - base
    inside = 0 <= distance <= length
    return f"{head}{space}{distance:#x}" if inside else f"{head}{space}outside{distance:+#x}"


def split_operands(text: str) -> tuple[str, ...]:
    """Operands of a statement: parted by commas outside braces and brackets."""
    if "{" not in text:
        return tuple([part.strip() for part in text.split(",")])
    parts: list[str] = []
    depth = start = 0
    for index, character in enumerate(text):
        if character in "{[(":
            depth += 1
        elif character in "}])":
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(text[start:index].strip())
            start = index + 1
    parts.append(text[start:].strip())
    return tuple(parts)


REGISTER = r"(?:R\d{1,3}|RZ|UR\d{1,3}|URZ|P\d|PT|UP\d|UPT|B\d{1,2}|SB\d|gsb\d|SRZ|PR|UPR|SR_?[A-Za-z0-9_]+)"
NUMBER = r"(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[+-]?INF|[+-]?[QS]NAN)"
MODIFIERS = r"(?:\.[A-Za-z0-9_]+)*(?:\|(?:\.[A-Za-z0-9_]+)*)?"
PLAIN = rf"[-+~!|]*(?:{REGISTER}|{NUMBER}){MODIFIERS}"
BRACKET = r"\[[A-Za-z0-9_.+\-~!|]*\]"
OPERAND = re.compile(
    rf"{PLAIN}"
    rf"|[-~!|]*(?:c|cx|ux|a|desc|gdesc|tmem|idesc|tdesc|x|l|g|s)?{BRACKET}(?:{BRACKET})*"
    rf"{MODIFIERS}"
    r"|\{[0-9, ]*\}"
    rf"|(?:{PLAIN} )?(?:0x[0-9a-f]+|outside[+-]0x[0-9a-f]+|-0x[0-9a-f]+|LBB\d+)"
)
"""What an operand looks like: a register, a number, memory, a set of scoreboards, a place in the code."""


@lru_cache(maxsize=1 << 12)
def control_text(control: int) -> str:
    """``wait:read:write:yield:stall`` as Triton's ``.sass`` files write it (``triton/tools/disasm.py``).

    The reuse bits are left out: they say which operands are cached, as ``.reuse`` does.
    """
    if control < 0:
        return ""
    wait, read, write = control >> 11 & 63, control >> 8 & 7, control >> 5 & 7
    return ":".join(
        (
            f"{wait:02d}" if wait else "--",
            "-" if read == 7 else str(read),
            "-" if write == 7 else str(write),
            "-" if control >> 4 & 1 else "Y",
            f"{control & 15:x}",
        )
    )
