"""The canonical form of PTX: code that means the same is the same text.

Invariant: each rule is either a bijection of names inside one function, or drops text that ptxas turns
into no instruction, or folds two spellings that the PTX ISA defines as equal.
"""

from __future__ import annotations

import re
from itertools import chain

from irdiff.api import Artifact, Canonical, Context
from irdiff_ptx.declarations import Parameter, parse_head, shortest_sizes
from irdiff_ptx.erased import ASSERTED, Erased, debug_text, layout_text
from irdiff_ptx.facts import listing_of
from irdiff_ptx.items import Item, having
from irdiff_ptx.names import NAME, FunctionNames
from irdiff_ptx.reader import Listing
from irdiff_ptx.shapes import GUARDED, MARKS, REFERS, is_debug_label

_SHARED_CTA = re.compile(r"\.shared::cta(?=\.|\Z)")
_BLANK = re.compile(r"[^\S\n]+")
_LITERAL = frozenset({".pragma", ".global", ".const", ".target", ".address_size", ".version", ".alias"})
"""Directives whose text holds no register, label or parameter."""


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """Equal code as equal text, with the line each line comes from. Raises ParseError where it is no PTX."""
    listing = listing_of(artifact, context)
    writer = _Writer(listing, context)
    writer.write_all()
    _without_debug(listing, writer)
    _without_layout(listing, writer)
    lines, places = writer.in_order()
    return Canonical.of(lines, places=places, erased=writer.erased.digests())


def _without_debug(listing: Listing, writer: _Writer) -> None:
    """What line information says, taken away or kept."""
    dropped: dict[str, list[str]] = {name: [] for name in ("source-paths", "source-lines") if writer.on(name)}
    for line, name, text in debug_text(listing):
        if name in dropped:
            dropped[name].append(text)
        else:
            writer.keep(line, text.strip())
    for name, texts in dropped.items():
        if texts:
            writer.erased.add(name, *texts)


def _without_layout(listing: Listing, writer: _Writer) -> None:
    """Comments and spacing, taken away or kept."""
    comments, numbers, spaced = layout_text(listing)
    if comments and writer.on("comments"):
        writer.erased.add("comments", *comments)
    if spaced and writer.on("spacing"):
        writer.erased.add("spacing", *spaced)
    elif spaced:
        for line in [line for line, text in zip(numbers, spaced, strict=True) if not text.strip()]:
            writer.keep(line, "")
    if not writer.on("comments"):
        for number, content in enumerate(listing.lines, 1):
            _, mark, comment = content.partition("//")
            if mark:
                writer.keep(number, f"//{comment.rstrip()}")


class _Writer:
    """Writes items one after the other, keeping the names of the function it is in."""

    def __init__(self, listing: Listing, context: Context) -> None:
        self.items = items = listing.items
        self.marks = listing.marks
        self.places = items.where(MARKS | REFERS)
        self.on = context.normalizes
        self.renames = [rule for rule in ("register-names", "labels", "parameter-names") if self.on(rule)]
        self.erased = Erased()
        self.written: list[tuple[int, str]] = []
        self.names = FunctionNames(items, self.places, 0)
        self.known: dict[str, str] = {}
        """Names met since the last brace, head or declaration, and what each is called."""
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
        done = 0
        for index in self.marks:
            self._instructions(slice(done, index))
            self._mark(index)
            done = index + 1
        self._instructions(slice(done, len(self.items)))
        if self.on("register-names"):
            self.erased.add("register-names", *self.names.register_order)

    def _mark(self, index: int) -> None:
        """An item that is no instruction."""
        item = self.items[index]
        line, _, opcode, operands = item
        mark = opcode[0]
        if mark == ".":
            self._directive(index, item)
        elif mark == ":":
            self._label(line, operands)
        elif mark == "{":
            self.depth += 1
            if self.depth > 1:
                self.names.enter(index)
                self.known = {}
            self.written.append((line, "{"))
        elif mark == "}":
            self.depth -= 1
            if self.depth > 0:
                self.names.leave()
                self.known = {}
            self.written.append((line, "}"))
        else:
            self.written.append((line, operands))

    def _instructions(self, part: slice) -> None:
        """Instructions that follow one another: no name changes its meaning among them, so all are renamed at once."""
        items = self.items
        lines, opcodes = items.numbers[part], items.opcodes[part]
        if not lines:
            return
        first = len(self.written)
        operands = items.operands(part)
        is_guarded = any(items.flags[part].translate(having(GUARDED)))
        guards = [guard.strip() for guard in items.guards(part)] if is_guarded else []
        given = "\n".join(chain.from_iterable(zip(operands, guards, strict=True)) if is_guarded else operands)
        if self.on("spacing"):
            given = given.replace(" ", "")
            if not given.replace("\n", "").isprintable():  # other blanks are rare: a search is slow
                given = _BLANK.sub("", given)
            given = given.replace(",", ", ")
        texts = self._renamed(given).split("\n")
        spelled = {opcode: self._opcode(opcode) for opcode in set(opcodes)}
        if is_guarded:
            for line, opcode, text, guard in zip(lines, opcodes, texts[::2], texts[1::2], strict=True):
                code = f"{spelled[opcode]} {text};" if text else f"{spelled[opcode]};"
                self.written.append((line, f"{guard} {code}" if guard else code))
        else:
            self.written += [
                (line, f"{spelled[opcode]} {text};" if text else f"{spelled[opcode]};")
                for line, opcode, text in zip(lines, opcodes, texts, strict=True)
            ]
        if any("::cta" in opcode for opcode in spelled) and self.on("state-space-spelling"):
            said = [f"{place} {opcode}" for place, opcode in enumerate(opcodes, first) if "::cta" in opcode]
            self.erased.add("state-space-spelling", *said)

    def _opcode(self, opcode: str) -> str:
        folds = "::cta" in opcode and self.on("state-space-spelling")
        return _SHARED_CTA.sub(".shared", opcode) if folds else opcode

    def _renamed(self, text: str) -> str:
        """The text, of any number of lines, with its names replaced."""
        parts = NAME.split(text)
        names = parts[1::2]
        known = self.known
        new = [name for name in dict.fromkeys(names) if name not in known]
        if new:
            known.update(self.names.resolve_all(new, self.renames))
        parts[1::2] = [known[name] for name in names]
        return "".join(parts)

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
        text = " ".join(text.split())
        if word == ".version" and self.on("ptx-version"):
            self.erased.add("ptx-version", text)
        elif word == ".reg":
            self.names.declare(text)
            self.known = {}
            if self.on("register-names"):
                self.erased.add("register-names", text)
            else:
                self.written.append((line, text))
        elif word in (".entry", ".func"):
            self._head(index, item, text)
        elif word == ".global" and "assertFile_" in text and self.on("source-paths"):
            self.erased.add("source-paths", *(path for _, path in ASSERTED.findall(text)))
            self.written.append((line, ASSERTED.sub(r"\1", text)))
        else:
            self.written.append((line, text if word in _LITERAL else self._renamed(text)))

    def _head(self, index: int, item: Item, text: str) -> None:
        head = parse_head(text)
        has_body = index + 1 < len(self.items) and self.items.opcodes[index + 1] == "{"
        if has_body:
            if self.on("register-names"):
                self.erased.add("register-names", *self.names.register_order)
            self.names = FunctionNames(self.items, self.places, index + 1)
            self.known = {}
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
