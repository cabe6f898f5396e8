"""Puts statements of PTX together from lines that are not one whole instruction: it cuts at ``;``, ``{`` and ``}``.

Prototypes over several lines, several statements on a line, debug sections. Grammar: PTX ISA 9.0, chapter 4 "Syntax".
"""

from __future__ import annotations

import re

from irdiff_ptx.items import Extra, mark
from irdiff_ptx.shapes import WHOLE, blind, shapes_of

_LABEL = re.compile(r"\s*([\w$%]+)\s*:(?!:)")
_CUT = re.compile(r"//|\"[^\"]*\"?|[;{}]|[^;{}\"/]+|/")
_LINE_DIRECTIVES = (".version", ".target", ".address_size", ".file", ".loc")
_HEADS = re.compile(r"(?:\.(?:visible|extern|weak|common)\s+)*\.(?:entry|func|section)\b")
_DIRECTIVES = (
    "version target address_size entry func reg param global shared local const tex pragma alias",
    "branchtargets calltargets callprototype extern visible weak common",
)
DIRECTIVES = frozenset(f".{word}" for words in _DIRECTIVES for word in words.split())
"""PTX ISA 9.0, chapter 11 "Directives" (those that stay in the list of items)."""
_STATEMENT = re.compile(r"[^;{}\"/]*;\Z")
"""A directive that is the whole line."""
_SECTION = re.compile(r"\t\.section\t[^;{}\"/]*(\{\s*\})?\Z")


class Assembler:
    """Puts statements together from lines that are not one whole instruction."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.extras: list[Extra] = []
        self.files: list[int] = []
        self.locations: list[int] = []
        self.sections: list[tuple[int, int]] = []
        self.depth = 0
        self.resume = 0
        self.unclosed_section = False
        self.pending: list[str] = []
        self.start = 0
        self._braces = 0

    def add(self, line: int, opcode: str, text: str = "") -> None:
        """Add an item that is no instruction."""
        self.extras.append(mark(line, opcode, text))

    def feed(self, number: int, line: str) -> None:
        """Take one line."""
        text = line.strip()
        if not text or text.startswith("//"):
            return
        if not self.pending and text.startswith("."):
            word = text.split(None, 1)[0]
            if word in (".loc", ".file"):
                (self.locations if word == ".loc" else self.files).append(number)
                return
            if word in _LINE_DIRECTIVES:
                self.add(number, word, text.partition("//")[0].strip())
                return
            if word in DIRECTIVES and _STATEMENT.match(text) and not _HEADS.match(text):
                self.add(number, word, " ".join(text[:-1].split()))
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
                    self.add(number, ":", label.group(1))
                    part = part[label.end() :]
                if not part.strip():
                    return
                self.start = number
            self.pending.append(part)

    def _open(self, number: int) -> None:
        text = "".join(self.pending).strip()
        if not text:
            self.depth += 1
            self.add(number, "{")
        elif _HEADS.match(text) and not self._braces:
            self.pending.clear()
            if text.startswith(".section"):
                self._skip_section(number)
                return
            self.add(self.start, ".entry" if ".entry" in text.split() else ".func", text)
            self.depth += 1
            self.add(number, "{")
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
            self.add(number, "?", "}")
            return
        self.depth -= 1
        self.add(number, "}")

    def skip_section(self, number: int) -> bool:
        """Jump over a debug section as LLVM writes it that begins on a line, if there is one."""
        head = None if self.pending else _SECTION.match(self.lines[number - 1])
        if head is None or not (head[1] or self.lines[number : number + 1] == ["\t{"]):
            return False
        self.start = number
        self._skip_section(number if head[1] else number + 1)
        return True

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
            self.add(self.start, word if known else "?", text)
            return
        (shape,) = shapes_of((blind(f"{text};"),))
        if shape.kind & WHOLE:
            self.extras.append((self.start, f"{text};", shape))
        else:
            self.add(self.start, "?", text)

    def drop(self) -> None:
        """What is pending never became a statement: keep it as not understood."""
        self.add(self.start, "?", " ".join("".join(self.pending).split()))
        self.pending.clear()
        self._braces = 0
