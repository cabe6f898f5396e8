"""Splits AMDGPU assembly into instructions, labels and directives, each with its line.

One statement stands on a line, as LLVM's AMDGPU printer writes them (LLVM's AsmWriter; read from Triton 3.1 to 3.9);
what stands behind ``;`` or ``//`` is a comment. Comments are kept: LLVM marks spills and resources in them.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import msgspec
from irdiff.api import Artifact, Context, ParseError

Kind: TypeAlias = Literal["instruction", "label", "directive", "unknown"]

_STATEMENT = re.compile(r"(?:([\w.$@]+):(?!:)\s*)?(\.?[A-Za-z_][\w.]*)?(?:\s+(\S.*))?\Z", re.DOTALL)
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"?")
_COMMENT = re.compile(r";|//")
_INFO = re.compile(r"\s*;\s([A-Za-z][\w ]{0,60}?)\s*[:=]\s*(\d{1,18})\b")
_LOCAL = (".loc", ".file", ".cfi_")
_ENDS_METADATA = ".end_amdgpu_metadata"
_LONGEST = 1 << 16
"""Characters of a line that are read; no statement has a tenth of them."""
_DEBUG_SECTIONS = (".debug_", ".AMDGPU.csdata", ".AMDGPU.gpr_maximums", ".note.GNU-stack")


class Item(msgspec.Struct, frozen=True, gc=False):
    """One statement."""

    line: int
    kind: Kind
    word: str
    """Opcode, name of the label, or the directive with its dot."""
    operands: str
    """The rest of the statement, without the comment; ``""`` where there is none."""
    comment: str
    """What stands behind ``;``, stripped."""
    section: str
    """Section it is in: ``.text``."""


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """An assembly file as items in the order of the text."""

    lines: tuple[str, ...]
    items: tuple[Item, ...]
    """Instructions, labels, and directives that are neither debug information nor metadata."""
    debug: tuple[Item, ...]
    """``.file``, ``.loc``, ``.cfi_*``, and everything in sections that do not execute."""
    metadata: tuple[tuple[int, str], ...]
    """(line, text) of the YAML between ``.amdgpu_metadata`` and its end."""
    info: dict[str, tuple[tuple[int, int], ...]]
    """What LLVM says in comments behind each function, kernel or called: ``NumVgprs`` to (number, line) of each."""
    comments: tuple[tuple[int, str], ...]
    """(line, text) of every comment."""
    truncated: int | None
    """The line where the text ends inside something, else None."""
    undecoded: int | None
    """The first line with bytes that are no UTF-8, else None; they stand in the text as escapes."""


def listing_of(artifact: Artifact, context: Context) -> Listing:
    """The items of an artifact, read once for summary and canonical form."""
    return context.once("amdgcn.listing", lambda: read(artifact.read()))


def read(data: bytes) -> Listing:
    """Split a file. Raises ParseError where it is no AMDGPU assembly."""
    if data[:4] == b"\x7fELF" or b"\0" in data:
        raise ParseError("this is no text: a binary file under the suffix of assembly", offset=0)
    undecoded = None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "backslashreplace")
        undecoded = data.count(b"\n", 0, error.start) + 1
    reader = _Reader(tuple(text.split("\n")))
    reader.read_all()
    if not any(item.kind == "instruction" for item in reader.items) and ".amdgcn_target" not in text:
        raise ParseError(
            "no AMDGPU assembly: neither an instruction nor .amdgcn_target",
            line=1,
            hint="an .amdgcn file of Triton begins with .amdgcn_target",
        )
    return Listing(
        lines=reader.lines,
        items=tuple(reader.items),
        debug=tuple(reader.debug),
        metadata=tuple(reader.metadata),
        info={name: tuple(found) for name, found in reader.info.items()},
        comments=tuple(reader.comments),
        truncated=reader.truncated(),
        undecoded=undecoded,
    )


class _Reader:
    def __init__(self, lines: tuple[str, ...]) -> None:
        self.lines = lines
        self.items: list[Item] = []
        self.debug: list[Item] = []
        self.metadata: list[tuple[int, str]] = []
        self.info: dict[str, list[tuple[int, int]]] = {}
        self.comments: list[tuple[int, str]] = []
        self._section = ".text"
        self._previous = ".text"
        self._in_metadata = False
        self._in_kernel = 0
        self._sizes: set[str] = set()
        self._functions: dict[str, int] = {}

    def read_all(self) -> None:
        """Every line."""
        for number, line in enumerate(self.lines, 1):
            if self._in_metadata:
                if line.strip() == _ENDS_METADATA:
                    self._in_metadata = False
                elif line.strip():
                    self.metadata.append((number, line[:_LONGEST].rstrip()))
                continue
            code, comment = _without_comment(line[:_LONGEST])
            if comment is not None:
                self.comments.append((number, comment))
                self._note(number, line)
            if code and not code.isspace():
                self._statement(number, code, comment or "")

    def _note(self, number: int, line: str) -> None:
        found = _INFO.match(line)
        if found is not None:
            self.info.setdefault(found[1], []).append((int(found[2]), number))

    def _statement(self, number: int, code: str, comment: str) -> None:
        found = _STATEMENT.match(code.strip())
        if found is None:
            self._put(Item(number, "unknown", "", code.strip(), comment, self._section))
            return
        label, word, rest = found.groups()
        if label is not None:
            self._put(Item(number, "label", label, "", comment, self._section))
        if word is None:
            if rest is not None:
                self._put(Item(number, "unknown", "", rest, comment, self._section))
            return
        if not word.startswith("."):
            self._put(Item(number, "instruction", word, rest or "", comment, self._section))
            return
        self._directive(Item(number, "directive", word, rest or "", comment, self._section))

    def _directive(self, item: Item) -> None:
        word, rest = item.word, item.operands
        if word == ".amdgpu_metadata":
            self._in_metadata = True
            return
        if word in (".text", ".data", ".bss", ".rodata"):
            self._enter(word)
        elif word in (".section", ".pushsection"):
            self._enter(rest.partition(",")[0].strip().strip('"'))
        elif word in (".previous", ".popsection"):
            self._enter(self._previous)
        elif word == ".amdhsa_kernel":
            self._in_kernel = item.line
            self._put(item)
        elif word == ".end_amdhsa_kernel":
            self._in_kernel = 0
        elif word == ".type" and rest.endswith("@function"):
            self._functions.setdefault(rest.partition(",")[0].strip(), item.line)
        elif word == ".size":
            self._sizes.add(rest.partition(",")[0].strip())
        else:
            self._put(item)

    def _enter(self, section: str) -> None:
        self._previous, self._section = self._section, section

    def _put(self, item: Item) -> None:
        if item.section.startswith(_DEBUG_SECTIONS) or item.word.startswith(_LOCAL):
            self.debug.append(item)
        else:
            self.items.append(item)

    def truncated(self) -> int | None:
        """LLVM closes everything it opens, and writes the metadata behind the code."""
        unsized = self._functions.keys() - self._sizes
        ends_inside = self._in_metadata or self._in_kernel or unsized or not self.metadata
        return len(self.lines) if ends_inside else None


def _without_comment(line: str) -> tuple[str, str | None]:
    """(statement, comment or None): a mark inside a string begins no comment."""
    found = _COMMENT.search(line)
    if found is None:
        return line, None
    if '"' in line[: found.start()]:
        masked = _STRING.sub(lambda string: "x" * len(string.group()), line)
        found = _COMMENT.search(masked)
        if found is None:
            return line, None
    return line[: found.start()], line[found.start() :].lstrip(";/ \t").strip()
