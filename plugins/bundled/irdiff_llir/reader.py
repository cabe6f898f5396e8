"""Splits LLVM IR text into functions' instructions and what stands between functions.

LLVM prints one instruction on a line, so each line is matched by one anchored expression (only ``switch``
spans several). Grammar: LLVM Language Reference, as printed by LLVM 17 to 22 (Triton 3.1 to 3.9).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from irdiff.api import ParseError

Item: TypeAlias = tuple[int, "str | None", str, str]
"""(line from 1, result, opcode, operands). Marks instead of an opcode: ``{`` (a ``define`` line), ``}``,
``:`` (a block's label), ``?`` (not understood), ``#`` (a debug record)."""

INSTRUCTION = re.compile(
    r"\s+(?:(%[-\w.$]+|%\"[^\"]*\") = )?(?:(?:tail|musttail|notail) )?([a-z_]+),?(?: (.*))?\Z"
)
_LABEL = re.compile(r"([-\w.$]+|\"[^\"]*\"):(?:\s*;.*)?\s*\Z")
_TOP = re.compile(
    r"(declare|define|target|source_filename|attributes|module asm|uselistorder|uselistorder_bb)\b"
    r"|(@)(?:[-\w.$]+|\"[^\"]*\") = |(!)[\w.]+ = |(\$)[-\w.$\"]+ = comdat"
    r"|(%)(?:[-\w.$]+|\"[^\"]*\") = type\b|(\^)\d+ = "
)


@dataclass(frozen=True, kw_only=True)
class Module:
    """An LLVM IR file."""

    lines: tuple[str, ...]
    items: tuple[Item, ...]
    """Function bodies in the order of the text."""
    top: tuple[tuple[int, str, str], ...]
    """(line, kind, text) outside functions; kinds are the first word, ``@``, ``!``, ``$``, ``%``, ``^`` or ``?``."""
    truncated: int | None
    """The line where the text ends inside something, else None."""
    nul: int | None
    """The line of the first NUL byte, which no text has, else None."""


def read(data: bytes) -> Module:
    """Split an LLVM IR file. Raises ParseError where the bytes are no LLVM IR at all."""
    nul = data.count(b"\n", 0, data.index(b"\0")) + 1 if b"\0" in data else None
    text = data.decode("utf-8", errors="backslashreplace").replace("\0", "\\x00")
    lines = text.split("\n")
    items: list[Item] = []
    top: list[tuple[int, str, str]] = []
    inside = False
    switch: list[str] = []
    match, append = INSTRUCTION.match, items.append
    for number, line in enumerate(lines, 1):
        if not inside:
            if line.startswith("!"):
                top.append((number, "!", line))
            elif line and not line.startswith(";"):
                inside = _top_level(number, line, items, top)
            continue
        if switch:
            switch.append(line.strip())
            if switch[-1].startswith("]"):
                items[-1] = (*items[-1][:3], " ".join(switch))
                switch.clear()
            continue
        found = match(line)
        if found is None:
            inside = _inside(number, line, items)
            continue
        result, opcode, operands = found.groups()
        append((number, result, opcode, operands or ""))
        if opcode == "switch" and operands and operands.endswith("["):
            switch.append(operands)
    return _module(lines, items, top, nul, inside=inside)


def _top_level(number: int, line: str, items: list[Item], top: list[tuple[int, str, str]]) -> bool:
    """Take a line outside functions; whether a function begins."""
    found = _TOP.match(line)
    if found is None:
        if line.strip():
            top.append((number, "?", line.strip()))
        return False
    kind = next(group for group in found.groups() if group)
    if kind == "define":
        items.append((number, None, "{", line))
        return True
    top.append((number, kind, line))
    return False


def _inside(number: int, line: str, items: list[Item]) -> bool:
    """Take a line of a function that is no instruction; whether the function goes on."""
    text = line.strip()
    if line.startswith("}"):
        items.append((number, None, "}", ""))
        return False
    if not text or text.startswith(";"):
        return True
    label = _LABEL.match(line)
    if label is not None:
        items.append((number, None, ":", label.group(1)))
    elif text.startswith("#dbg_"):
        items.append((number, None, "#", text))
    else:
        items.append((number, None, "?", text))
    return True


def _module(
    lines: list[str], items: list[Item], top: list[tuple[int, str, str]], nul: int | None, *, inside: bool
) -> Module:
    if not items and not any(kind != "?" for _, kind, _ in top):
        hint = "an LLVM IR file has `define` or `declare` lines; is the file what its name says?"
        raise ParseError("this is no LLVM IR: no line of it is a definition", line=1, hint=hint)
    truncated: int | None = None
    if (
        inside
        or not any(item[2] == "{" for item in items)
        or (lines[-1].strip() and not _is_closed(lines[-1]))
    ) or _missing_groups(items, top):
        truncated = len(lines)
    return Module(lines=tuple(lines), items=tuple(items), top=tuple(top), truncated=truncated, nul=nul)


def _is_closed(last: str) -> bool:
    """Whether a last line without a line break looks whole."""
    return (
        last.rstrip().endswith((")", "}"))
        and last.count("(") == last.count(")")
        and last.count("{") == last.count("}")
    )


_GROUP_USE = re.compile(r" #(\d+)(?= |\Z)")
_GROUP_DEFINITION = re.compile(r"attributes #(\d+) = \{.*\}\s*\Z")


def _missing_groups(items: list[Item], top: list[tuple[int, str, str]]) -> bool:
    """Attribute groups that are used and not there: they stand after the functions, so the end is gone."""
    used: set[str] = set()
    for _, kind, text in top:
        if kind == "declare":
            used.update(_GROUP_USE.findall(text.partition(" !")[0]))
    for _, _, opcode, text in items:
        if opcode == "{":
            used.update(_GROUP_USE.findall(text.partition(" !")[0]))
    defined = {
        found[1] for _, kind, text in top if kind == "attributes" and (found := _GROUP_DEFINITION.match(text))
    }
    return bool(used - defined)
