"""Metadata nodes of an LLVM IR file: which describe debugging, which mean something, and a stable numbering."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irdiff_llir.reader import Module

_NODE = re.compile(r"!(\d+) = (.*)\Z")
_NAMED = re.compile(r"!([A-Za-z][-\w.$]*) = !\{(.*)\}\s*\Z")
_REFERENCE = re.compile(r"!(\d+)\b|\"[^\"]*\"")
_DEBUG = re.compile(r"(?:distinct )?!(?:DI|GenericDI)[A-Za-z]*\(")
_FILE = re.compile(r"(?:distinct )?!DIFile\(")
_DEBUG_FLAG = re.compile(r".*!\"(?:Debug Info Version|Dwarf Version|DWARF64)\"")
_ATTACHMENT = re.compile(r"([A-Za-z][\w.]*) (![\d]+|!\{\}|![A-Za-z]+\([^()]*\))\s*\Z")
_MOST_ATTACHMENTS = 16


def split_attachments(text: str) -> tuple[str, list[tuple[str, str]]]:
    """An instruction without what is attached to it, and the attachments: (``llvm.loop``, ``!7``)."""
    found: list[tuple[str, str]] = []
    while len(found) < _MOST_ATTACHMENTS:
        before, mark, last = text.rpartition(", !")
        match = _ATTACHMENT.match(last) if mark else None
        if match is None:
            break
        found.append((match[1], match[2]))
        text = before
    found.reverse()
    return text, found


class Metadata:
    """The nodes of one file; numbers them in the order in which code and named lists reach them."""

    def __init__(self, module: Module) -> None:
        self.nodes: dict[str, tuple[int, str]] = {}
        self.named: list[tuple[int, str, str]] = []
        for line, kind, text in module.top:
            if kind != "!":
                continue
            if (node := _NODE.match(text)) is not None:
                self.nodes[node[1]] = (line, node[2])
            elif (named := _NAMED.match(text)) is not None:
                self.named.append((line, named[1], named[2]))
            else:
                self.named.append((line, "?", text))
        self.order: dict[str, int] = {}

    def is_debug(self, number: str) -> bool:
        """Whether the node describes source locations, types or scopes."""
        return _DEBUG.match(self.nodes.get(number, (0, ""))[1]) is not None

    def debug_nodes(self) -> Iterator[tuple[int, str, str]]:
        """(line, rule, text) of the nodes that only debugging needs."""
        for number, (line, text) in self.nodes.items():
            if _FILE.match(text):
                yield line, "source-paths", f"!{number} = {text}"
            elif _DEBUG.match(text) or _DEBUG_FLAG.match(text):
                yield line, "source-lines", f"!{number} = {text}"

    def flags(self, references: str) -> Iterator[tuple[int, str]]:
        """The module flags that are not about debug information."""
        for number in _REFERENCE.findall(references):
            line, text = self.nodes.get(number, (0, f"!{number}"))
            if not _DEBUG_FLAG.match(text):
                yield line, text

    def number(self, reference: str) -> str:
        """The canonical name of a node such as ``!7``."""
        number = reference[1:]
        if number not in self.nodes:
            return reference
        return f"!m{self.order.setdefault(number, len(self.order))}"

    def rename(self, text: str) -> str:
        """The text with canonical node names, and without references to debug nodes."""
        return _REFERENCE.sub(self._replacement, text)

    def _replacement(self, found: re.Match[str]) -> str:
        if found[1] is None:
            return found.group()
        return "!debug" if self.is_debug(found[1]) else self.number(f"!{found[1]}")

    def reached(self) -> Iterator[tuple[int, str]]:
        """(line, text) of every node that was named so far, and of those that they name."""
        done = 0
        while done < len(self.order):
            for number in list(self.order)[done:]:
                line, text = self.nodes[number]
                yield line, f"!m{self.order[number]} = {self.rename(text)}"
                done += 1
