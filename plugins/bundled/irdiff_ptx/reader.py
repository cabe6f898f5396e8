"""Splits PTX text into items: instructions, directives, labels and braces, each with its line.

A line that is one whole instruction, which nearly every line is, is taken apart as its shape says
(:mod:`irdiff_ptx.shapes`); all else (prototypes over several lines, several statements on a line, debug sections) goes
through :class:`_Assembler`, which cuts at ``;``, ``{`` and ``}``. Grammar: PTX ISA 9.0, chapter 4 "Syntax".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from irdiff.api import ParseError
from irdiff_ptx.shapes import INSTRUCTION, UNKNOWN, Shape, blind, shapes_of

Item: TypeAlias = tuple[int, "str | None", str, "str | None"]
"""(line from 1, guard such as ``@!%p1``, opcode, operands). Items that are no instruction have a mark as
opcode: ``{``, ``}``, ``:`` (label), ``?`` (not understood), or a directive's first word with its dot."""

_LABEL = re.compile(r"\s*([\w$%]+)\s*:(?!:)")
_CUT = re.compile(r"//|\"[^\"]*\"?|[;{}]|[^;{}\"/]+|/")
_LINE_DIRECTIVES = (".version", ".target", ".address_size", ".file", ".loc")
_HEADS = re.compile(r"(?:\.(?:visible|extern|weak|common)\s+)*\.(?:entry|func|section)\b")
_BLOCK_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BEGIN, _END = "// begin inline asm", "// end inline asm"
_DIRECTIVES = (
    "version target address_size entry func reg param global shared local const tex pragma alias",
    "branchtargets calltargets callprototype extern visible weak common",
)
DIRECTIVES = frozenset(f".{word}" for words in _DIRECTIVES for word in words.split())
"""PTX ISA 9.0, chapter 11 "Directives" (those that stay in the list of items)."""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A PTX file as items in the order of the text."""

    lines: tuple[str, ...]
    items: tuple[Item, ...]
    shapes: tuple[Shape, ...]
    """The shape of each item's line; UNKNOWN for what is no instruction that is one line."""
    outlines: tuple[Shape, ...]
    """The shape of each line."""
    odd: tuple[int, ...]
    """Places of the items with that shape, and of the instructions behind which control may go elsewhere."""
    debug: tuple[tuple[int, str], ...]
    """(line, text) of ``.file`` and ``.loc``."""
    sections: tuple[tuple[int, int], ...]
    """First and last line of each debug section."""
    truncated: int | None
    """The line where the text ends inside something, else None."""
    damage: tuple[str, int] | None
    """What no text holds (a NUL, bytes that are no UTF-8) in words, and the line of the first; else None."""
    open_assembly: int | None
    """The first line ``// begin inline asm`` that no ``// end inline asm`` follows before the next, else None."""


class _Assembler:
    """Puts statements together from lines that are not one whole instruction."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.items: list[Item] = []
        self.shapes: list[Shape] = []
        self.debug: list[tuple[int, str]] = []
        self.sections: list[tuple[int, int]] = []
        self.depth = 0
        self.resume = 0
        self.unclosed_section = False
        self.pending: list[str] = []
        self.start = 0
        self._braces = 0

    def add(self, line: int, guard: str | None, opcode: str, operands: str | None) -> None:
        """Add an item that is no line of its own."""
        self.items.append((line, guard, opcode, operands))
        self.shapes.append(UNKNOWN)

    def feed(self, number: int, line: str) -> None:
        """Take one line."""
        text = line.strip()
        if not text or text.startswith("//"):
            return
        if not self.pending and text.startswith("."):
            word = text.split(None, 1)[0]
            if word in (".loc", ".file"):
                self.debug.append((number, text))
                return
            if word in _LINE_DIRECTIVES:
                self.add(number, None, word, text.partition("//")[0].strip())
                return
        for part in _CUT.findall(line):
            if part == "//":
                break
            if self.resume > number:
                return
            self._take(number, part)
        if self.pending:
            self.pending.append(" ")

    def _take(self, number: int, part: str) -> None:
        if part == ";":
            self.finish()
        elif part == "{":
            self._open(number)
        elif part == "}":
            self._close(number)
        else:
            if not self.pending:
                while (label := _LABEL.match(part)) is not None:
                    self.add(number, None, ":", label.group(1))
                    part = part[label.end() :]
                if not part.strip():
                    return
                self.start = number
            self.pending.append(part)

    def _open(self, number: int) -> None:
        text = "".join(self.pending).strip()
        if not text:
            self.depth += 1
            self.add(number, None, "{", None)
        elif _HEADS.match(text) and not self._braces:
            self.pending.clear()
            if text.startswith(".section"):
                self._skip_section(number)
                return
            self.add(self.start, None, ".entry" if ".entry" in text.split() else ".func", text)
            self.depth += 1
            self.add(number, None, "{", None)
        else:
            self._braces += 1
            self.pending.append("{")

    def _close(self, number: int) -> None:
        if self._braces:
            self._braces -= 1
            self.pending.append("}")
            return
        if "".join(self.pending).strip():
            self.drop()
        self.pending.clear()
        if self.depth == 0:
            self.add(number, None, "?", "}")
            return
        self.depth -= 1
        self.add(number, None, "}", None)

    def _skip_section(self, number: int) -> None:
        """Jump over a debug section: DWARF as ``.b8`` numbers, no code."""
        index = number - 1
        if "}" not in self.lines[index].partition("{")[2]:
            index += 1
            try:
                index = self.lines.index("\t}", index)  # as LLVM writes it
            except ValueError:
                while index < len(self.lines) and self.lines[index].strip() != "}":
                    index += 1
        self.unclosed_section = index >= len(self.lines)
        self.resume = index + 2
        self.sections.append((self.start, min(index + 1, len(self.lines))))

    def finish(self) -> None:
        """A statement has ended at ``;``."""
        text = " ".join("".join(self.pending).split())
        self.pending.clear()
        self._braces = 0
        if not text:
            return
        if text.startswith("."):
            word = text.split(None, 1)[0]
            known = word in DIRECTIVES
            if known and _HEADS.match(text):
                word = ".func"
            self.add(self.start, None, word if known else "?", text)
            return
        match = INSTRUCTION.match(text + ";")
        if match is None:
            self.add(self.start, None, "?", text)
        else:
            guard, opcode, operands = match.groups()
            self.add(self.start, guard, opcode, operands)

    def drop(self) -> None:
        """What is pending never became a statement: keep it as not understood."""
        self.add(self.start, None, "?", " ".join("".join(self.pending).split()))
        self.pending.clear()
        self._braces = 0


def text_of(data: bytes) -> tuple[str, tuple[str, int] | None]:
    """The text, bytes that are none as escapes, and what is wrong with the first of them, with its line.

    A byte order mark and how lines end say nothing.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        damage: tuple[str, int] | None = ("bytes that are no UTF-8", data.count(b"\n", 0, error.start) + 1)
        text = data.decode("utf-8", errors="backslashreplace")
    else:
        damage = (
            ("a NUL byte in text", data.count(b"\n", 0, data.index(b"\0")) + 1) if b"\0" in data else None
        )
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return (text.replace("\0", "\\x00") if damage else text), damage


