"""The canonical form of MLIR text: equal code is equal text, and what was taken away is kept as digests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from irdiff.api import Artifact, Canonical, Context
from irdiff_mlir import aliases, drift, forms, functions, kept, reader, spelling
from irdiff_mlir.erased import Erased
from irdiff_mlir.forms import Form
from irdiff_mlir.functions import FUNCTIONS
from irdiff_mlir.model import Item, ItemKind, Module, Operation
from irdiff_mlir.names import Names
from irdiff_mlir.places import Places
from irdiff_mlir.spelling import DEFINE, USE, Erasures, Spelled, Template


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """The canonical form of an artifact. Raises ParseError where nothing can be read."""
    module = reader.read(artifact, context)
    return _Writer(module, context).write()


_ONE = (1,)
"""Results of an operation that has one."""


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
        self.indent = ""
        self.lines: list[str] = []
        self.places: list[int] = []
        self.functions: list[tuple[int, int]] = []
        self.private = (
            functions.private_names(module.operations) if context.normalizes("function-names") else {}
        )
        self.templates: dict[Form, Template] = {}
        self.constants: dict[Form, str] = {}
        self.shown: dict[str, str] = {}
        """Names of aliases and functions to what is written for them, ``%`` doubled."""

    def write(self) -> Canonical:  # noqa: C901  # a hot loop: a call for each operation costs a tenth
        operations = self.module.operations
        begun: set[int] = set()
        if not self.inline:
            for alias in self.module.alias_definitions:
                self._put(f"{alias.name} = {self._spelled(alias.text)}", alias.line)
        items = self._ordered() if self.context.normalizes("constant-order") else self.module.items
        is_operation, add_line, add_place = ItemKind.OPERATION, self.lines.append, self.places.append
        templates, results, find = self.templates, self._results, self.names.find
        define, rename = self._define, self.rename
        name_result, add_renamed = self.names.define, self.renamed.append
        for item in items:
            kind = item.kind
            if kind is is_operation:
                operation = operations[item.operation]
                template = templates.get(operation.form) or self._template(operation.form)
                if operation.regions or not (rename and template.plain):
                    self._operation(operation, template)
                    continue
                begun_with = ""
                if operation.form.results == _ONE:
                    meaning = f"%{self.values}"
                    self.values += 1
                    name_result(operation.results[0], meaning)
                    add_renamed(operation.results[0])
                    begun_with = meaning + " = "
                elif operation.results:
                    begun_with = results(operation)
                words = tuple([find(name) or define(name) for name in operation.values])
                add_line(self.indent + begun_with + template.text % words)
                add_place(item.line)
            elif kind is ItemKind.REGION:
                self._region(operations[item.operation], item.text, item.line, begun)
            elif kind is ItemKind.LABEL:
                self._put(self._text(item.text), item.line)
            elif kind is ItemKind.END:
                self._end(operations[item.operation], item.text, item.line)
            else:
                self._put(item.text, item.line)
        self._erase()
        kept.put_back(self.module, self.context.normalizes, self.lines, self.places)
        return Canonical.of(self.lines, places=self.places, erased=self.erased.digests())

    def _ordered(self) -> list[Item]:
        """The items, constants that stand side by side sorted by their text."""
        operations, is_operation = self.module.operations, ItemKind.OPERATION
        found = list(self.module.items)
        constants = [
            at
            for at, item in enumerate(found)
            if item.kind is is_operation
            and operations[item.operation].name == "arith.constant"
            and not operations[item.operation].regions
        ]
        run: list[tuple[str, Item]] = []
        for at, following in zip_longest(constants, constants[1:]):
            run.append((self._constant(operations[found[at].operation].form), found[at]))
            if following != at + 1:
                found[at + 1 - len(run) : at + 1] = self._sorted_run(run)
                run = []
        return found

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
        self.lines.append(self.indent + text)
        self.places.append(line)

    def _operation(self, operation: Operation, template: Template) -> None:
        form = operation.form
        if operation.regions and form.name in FUNCTIONS:
            self.functions.append((self.values, self.blocks))
            self.values = self.blocks = 0
        results = self._results(operation) if operation.results else ""
        if operation.regions:
            self.names.enter()  # the arguments in its head are names of its first region
        for name, texts in template.erased:
            self.erased.add(name, *texts)
        if template.movable:
            shown = self._text(drift.head(form.written, operation.head) if self.fold else operation.head)
            self._put(f"{results}{template.text}{shown}", operation.line)
        else:
            self._put(results + self._filled(template.text, template.slots, operation.values), operation.line)

    def _filled(self, text: str, slots: tuple[str, ...] | None, values: Sequence[str]) -> str:
        """The text of a template with what the names of one operation mean."""
        if slots is None:
            if not self.rename:
                return text % tuple(values)
            find, define = self.names.find, self._define
            return text % tuple([find(name) or define(name) for name in values])
        following = iter(values)
        words = [
            self._meaning(slot, next(following)) if slot in (USE, DEFINE) else self._block(slot)
            for slot in slots
        ]
        return text % tuple(words)

    def _meaning(self, slot: str, name: str) -> str:
        if not self.rename:
            return name
        return self._define(name) if slot == DEFINE else self.names.find(name) or self._define(name)

    def _block(self, name: str) -> str:
        return (self.names.find_own(name) or self._define(name)) if self.rename else name

    def _template(self, form: Form) -> Template:
        """The text of all operations of one form in this module."""
        found, spelled = spelling.template(form, self.fold, self.sort)
        if spelled is not None:
            text, erased = self._resolved(spelled)
            erased = found.erased + erased
            plain = found.slots is None and not erased
            found = Template(text=found.text + text, slots=found.slots, erased=erased, plain=plain)
        self.templates[form] = found
        return found

    def _cut(self, text: str) -> tuple[str, tuple[str, ...] | None, Erasures, tuple[str, ...]]:
        """A text in its canonical spelling with ``%s`` for names, how to treat each, what is erased, the names."""
        if not text:
            return "", None, (), ()
        found = spelling.spelled(text, self.fold, self.sort)
        if not found.references:
            return found.pieces[0], found.slots, found.erased, found.names
        shown, erased = self._resolved(found)
        return shown, found.slots, (*found.erased, *erased), found.names

    def _resolved(self, found: Spelled) -> tuple[str, Erasures]:
        """A text with what its references stand for in this module, and what else is erased for that."""
        shown = self.shown
        for word in found.references:
            if word not in shown:
                shown[word] = self._reference(word).replace("%", "%%")
        text = forms.joined(found.pieces, [shown[word] for word in found.references])
        if self.private and (renamed := tuple(filter(self._is_renamed, found.references))):
            return text, (("function-names", renamed),)
        return text, ()

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
            self.indent = self.indent[2:]
            between = self._text(text)
            self._put(f"}}{'' if between.startswith(',') else ' '}{between} {{", line)
        else:
            begun.add(operation.index)
            self.lines[-1] += "{" if self.lines[-1].endswith("(") else " {"
        self.indent += "  "

    def _end(self, operation: Operation, text: str, line: int) -> None:
        self.names.leave()
        self.indent = self.indent[2:]
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
        return self._filled(spelled, slots, names)

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
        places.add_definitions(module.location_definitions)
        places.add_carried(module.locations)
        for name, texts in (
            ("source-lines", places.lines),
            ("source-paths", places.paths),
            ("argument-locations", places.names),
        ):
            if texts:
                erased.add(name, *texts)
        erased.add("comments", *(f"{ordinal} {text}" for ordinal, text in module.comments))
        erased.add("whitespace", *module.spaces)
