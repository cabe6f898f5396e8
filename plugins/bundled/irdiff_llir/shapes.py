"""Shapes of lines: what all lines that differ in nothing but digits have in common, found once for all of them.

A line is made blind by writing ``0`` for each of its digits: ``%17 = add i32 %2, 8, !dbg !31`` is
``%00 = add i00 %0, 0, !dbg !00``. No length changes, so what stands where in one line stands there in all lines of its
shape, and a process meets few shapes: 2,200 in the 76,786 lines of the recorded H200 cache.

Invariant: an expression that is matched with blind text treats all digits alike, or its answer is not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from irdiff_llir import opcodes
from irdiff_llir.assembly import template_of
from irdiff_llir.spelling import can_fold
from irdiff_llir.syntax import are_balanced

_BLIND = bytes.maketrans(b"123456789", b"000000000")
LONGEST = 2048
"""Characters of a line whose shape is worth remembering in the process."""

INSTRUCTION = re.compile(
    r"\s+(?:(%[-\w.$]+|%\"[^\"]*\") = )?(?:(?:tail|musttail|notail) )?([a-z_]+),?(?: (.*))?\Z"
)
NUMBER = r"0x[KLMHR]?[0-9A-F]{1,32}|f0x[0-9A-F]{1,32}|\d{1,20}(?:\.\d{1,20}(?:e[+-]\d{1,4})?)?"
LITERAL = re.compile(
    rf"[ (<](?=[-\df])(?<!align.)(?<!addrspace\()(-?(?:{NUMBER}))(?=[,) >\]]|\Z)(?! x )",
)
"""A number that stands alone behind a type: no name, type, alignment, address space, count of elements or metadata."""
LONGEST_OPERANDS = 20_000
"""Operands longer than any instruction has are not searched for literals."""
LONGEST_OPCODE = 40
_NAMES = re.compile(r"[%#!]")
_MARKED = re.compile("0x")
_PREDICATE = re.compile(
    r"\b(?:eq|ne|[su](?:gt|ge|lt|le)|o(?:eq|gt|ge|lt|le|ne|rd)|u(?:eq|gt|ge|lt|le|ne|no)|true|false)\b"
)
_CALLEE = re.compile(r"@(\"[^\"]*\"|[-\w.$]+)\(")
_LIBRARY = ("__nv_", "__ocml_", "__ockl_")
_NODE = re.compile(
    r"!(\d{1,9}) = (?:distinct )?!(DILocation|DISubprogram|DILexicalBlock|DILexicalBlockFile|DIFile)\((.*)\)"
)
_FIELD = re.compile(r'(line|scope|inlinedAt|file|filename|directory): (?:!?(\d{1,9})|"([^"]*)")')
_ATTACHED = re.compile(r", !dbg !(\d{1,9})\b")
_DEBUG = ", !dbg !"
_DIGITS = 9


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """Where the parts of a metadata node stand that says where code comes from."""

    number: slice
    kind: str
    fields: dict[str, slice]


class Shape(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Where the parts of an instruction stand, and what can be said of it without its digits."""

    opcode: str = ""
    """Nothing where the line is no instruction."""
    result: slice | None = None
    """The place in the line."""
    operands: slice | None = None
    """The place in the line; all other places are those in the operands."""
    is_counted: bool = False
    """Whether it enters the tallies."""
    is_understood: bool = False
    ends: bool = True
    """Whether it is a terminator, or no instruction."""
    literals: tuple[slice, ...] = ()
    zeros: tuple[int, ...] = ()
    """Places where digits are zeros, or ``literals`` does not hold: the 0 of ``0x1F``."""
    predicate: str = ""
    """The comparison and its predicate: ``icmp slt``."""
    fast_math: str = ""
    """The opcode and its fast-math flags: ``fadd contract``."""
    called: tuple[str, slice] | None = None
    """Fact that a call is counted in, and the place of the name or of the template of inline assembly."""
    debug: slice | None = None
    """The place of the number of the attached location."""
    has_shared: bool = False
    """Whether shared memory is, or may be, named."""
    node: Node | None = None
    code: slice = slice(None)
    """The place in the line of the instruction without spaces around it and the attached location behind it."""
    around: tuple[slice, slice, slice] | None = None
    """The same in three parts, the middle one the type of a structure that holds no name: most of a file's bytes."""
    location: slice | None = None
    """The place in the line of that location's number; None where something else, or nothing, is attached."""
    has_attached: bool = False
    """Whether anything is attached that is no location behind all else."""
    may_fold: bool = False
    """Whether a release may spell the line in another way."""
    calls_debug: bool = False
    """Whether a debug intrinsic is named."""
    is_commented: bool = False
    """Whether the line may hold a comment."""


MARK = Shape(has_shared=True, is_commented=True)
"""Of what is no instruction: labels, heads, braces, debug records."""


