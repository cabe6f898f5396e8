"""The canonical form of MLIR text: equal code is equal text, and what was taken away is kept as digests."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from irdiff.api import Artifact, Canonical, Context
from irdiff_mlir import aliases, drift, forms, functions, reader, spelling
from irdiff_mlir.erased import Erased
from irdiff_mlir.forms import Form
from irdiff_mlir.functions import FUNCTIONS
from irdiff_mlir.model import Item, ItemKind, Module, Operation
from irdiff_mlir.names import Names
from irdiff_mlir.places import LOCATION_STRING, Places
from irdiff_mlir.spelling import DEFINE, USE, Erasures


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """The canonical form of an artifact. Raises ParseError where nothing can be read."""
    module = reader.read(artifact, context)
    return _Writer(module, context).write()


class _Template(msgspec.Struct, frozen=True, kw_only=True):
    """The text of all operations of one form, in one module."""

    text: str
    """With ``%s`` for every name of a value or block."""
    slots: tuple[str, ...] | None
    """For each name how it is treated; None where all are used or, if unknown, defined."""
    erased: Erasures
    movable: bool = False
    """Names stand in attribute dictionaries, which are sorted: the text is then that before the head alone."""


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
        self.renamed: list[str] = []
        self.values = self.blocks = 0
        self.depth = 0
        self.lines: list[str] = []
        self.places: list[int] = []
        self.functions: list[tuple[int, int]] = []
        self.private = (
            functions.private_names(module.operations) if context.normalizes("function-names") else {}
        )
        self.templates: dict[Form, _Template] = {}
        self.constants: dict[Form, str] = {}
        self.shown: dict[str, str] = {}
        """Names of aliases and functions to what is written for them, ``%`` doubled."""

    def write(self) -> Canonical:
        operations = self.module.operations
        begun: set[int] = set()
        if not self.inline:
            for alias in self.module.alias_definitions:
                self._put(f"{alias.name} = {self._spelled(alias.text)}", alias.line)
        items = self._ordered() if self.context.normalizes("constant-order") else self.module.items
        is_operation = ItemKind.OPERATION
        for item in items:
            kind = item.kind
            if kind is is_operation:
                self._operation(operations[item.operation])
            elif kind is ItemKind.REGION:
                self._region(operations[item.operation], item.text, item.line, begun)
            elif kind is ItemKind.LABEL:
                self._put(self._text(item.text), item.line)
            elif kind is ItemKind.END:
                self._end(operations[item.operation], item.text, item.line)
            else:
                self._put(item.text, item.line)
        self._erase()
        self._append_locations()
        return Canonical.of(self.lines, places=self.places, erased=self.erased.digests())

    def _ordered(self) -> list[Item]:
        """The items, constants that stand side by side sorted by their text."""
        operations, is_operation = self.module.operations, ItemKind.OPERATION
        found: list[Item] = []
        run: list[tuple[str, Item]] = []
        for item in self.module.items:
            operation = operations[item.operation] if item.kind is is_operation else None
            if operation is not None and operation.name == "arith.constant" and not operation.regions:
                run.append((self._constant(operation.form), item))
                continue
            if run:
                found += self._sorted_run(run)
                run = []
            found.append(item)
        return found + self._sorted_run(run)

    def _constant(self, form: Form) -> str:
        text = self.constants.get(form)
        if text is None:
            text = self.constants[form] = self._spelled(aliases.inline(form.text, self.aliases))
        return text

    def _sorted_run(self, run: list[tuple[str, Item]]) -> list[Item]:
        keys = [key for key, _ in run]
        ranked = sorted(range(len(keys)), key=keys.__getitem__)
        if ranked != list(range(len(run))):
            self.erased.add("constant-order", " ".join(map(str, ranked)))
        return [run[at][1] for at in ranked]

    def _put(self, text: str, line: int) -> None:
        self.lines.append("  " * self.depth + text)
        self.places.append(line)

    def _operation(self, operation: Operation) -> None:
        form = operation.form
        if operation.regions and form.name in FUNCTIONS:
            self.functions.append((self.values, self.blocks))
            self.values = self.blocks = 0
        results = self._results(operation) if operation.results else ""
        if operation.regions:
            self.names.enter()  # the arguments in its head are names of its first region
        template = self.templates.get(form)
        if template is None:
            template = self.templates[form] = self._template(form)
        for name, texts in template.erased:
            self.erased.add(name, *texts)
        if template.movable:
            shown = self._text(drift.head(form.written, operation.head) if self.fold else operation.head)
            self._put(f"{results}{template.text}{shown}", operation.line)
        else:
            self._put(results + self._filled(template, operation.values), operation.line)

    def _filled(self, template: _Template, values: Sequence[str]) -> str:
        """The template with what the names of one operation mean."""
        if not values and template.slots is None:
            return template.text % ()
        if template.slots is None:
            if not self.rename:
                return template.text % tuple(values)
            find, define = self.names.find, self._define
            return template.text % tuple([find(name) or define(name) for name in values])
        following = iter(values)
        words = [
            self._meaning(slot, next(following)) if slot in (USE, DEFINE) else self._block(slot)
            for slot in template.slots
        ]
        return template.text % tuple(words)

    def _meaning(self, slot: str, name: str) -> str:
        if not self.rename:
            return name
        return self._define(name) if slot == DEFINE else self.names.find(name) or self._define(name)

    def _block(self, name: str) -> str:
        return (self.names.find_own(name) or self._define(name)) if self.rename else name

    def _template(self, form: Form) -> _Template:
        begun = spelling.begun(form, self.fold)
        if begun.movable:
            return _Template(text=begun.shown, slots=None, erased=begun.erased, movable=True)
        text, slots, more, _ = self._cut(begun.head)
        shown = begun.shown.replace("%", "%%") if "%" in begun.shown else begun.shown
        return _Template(text=shown + text, slots=slots, erased=begun.erased + more)

    def _cut(self, text: str) -> tuple[str, tuple[str, ...] | None, Erasures, tuple[str, ...]]:
        """A text in its canonical spelling with ``%s`` for names, how to treat each, what is erased, the names."""
        if not text:
            return "", None, (), ()
        found = spelling.spelled(text, self.fold, self.sort)
        if not found.references:
            return found.pieces[0], found.slots, found.erased, found.names
        shown = self.shown
        for word in found.references:
            if word not in shown:
                shown[word] = self._reference(word).replace("%", "%%")
        text = forms.joined(found.pieces, [shown[word] for word in found.references])
        erased = found.erased
        if self.private and (renamed := tuple(filter(self._is_renamed, found.references))):
            erased = (*erased, ("function-names", renamed))
        return text, found.slots, erased, found.names

    def _is_renamed(self, word: str) -> bool:
        return word[0] == "@" and word != self._reference(word)

    def _results(self, operation: Operation) -> str:
        if len(operation.results) == 1 and operation.form.results[0] == 1:
            return f"{self._define(operation.results[0])} = "
        named = [
            self._define(name) + (f":{count}" if count > 1 else "")
            for name, count in zip(operation.results, operation.form.results, strict=True)
        ]
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
        self.renamed.append(name)
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
        spelled, slots, erased, names = self._cut(text)
        for name, texts in erased:
            self.erased.add(name, *texts)
        return self._filled(_Template(text=spelled, slots=slots, erased=()), names)

    def _reference(self, word: str) -> str:
        """An alias's content, ``@f0`` for a private function of the file, or the word as it is."""
        if word[0] != "@":
            return self.aliases.get(word, word) if self.inline else word
        return self.private.get(word[1:].strip('"'), word)

    def _spelled(self, text: str) -> str:
        if not self.fold:
            return text
        folded, erased = spelling.fold(text)
        if erased:
            self.erased.add("dialect-renames", *erased)
        return folded

    def _erase(self) -> None:
        """Digests of what the reader took out of the text."""
        module, erased = self.module, self.erased
        if self.renamed:
            erased.add("ssa-names", *self.renamed)
        for alias in module.alias_definitions:
            erased.add("attribute-aliases", f"{alias.ordinal} {alias.after}", alias.name, alias.text)
        places = Places()
        for definition in module.location_definitions:
            places.lines.append(f"{definition.ordinal} {definition.name}")
            places.add(definition.text)
        for location in module.locations:
            places.lines.append(str(location.ordinal))
            for text in location.inner:
                places.add(text)
            if '"' in location.trailing:
                places.add(location.trailing)
            else:
                places.lines.append(location.trailing)
        for name, texts in (
            ("source-lines", places.lines),
            ("source-paths", places.paths),
            ("argument-locations", places.names),
        ):
            if texts:
                erased.add(name, *texts)
        erased.add("comments", *(f"{ordinal} {text}" for ordinal, text in module.comments))
        erased.add("whitespace", *module.spaces)

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
    for match in LOCATION_STRING.finditer(text):
        if match[2]:
            found += [f'"{match[1]}"'] if paths else []
            found += [match[2].lstrip(":")] if numbers else []
        elif names:
            found.append(f'"{match[1]}"')
    return found
