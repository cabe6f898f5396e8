"""The canonical form of PTX: code that means the same is the same text.

Invariant: each rule is either a bijection of names inside one function, or drops text that ptxas turns
into no instruction, or folds two spellings that the PTX ISA defines as equal.
"""

from __future__ import annotations

import re

from irdiff.api import Artifact, Canonical, Context
from irdiff_ptx.declarations import Parameter, parse_head, shortest_sizes
from irdiff_ptx.erased import Erased, debug_text
from irdiff_ptx.facts import listing_of
from irdiff_ptx.names import NAME, FunctionNames, is_debug_label
from irdiff_ptx.reader import Item

_SHARED_CTA = re.compile(r"\.shared::cta(?=\.|\Z)")
_LITERAL = frozenset({".pragma", ".global", ".const", ".target", ".address_size", ".version", ".alias"})
"""Directives whose text holds no register, label or parameter."""


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """Equal code as equal text, with the line each line comes from. Raises ParseError where it is no PTX."""
    listing = listing_of(artifact, context)
    writer = _Writer(listing.items, context)
    writer.write_all()
    erased = writer.erased
    for line, name, text in debug_text(listing):
        if context.normalizes(name):
            erased.add(name, text)
        elif name in ("source-paths", "source-lines") or (name == "spacing" and not text.strip()):
            writer.keep(line, text.strip())
    if not context.normalizes("comments"):
        for number, content in enumerate(listing.lines, 1):
            _, mark, comment = content.partition("//")
            if mark:
                writer.keep(number, f"//{comment.rstrip()}")
    lines, places = writer.in_order()
    return Canonical.of(lines, places=places, erased=erased.digests())


class _Writer:
    """Writes items one after the other, keeping the names of the function it is in."""

    def __init__(self, items: tuple[Item, ...], context: Context) -> None:
        self.items = items
        self.on = context.normalizes
        self.erased = Erased()
        self.written: list[tuple[int, str]] = []
        self.names = FunctionNames(items, 0)
        self.depth = 0
        self._kept = False

    def keep(self, line: int, text: str) -> None:
        """A line that a switched-off normalisation would have dropped; it goes where it stood."""
        self.written.append((line, text))
        self._kept = True

    def in_order(self) -> tuple[list[str], list[int]]:
        """Lines and places, by place where something was kept."""
        if self._kept:
            self.written.sort(key=lambda pair: pair[0])
        return [text for _, text in self.written], [line for line, _ in self.written]

    def write_all(self) -> None:
        """Every item of the file."""
        put = self.written.append
        for index, item in enumerate(self.items):
            line, guard, opcode, operands = item
            mark = opcode[0]
            if mark.isalpha():
                put((line, self._instruction(guard, opcode, operands)))
            elif mark == ".":
                self._directive(index, item)
            elif mark == ":":
                self._label(line, operands or "")
            elif mark == "{":
                self.depth += 1
                if self.depth > 1:
                    self.names.enter(index)
                put((line, "{"))
            elif mark == "}":
                self.depth -= 1
                if self.depth > 0:
                    self.names.leave()
                put((line, "}"))
            else:
                put((line, operands or ""))
        if self.on("register-names"):
            self.erased.add("register-names", *self.names.register_order)

    def _instruction(self, guard: str | None, opcode: str, operands: str | None) -> str:
        if "::cta" in opcode and self.on("state-space-spelling"):
            folded = _SHARED_CTA.sub(".shared", opcode)
            self.erased.add("state-space-spelling", f"{len(self.written)} {opcode}")
            opcode = folded
        if operands and self.on("spacing"):
            operands = "".join(operands.split()).replace(",", ", ")
        text = f"{opcode} {self._renamed(operands)};" if operands else f"{opcode};"
        return f"{self._renamed(guard.strip())} {text}" if guard else text

    def _renamed(self, text: str) -> str:
        return NAME.sub(self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        name = match.group()
        kind, new = self.names.resolve(name)
        if kind is None or not self.on(kind):
            return name
        return new

    def _label(self, line: int, name: str) -> None:
        if not self.names.is_used(name):
            rule = "source-lines" if is_debug_label(name) else "labels"
            if self.on(rule):
                self.erased.add(rule, name)
            else:
                self.written.append((line, f"{name}:"))
            return
        if self.on("labels"):
            self.erased.add("labels", name)
            name = self.names.resolve(name)[1]
        self.written.append((line, f"{name}:"))

    def _directive(self, index: int, item: Item) -> None:
        line, _, word, text = item
        text = " ".join((text or "").split())
        if word == ".version" and self.on("ptx-version"):
            self.erased.add("ptx-version", text)
        elif word == ".reg":
            self.names.declare(text)
            if self.on("register-names"):
                self.erased.add("register-names", text)
            else:
                self.written.append((line, text))
        elif word in (".entry", ".func"):
            self._head(index, item, text)
        else:
            self.written.append((line, text if word in _LITERAL else self._renamed(text)))

    def _head(self, index: int, item: Item, text: str) -> None:
        head = parse_head(text)
        has_body = index + 1 < len(self.items) and self.items[index + 1][2] == "{"
        if has_body:
            if self.on("register-names"):
                self.erased.add("register-names", *self.names.register_order)
            self.names = FunctionNames(self.items, index + 1)
        if head is None:
            self.written.append((item[0], text))
            return
        line = item[0]
        self.written.append((line, f"{head.linking} .{head.kind} {head.name}".strip()))
        self._parameters(line, "returns", head.returns, has_body=has_body)
        self._parameters(line, "param", head.parameters, has_body=has_body)
        for name, value in head.bounds:
            sizes = value
            if name in ("reqntid", "maxntid") and self.on("reqntid-spelling"):
                self.erased.add("reqntid-spelling", value)
                sizes = shortest_sizes(value)
            self.written.append((line, f".{name} {sizes}".strip()))
        if not has_body:
            self.written.append((line, ";"))

    def _parameters(self, line: int, role: str, parameters: tuple[Parameter, ...], *, has_body: bool) -> None:
        for position, parameter in enumerate(parameters):
            name = f"%{role}{position}"
            if has_body:
                self.names.parameters[parameter.name] = name
            if self.on("parameter-names"):
                self.erased.add("parameter-names", parameter.name)
            else:
                name = parameter.name
            self.written.append((line, f".{role} {parameter.text} {name}"))