def read(data: bytes) -> Listing:
    """Split a PTX file. Raises ParseError where the bytes are no PTX at all."""
    text, damage = text_of(data)
    if "*" in text and "/*" in text:  # one character is found faster
        text = _BLOCK_COMMENT.sub(lambda found: " " + "\n" * found.group().count("\n"), text)
    lines = text.split("\n")
    blinded = blind(text).split("\n")
    known = shapes_of(blinded)
    outlines = [*map(known.__getitem__, blinded)]
    assembler = _Assembler(lines)
    items, shapes = assembler.items, assembler.shapes
    append, append_shape = items.append, shapes.append
    pending, resume = assembler.pending, 0
    for number, (line, shape) in enumerate(zip(lines, outlines, strict=True), 1):
        if number < resume:
            continue
        opcode = shape.opcode
        if opcode is None:
            if shape.is_loc:
                assembler.debug.append((number, line.strip()))
                continue
            if shape.is_empty and not (shape.is_blank and pending):
                continue
            if shape.label is not None and not pending:
                assembler.add(number, None, ":", line[shape.label])
                continue
        elif not pending or _stands_alone(line[opcode], assembler):
            guard, operands = shape.guard, shape.operands
            append(
                (
                    number,
                    None if guard is None else line[guard],
                    line[opcode],
                    None if operands is None else line[operands],
                )
            )
            append_shape(shape)
            continue
        assembler.feed(number, line)
        resume = assembler.resume
    is_framed_wrong = text.count(f"{_BEGIN}\n") != text.count(f"{_END}\n")
    return _listing(lines, outlines, assembler, damage, is_framed_wrong=is_framed_wrong)


def _stands_alone(opcode: str, assembler: _Assembler) -> bool:
    """A whole instruction after an unfinished one: the unfinished one lost its ``;`` (unless it is a call)."""
    unfinished = "".join(assembler.pending).split(None, 1)
    if not unfinished or unfinished[0].startswith("call") or "." not in opcode:
        return not unfinished
    assembler.drop()
    return True


def _listing(
    lines: list[str],
    outlines: list[Shape],
    assembler: _Assembler,
    damage: tuple[str, int] | None,
    *,
    is_framed_wrong: bool,
) -> Listing:
    is_open = bool("".join(assembler.pending).strip())
    if is_open:
        assembler.drop()
    odd = tuple([index for index, shape in enumerate(assembler.shapes) if shape.turns])
    heads = {assembler.items[index][2] for index in odd}
    if not heads & {".version", ".target", ".entry"}:
        hint = "a PTX file begins with .version and .target; is the file what its name says?"
        raise ParseError("this is no PTX: no .version, .target or .entry directive", line=1, hint=hint)
    truncated: int | None = None
    if is_open:
        truncated = assembler.start
    elif assembler.depth > 0 or assembler.unclosed_section or "{" not in heads:
        truncated = len(lines)
    return Listing(
        lines=tuple(lines),
        items=tuple(assembler.items),
        shapes=tuple(assembler.shapes),
        outlines=tuple(outlines),
        odd=odd,
        debug=tuple(assembler.debug),
        sections=tuple(assembler.sections),
        truncated=truncated,
        damage=damage,
        open_assembly=_open_assembly(lines) if is_framed_wrong else None,
    )


def _open_assembly(lines: list[str]) -> int | None:
    """LLVM frames each block of inline assembly with two comments; one without the other is a damaged file."""
    begun: int | None = None
    marks = [(number, line) for number, line in enumerate(lines, 1) if line.endswith(" inline asm")]
    for number, line in marks:
        mark = line.strip()
        if mark == _BEGIN:
            if begun is not None:
                return begun
            begun = number
        elif mark == _END:
            begun = None
    return begun
