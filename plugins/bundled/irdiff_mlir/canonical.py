"""The canonical form of MLIR text: equal code is equal text, and what was taken away is kept as digests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irdiff.api import Artifact, Canonical, Context
from irdiff_mlir import aliases, attributes, drift, functions, reader
from irdiff_mlir.erased import Erased
from irdiff_mlir.functions import FUNCTIONS
from irdiff_mlir.model import Item, ItemKind, Module, Operation
from irdiff_mlir.names import Names

_TOKEN = re.compile(
    r'@?"[^"\\]*(?:\\.[^"\\]*)*"?|@[\w$.-]+|%[\w$.-]+|\^[\w$.-]+|(?<![\w.])[#!][A-Za-z_][\w$-]*(?![\w.<])'
)
_LOCATION_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(:\d+:\d+)?')
_PRINTED = {registered: printed for printed, registered in drift.BARE.items()}


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """The canonical form of an artifact. Raises ParseError where nothing can be read."""
    module = reader.read(artifact, context)
    return _Writer(module, context).write()


class _Writer:
    """One pass over the items of a module."""

    def __init__(self, module: Module, context: Context) -> None:
        self.module = module
        self.rename = context.normalizes("ssa-names")
        self.inline = context.normalizes("attribute-aliases")
        self.sort = context.normalizes("attribute-order")
        self.fold = module.old_names and context.normalizes("dialect-renames")
        self.aliases = (
            module.aliases
            if self.fold == module.old_names
            else aliases.resolve(module.alias_definitions, fold=False)
        )
        self.context = context
        self.erased = Erased(context.normalizes)
        self.names: Names[str] = Names()
        self.values = self.blocks = 0
        self.depth = 0
        self.lines: list[str] = []
        self.places: list[int] = []
        self.functions: list[tuple[int, int]] = []
        self.private = (
            functions.private_names(module.operations) if context.normalizes("function-names") else {}
        )
        self.sorted_texts: dict[str, tuple[str, str]] = {}

    def write(self) -> Canonical:
        operations = self.module.operations
        begun: set[int] = set()
        if not self.inline:
            for alias in self.module.alias_definitions:
                self._put(f"{alias.name} = {self._spelled(alias.text)}", alias.line)
        for item in self._ordered():
            if item.kind is ItemKind.OPERATION:
                self._operation(operations[item.operation])
            elif item.kind is ItemKind.REGION:
                self._region(operations[item.operation], item.text, item.line, begun)
            elif item.kind is ItemKind.LABEL:
                self._put(self._text(item.text), item.line)
            elif item.kind is ItemKind.END:
                self._end(operations[item.operation], item.text, item.line)
            else:
                self._put(item.text, item.line)
        self._erase()
        self._append_locations()
        return Canonical.of(self.lines, places=self.places, erased=self.erased.digests())

    def _ordered(self) -> Iterator[Item]:
        """The items, constants that stand side by side sorted by their text."""
        if not self.context.normalizes("constant-order"):
            yield from self.module.items
            return
        run: list[tuple[str, Item]] = []
        for item in self.module.items:
            operation = self.module.operations[item.operation] if item.kind is ItemKind.OPERATION else None
            if operation is not None and operation.name == "arith.constant" and not operation.regions:
                run.append((self._spelled(aliases.inline(operation.head, self.aliases)), item))
                continue
            yield from self._sorted_run(run)
            run = []
            yield item
        yield from self._sorted_run(run)

    def _sorted_run(self, run: list[tuple[str, Item]]) -> Iterator[Item]:
        ranked = sorted(range(len(run)), key=lambda at: run[at][0])
        if ranked != list(range(len(run))):
            self.erased.add("constant-order", " ".join(map(str, ranked)))
        return (run[at][1] for at in ranked)

    def _put(self, text: str, line: int) -> None:
        self.lines.append("  " * self.depth + text)
        self.places.append(line)

    def _operation(self, operation: Operation) -> None:
        if operation.regions and operation.name in FUNCTIONS:
            self.functions.append((self.values, self.blocks))
            self.values = self.blocks = 0
        results = self._results(operation)
        if operation.regions:
            self.names.enter()  # the arguments in its head are names of its first region
        self._put(f"{results}{self._head(operation)}", operation.line)

    def _head(self, operation: Operation) -> str:
        name = operation.name if self.fold else operation.written
        if name != operation.written:
            self.erased.add("dialect-renames", operation.written)
        shown = f'"{name}"' if operation.generic else _PRINTED.get(name, name)
        head = operation.head
        if self.fold:
            folded = drift.head(operation.written, head)
            if folded != head:
                self.erased.add("dialect-renames", operation.written, *drift.old_spellings(head))
                head = folded
        head = self._text(head)
        joined = "" if not head or head[0] == "(" else " "
        return f"{shown}{joined}{head}"

    def _results(self, operation: Operation) -> str:
        if not operation.results:
            return ""
        named = [self._define(name) + (f":{count}" if count > 1 else "") for name, count in operation.results]
        return f"{', '.join(named)} = "

    def _region(self, operation: Operation, text: str, line: int, begun: set[int]) -> None:
        if operation.index in begun:
            self.names.leave()
            self.names.enter()
            self.depth -= 1
            between = self._text(text)
            self._put(f"}}{'' if between.startswith(',') else ' '}{between} {{", line)
        else:
            begun.add(operation.index)
            self.lines[-1] += "{" if self.lines[-1].endswith("(") else " {"
        self.depth += 1

    def _end(self, operation: Operation, text: str, line: int) -> None:
        self.names.leave()
        self.depth -= 1
        tail = self._text(text)
        self._put(f"}}{'' if tail.startswith(')') or not tail else ' '}{tail}", line)
        if operation.name in FUNCTIONS and self.functions:
            self.values, self.blocks = self.functions.pop()

    def _define(self, name: str) -> str:
        if not self.rename:
            return name
        self.erased.add("ssa-names", name)
        if name[0] == "%":
            meaning = f"%{self.values}"
            self.values += 1
        else:
            meaning = f"^b{self.blocks}"
            self.blocks += 1
        self.names.define(name, meaning)
        return meaning

    def _text(self, text: str) -> str:
        """A piece of text with names renamed, aliases replaced, old spellings folded, dictionaries sorted."""
        if not text:
            return text
        if self.fold:
            text = self._folded(text)
        if self.sort and "{" in text and ", " in text:
            text = self._sorted(text)

        def token(match: re.Match[str]) -> str:
            word = match[0]
            first = word[0]
            if first == "%":
                if not self.rename:
                    return word
                end = match.end()
                if text.startswith(": ", end) or text.startswith(" = ", end):
                    return self._define(word)
                return self.names.find(word) or self._define(word)
            if first == "^":
                return (self.names.find_own(word) or self._define(word)) if self.rename else word
            return self._reference(word)

        return _TOKEN.sub(token, text)

    def _reference(self, word: str) -> str:
        """An alias's content, ``@f0`` for a private function of the file, or the word as it is."""
        if word[0] != "@":
            return self.aliases.get(word, word) if self.inline and word[0] != '"' else word
        renamed = self.private.get(word[1:].strip('"'))
        if renamed is None:
            return word
        self.erased.add("function-names", word)
        return renamed

    def _folded(self, text: str) -> str:
        folded = drift.text(text)
        for default in drift.RELEASE_DEFAULTS:
            folded = folded.replace(f", {default}", "").replace(f"{default}, ", "")
        if folded != text:
            self.erased.add("dialect-renames", *drift.old_spellings(text))
        return folded

    def _spelled(self, text: str) -> str:
        return self._folded(text) if self.fold else text

    def _sorted(self, text: str) -> str:
        found = self.sorted_texts.get(text)
        if found is None:
            found = self.sorted_texts[text] = attributes.in_order(text)
        if found[1]:
            self.erased.add("attribute-order", found[1])
        return found[0]

    def _erase(self) -> None:
        """Digests of what the reader took out of the text."""
        module, erased = self.module, self.erased
        for alias in module.alias_definitions:
            erased.add("attribute-aliases", f"{alias.ordinal} {alias.after}", alias.name, alias.text)
        for definition in module.location_definitions:
            erased.add("source-lines", f"{definition.ordinal} {definition.name}")
            self._erase_location(definition.text)
        for location in module.locations:
            erased.add("source-lines", str(location.ordinal))
            for text in (*location.inner, location.trailing):
                self._erase_location(text)
        erased.add("comments", *(f"{ordinal} {text}" for ordinal, text in module.comments))
        erased.add("whitespace", *module.spaces)

    def _erase_location(self, text: str) -> None:
        if '"' not in text:
            self.erased.add("source-lines", text)
            return

        def string(match: re.Match[str]) -> str:
            self.erased.add("source-paths" if match[2] else "argument-locations", match[1])
            return f'""{match[2] or ""}'

        self.erased.add("source-lines", _LOCATION_STRING.sub(string, text))

    def _append_locations(self) -> None:
        """Put back what ``--no-normalize`` keeps: comments, white space and parts of locations."""
        paths = not self.context.normalizes("source-paths")
        numbers = not self.context.normalizes("source-lines")
        names = not self.context.normalizes("argument-locations")
        if paths or numbers or names:
            definitions = {entry.name: entry.text for entry in self.module.location_definitions}
            by_line = {place.line: (*place.inner, place.trailing) for place in self.module.locations}
            for index, line in enumerate(self.places):
                parts = [
                    part
                    for text in by_line.get(line, ())
                    for part in _parts(definitions.get(text, text), paths=paths, numbers=numbers, names=names)
                ]
                if parts:
                    self.lines[index] += f" loc({' '.join(parts)})"
        if not self.context.normalizes("comments"):
            self.lines.extend(text for _, text in self.module.comments)
            self.places.extend(0 for _ in self.module.comments)
        if not self.context.normalizes("whitespace"):
            self.lines.extend(f"// spaces {text!r}" for text in self.module.spaces)
            self.places.extend(0 for _ in self.module.spaces)


def _parts(text: str, *, paths: bool, numbers: bool, names: bool) -> list[str]:
    """The parts of one location that are kept."""
    found: list[str] = []
    for match in _LOCATION_STRING.finditer(text):
        if match[2]:
            found += [f'"{match[1]}"'] if paths else []
            found += [match[2].lstrip(":")] if numbers else []
        elif names:
            found.append(f'"{match[1]}"')
    return found