@lru_cache(maxsize=4096)
def place(start: int, end: int | None) -> slice:
    """A place; equal ones are one object, for shapes hold many."""
    return slice(start, end)


def blind(text: str) -> str:
    """The text with every ASCII digit as ``0``."""
    return text.encode().translate(_BLIND).decode()


def shapes_of(lines: Iterable[str]) -> dict[str, Shape]:
    """The shape of each distinct line of a blind text."""
    distinct = set(lines)
    short = [line for line in distinct if len(line) <= LONGEST]
    shapes = dict(zip(short, map(_remembered, short), strict=True))
    if len(short) < len(distinct):
        shapes.update((line, _shape(line)) for line in distinct if len(line) > LONGEST)
    return shapes


def _shape(line: str) -> Shape:
    node = _NODE.match(line)
    if node is not None:
        return Shape(node=_parts(node))
    may_fold, calls_debug = can_fold(line), "@llvm.dbg." in line
    found = INSTRUCTION.match(line)
    if found is None:
        return Shape(may_fold=may_fold, calls_debug=calls_debug, is_commented=True)
    shape = shape_of_parts(found[2], found[3] or "")
    text = line.strip()
    start = line.find(text)
    before, mark, number = text.rpartition(_DEBUG)
    end = start + len(text)
    is_located = bool(mark) and number.isdecimal() and ", !" not in before
    return msgspec.structs.replace(
        shape,
        result=None if found[1] is None else place(*found.span(1)),
        operands=place(found.start(3), None) if found[3] else None,
        code=place(start, start + len(before) if is_located else end),
        around=_around(line, start, start + len(before) if is_located else end, found.start(3)),
        location=place(start + len(before) + len(_DEBUG), end) if is_located else None,
        has_attached=not is_located and ", !" in text,
        may_fold=may_fold,
        calls_debug=calls_debug,
        is_commented=" ;" in line and line[0] != " ",
    )


_remembered = lru_cache(maxsize=4096)(_shape)


def shape_of_parts(opcode: str, text: str) -> Shape:
    """The shape of an instruction whose operands are the blind ``text``."""
    (is_balanced,) = are_balanced([text])
    is_searched = len(text) <= LONGEST_OPERANDS and " asm " not in text
    flags = opcodes.fast_flags(text) if opcode in opcodes.FLOATING else ""
    predicate = _PREDICATE.search(text) if opcode in ("icmp", "fcmp") else None
    return Shape(
        opcode=opcode,
        is_counted=opcode[0].isalpha() and len(opcode) <= LONGEST_OPCODE,
        is_understood=opcodes.is_understood(opcode, text, is_balanced=is_balanced),
        ends=opcode in opcodes.TERMINATORS,
        literals=tuple(place(*found.span(1)) for found in LITERAL.finditer(text)) if is_searched else (),
        zeros=tuple(found.start() for found in _MARKED.finditer(text)) if is_searched else (),
        predicate=f"{opcode} {predicate[0]}" if predicate is not None else "",
        fast_math=f"{opcode} {flags}" if flags else "",
        called=_called(text) if opcode == "call" else None,
        debug=debug_place(text),
        has_shared="@global_smem" in text,
    )


def _around(line: str, start: int, end: int, head: int) -> tuple[slice, slice, slice] | None:
    """The parts of an instruction whose operands begin with the type of a structure, which stands at ``head``."""
    behind = line.find("} ", head, end) + 1
    if (
        not line.startswith("{", max(head, start))
        or not behind
        or '"' in line
        or _NAMES.search(line, head, behind)
    ):
        return None
    return place(start, head), place(head, behind), place(behind, end)


def _parts(node: re.Match[str]) -> Node:
    fields: dict[str, slice] = {}
    for found in _FIELD.finditer(node[3]):
        start, end = found.span(3 if found[2] is None else 2)
        fields[found[1]] = place(node.start(3) + start, node.start(3) + end)
    return Node(number=place(*node.span(1)), kind=node[2], fields=fields)


def _called(text: str) -> tuple[str, slice] | None:
    """What a call calls, where that is counted."""
    template = template_of(text)
    if template is not None:
        return "llir.inline_asm", place(*template)
    found = _CALLEE.search(text)
    if found is None:
        return None
    name = found[1].strip('"')
    where = place(found.start(1) + found[1].find(name), found.start(1) + found[1].find(name) + len(name))
    if name.startswith("llvm."):
        return "llir.intrinsics", where
    return ("llir.libdevice", where) if name.startswith(_LIBRARY) else None


def debug_place(text: str) -> slice | None:
    """Where the number of the attached location stands in the operands."""
    start = text.find(_DEBUG)
    if start < 0:
        return None
    number = text[start + len(_DEBUG) :]
    if number.isdecimal() and len(number) <= _DIGITS:  # nearly always it is the last that is attached
        return place(start + len(_DEBUG), None)
    found = _ATTACHED.search(text)
    return None if found is None else place(*found.span(1))
