"""The line of Python that a line of LLVM IR comes from, by its ``!dbg`` attachment.

Nodes as LLVM prints them ("LLVM Language Reference", "Specialized Metadata Nodes"): DILocation, the scopes
above it, DIFile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from irdiff_llir.reader import Item, Module

_ATTACHED = re.compile(r", !dbg !(\d{1,9})\b")
_DEBUG = ", !dbg !"
_DIGITS = 9
_NODE = re.compile(
    r"!(\d{1,9}) = (?:distinct )?!(DILocation|DISubprogram|DILexicalBlock|DILexicalBlockFile|DIFile)\((.*)\)"
)
_FIELD = re.compile(r'(line|scope|inlinedAt|file|filename|directory): (?:!?(\d{1,9})|"([^"]*)")')
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""
_MAX_STEPS = 32

Nodes = dict[str, tuple[str, dict[str, str]]]


def source_lines(module: Module) -> dict[int, str]:
    """Line of LLVM IR to ``path:line``. Of an inlined function of Triton's library, the line that calls it."""
    nodes: Nodes = {}
    for _, kind, text in module.top:
        if kind == "!" and (match := _NODE.match(text)) is not None:
            nodes[match[1]] = (
                match[2],
                {key: number or word for key, number, word in _FIELD.findall(match[3])},
            )
    known: dict[str, str | None] = {}
    return dict(_attached(module.items, nodes, known)) if nodes else {}


def _attached(items: Iterable[Item], nodes: Nodes, known: dict[str, str | None]) -> Iterable[tuple[int, str]]:
    for line, _, opcode, operands in items:
        place = operands.find(_DEBUG)
        if place < 0 or opcode == "{":
            continue
        number = operands[place + len(_DEBUG) :]
        if not number.isdecimal() or len(number) > _DIGITS:  # nearly always it is the last that is attached
            match = _ATTACHED.search(operands)
            if match is None:
                continue
            number = match[1]
        if number not in known:
            known[number] = _place(number, nodes)
        where = known[number]
        if where is not None:
            yield line, where


def _place(number: str, nodes: Nodes) -> str | None:
    """The first location, in order of calls, that is not in Triton's library; else the first."""
    first: str | None = None
    for _ in range(_MAX_STEPS):
        kind, fields = nodes.get(number, ("", {}))
        if kind != "DILocation":
            break
        path, line = _file(fields.get("scope", ""), nodes), fields.get("line", "0")
        if path is not None and line != "0":
            if not _LIBRARY.search(path):
                return f"{path}:{line}"
            first = first or f"{path}:{line}"
        number = fields.get("inlinedAt", "")
    return first


def _file(number: str, nodes: Nodes) -> str | None:
    """The path of a scope."""
    for _ in range(_MAX_STEPS):
        kind, fields = nodes.get(number, ("", {}))
        if kind == "DIFile":
            folder, name = fields.get("directory", ""), fields.get("filename", "")
            return f"{folder}/{name}" if folder and not name.startswith("/") else name or None
        number = fields.get("file") or fields.get("scope") or ""
    return None
