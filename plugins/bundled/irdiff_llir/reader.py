"""Splits LLVM IR text into functions' instructions and what stands between functions.

LLVM prints one instruction on a line, so each line is taken apart as its shape says (only ``switch`` spans several;
:mod:`irdiff_llir.shapes`). Grammar: LLVM Language Reference, as printed by LLVM 17 to 22 (Triton 3.1 to 3.9).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from irdiff.api import ParseError, text_of
from irdiff_llir.shapes import MARK, Node, Shape, blind, shape_of_parts, shapes_of

Item: TypeAlias = tuple[int, "str | None", str, str]
"""(line from 1, result, opcode, operands). Marks instead of an opcode: ``{`` (a ``define`` line), ``}``,
``:`` (a block's label), ``?`` (not understood), ``#`` (a debug record)."""

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
    shapes: tuple[Shape, ...]
    """The shape of each item; MARK for what is no instruction."""
    odd: tuple[int, ...]
    """Places of the items with that shape, and of terminators."""
    top: tuple[tuple[int, str, str], ...]
    """(line, kind, text) outside functions; kinds are the first word, ``@``, ``!``, ``$``, ``%``, ``^`` or ``?``."""
    may_fold: bool
    """Whether a release may spell any of it in another way."""
    calls_debug: bool
    """Whether debug intrinsics are named."""
    rest: tuple[int, ...]
    """Lines that may be empty or hold a comment."""
    nodes: tuple[tuple[str, Node], ...]
    """Texts of the metadata nodes that say where code comes from."""
    truncated: int | None
    """The line where the text ends inside something, else None."""
    damage: tuple[str, int] | None
    """What no text holds (a NUL, bytes that are no UTF-8) in words, and the line of the first; else None."""


class _Taken:
    """What was taken of the lines so far."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.shapes: list[Shape] = []
        self.top: list[tuple[int, str, str]] = []
        self.nodes: list[tuple[str, Node]] = []
        self.rest: list[int] = []
        self.inside = False
        self.switch: list[str] = []

    def outside(self, number: int, line: str, shape: Shape) -> None:
        """Take a line outside functions."""
        if line.startswith("!"):
            self.top.append((number, "!", line))
            if shape.node is not None:
                self.nodes.append((line, shape.node))
            return
        self.rest.append(number)
        if not line or line.startswith(";"):
            return
        found = _TOP.match(line)
        kind = "?" if found is None else next(group for group in found.groups() if group)
        if kind == "define":
            self._mark(number, "{", line)
            self.inside = True
        elif found is not None or line.strip():
            self.top.append((number, kind, line.strip() if found is None else line))

    def odd(self, number: int, line: str) -> None:
        """Take a line of a function that is no instruction."""
        self.rest.append(number)
        text = line.strip()
        if self.switch:
            self.switch.append(text)
            if text.startswith("]"):
                self.items[-1] = (*self.items[-1][:3], " ".join(self.switch))
                self.shapes[-1] = shape_of_parts("switch", blind(self.items[-1][3]))
                self.switch.clear()
        elif line.startswith("}"):
            self._mark(number, "}", "")
            self.inside = False
        elif text and not text.startswith(";"):
            label = _LABEL.match(line)
            if label is not None:
                self._mark(number, ":", label.group(1))
            else:
                self._mark(number, "#" if text.startswith("#dbg_") else "?", text)

    def _mark(self, number: int, opcode: str, text: str) -> None:
        self.items.append((number, None, opcode, text))
        self.shapes.append(MARK)


def read(data: bytes) -> Module:
    """Split an LLVM IR file. Raises ParseError where the bytes are no LLVM IR at all."""
    text, damage = text_of(data)
    lines = text.split("\n")
    blinded = blind(text).split("\n")
    known = shapes_of(blinded)
    taken = _Taken()
    append, append_shape, switch = taken.items.append, taken.shapes.append, taken.switch
    for number, (line, shape) in enumerate(zip(lines, map(known.__getitem__, blinded), strict=True), 1):
        if not taken.inside:
            taken.outside(number, line, shape)
            continue
        opcode = shape.opcode
        if not opcode or switch:
            taken.odd(number, line)
            continue
        result, operands = shape.result, shape.operands
        text = "" if operands is None else line[operands]
        append((number, None if result is None else line[result], opcode, text))
        append_shape(shape)
        if shape.is_commented:
            taken.rest.append(number)
        if opcode == "switch" and text.endswith("["):
            switch.append(text)
    return _module(lines, taken, known.values(), damage)


def _module(
    lines: list[str], taken: _Taken, shapes: Collection[Shape], damage: tuple[str, int] | None
) -> Module:
    module = Module(
        lines=tuple(lines),
        items=tuple(taken.items),
        shapes=tuple(taken.shapes),
        odd=tuple([index for index, shape in enumerate(taken.shapes) if shape.ends]),
        top=tuple(taken.top),
        may_fold=any(shape.may_fold for shape in shapes),
        calls_debug=any(shape.calls_debug for shape in shapes),
        rest=tuple(taken.rest),
        nodes=tuple(taken.nodes),
        truncated=None,
        damage=damage,
    )
    return replace(module, truncated=_truncated(module, inside=taken.inside))


def _truncated(module: Module, *, inside: bool) -> int | None:
    """The last line where the text ends inside something. Raises ParseError where it is no LLVM IR at all."""
    items, top, last = module.items, module.top, module.lines[-1]
    if not items and not any(kind != "?" for _, kind, _ in top):
        hint = "an LLVM IR file has `define` or `declare` lines; is the file what its name says?"
        raise ParseError("this is no LLVM IR: no line of it is a definition", line=1, hint=hint)
    heads = [items[index][3] for index in module.odd if items[index][2] == "{"]
    is_cut = bool(last.strip()) and not _is_closed(last)
    return len(module.lines) if inside or not heads or is_cut or _missing_groups(heads, top) else None


def _is_closed(last: str) -> bool:
    """Whether a last line without a line break looks whole."""
    return (
        last.rstrip().endswith((")", "}"))
        and last.count("(") == last.count(")")
        and last.count("{") == last.count("}")
    )


_GROUP_USE = re.compile(r" #(\d+)(?= |\Z)")
_GROUP_DEFINITION = re.compile(r"attributes #(\d+) = \{.*\}\s*\Z")


def _missing_groups(heads: Sequence[str], top: Sequence[tuple[int, str, str]]) -> bool:
    """Attribute groups that are used and not there: they stand after the functions, so the end is gone."""
    used: set[str] = set()
    for _, kind, text in top:
        if kind == "declare":
            used.update(_GROUP_USE.findall(text.partition(" !")[0]))
    for text in heads:
        used.update(_GROUP_USE.findall(text.partition(" !")[0]))
    defined = {
        found[1] for _, kind, text in top if kind == "attributes" and (found := _GROUP_DEFINITION.match(text))
    }
    return bool(used - defined)
