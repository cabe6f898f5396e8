"""The canonical form of LLVM IR: code that means the same is the same text.

Invariant: each rule is a bijection of names inside one function or one file, or drops text that says
nothing of what runs, or folds two spellings of one thing (:mod:`irdiff_llir.spelling`).
"""

from __future__ import annotations

import re
from operator import itemgetter

from irdiff.api import Artifact, Canonical, Context
from irdiff_llir.erased import Erased, without_asserted_file
from irdiff_llir.facts import module_of
from irdiff_llir.layout import kept_layout
from irdiff_llir.metadata import Metadata, split_attachments
from irdiff_llir.metadata_lines import metadata_lines
from irdiff_llir.names import TOKEN, FunctionNames
from irdiff_llir.reader import Item, Module
from irdiff_llir.spelling import by_stride, fold, without_implied

_GROUP = re.compile(r"attributes (#\d+) = \{(.*)\}\s*\Z")
_ATTRIBUTE = re.compile(r'"[^"]*"(?:="[^"]*")?|\w+\([^()]*\)|\S+')
_DECLARED_DEBUG = re.compile(r" !dbg (!\d+)(?= )")
_DEBUG_CALL = re.compile(r"(?:tail )?call void @llvm\.dbg\.")
_MARKS = frozenset({"{", "}", ":", "#", "?"})
_HEAD = "\0"
"""Stands for a type that is left out while names are replaced; no text holds it."""
_LAST = 1 << 60  # metadata nodes are listed after everything else, as LLVM does


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """Equal code as equal text, with the line each line comes from. Raises ParseError where it is no LLVM IR."""
    writer = _Writer(module_of(artifact, context), context)
    writer.write_all()
    return Canonical.of(
        [text for _, _, text in writer.written],
        places=[line for _, line, _ in writer.written],
        erased=writer.erased.digests(),
    )


class _Writer:
    """Writes a module line by line; ``written`` holds (sort key, line, text)."""

    def __init__(self, module: Module, context: Context) -> None:
        self.module = module
        self.on = context.normalizes
        self.erased = Erased()
        self.written: list[tuple[int, int, str]] = []
        self.metadata = Metadata(module)
        self.groups = {
            match[1]: _sorted(match[2])
            for _, kind, text in module.top
            if kind == "attributes" and (match := _GROUP.match(text)) is not None
        }
        self.names = FunctionNames((), frozenset())
        self.local: dict[str, str] = {}
        """What the names of this function are called."""
        self.shared: dict[str, str] = {}
        self.folds = self.on("dialect-spelling") and module.may_fold
        self.has_debug_calls = module.calls_debug
        self.renames = [rule for rule in ("value-names", "block-labels") if self.on(rule)]

    def put(self, line: int, text: str, *, last: bool = False) -> None:
        """Add a line; ``last`` lines follow all others in the order in which they are added."""
        self.written.append((_LAST + len(self.written) if last else line, line, text))

    def write_all(self) -> None:
        """The whole file."""
        types = frozenset(text.split(" ", 1)[0] for _, kind, text in self.module.top if kind == "%")
        for line, kind, text in self.module.top:
            self._top(line, kind, text)
        items = self.module.items
        marks = [index for index in self.module.odd if items[index][2] in _MARKS]
        done = 0
        for position, index in enumerate(marks):
            self._instructions(done, index)
            if items[index][2] == "{":
                self._names_done()
                following = map(marks.__getitem__, range(position, len(marks)))
                ends = (end for end in following if items[end][2] == "}")
                self.names = FunctionNames(items[index : next(ends, len(items))], types)
                self.local = {}
            self._mark(items[index])
            done = index + 1
        self._instructions(done, len(items))
        self._names_done()
        for line, text in kept_layout(self.module, self.on, self.erased):
            self.put(line, text)
        for line, text in metadata_lines(self.metadata, self.on, self.erased):
            self.put(line, text, last=True)
        self.written.sort(key=itemgetter(0))

    def _names_done(self) -> None:
        if self.on("value-names"):
            self.erased.add("value-names", *self.names.values)
        if self.on("block-labels"):
            self.erased.add("block-labels", *self.names.labels)

    def _top(self, line: int, kind: str, text: str) -> None:
        text = text.strip()
        if kind == "!":
            return
        if kind == "source_filename" or text.startswith("target datalayout"):
            rule = "identity" if kind == "source_filename" else "datalayout"
            if self.on(rule):
                self.erased.add(rule, text)
                return
        elif kind == "attributes":
            if self.on("attribute-groups"):
                self.erased.add("attribute-groups", text)
            else:
                self.put(line, text)
            return
        elif text.startswith("@assertFile_") and self.on("source-paths"):
            text, path = without_asserted_file(text)
            self.erased.add("source-paths", path)
        self.put(line, self._global(text, local=False))

    def _global(self, text: str, *, local: bool) -> str:
        """A line outside functions, or (``local``) a ``define`` line."""
        debug = _DECLARED_DEBUG.search(text)
        if debug is not None and self.on("source-lines"):
            self.erased.add("source-lines", debug[1])
            text = _DECLARED_DEBUG.sub("", text)
        if " nofree " in text and self.on("dialect-spelling"):
            spelled = without_implied(text)
            if spelled != text:
                self.erased.add("dialect-spelling", text)
                text = spelled
        text, attached = split_attachments(text)
        return self._with_attachments(self._text(text, local=local), attached)

    def _mark(self, item: Item) -> None:
        """An item that is no instruction."""
        line, _, opcode, operands = item
        if opcode == "{":
            self.put(line, self._global(operands, local=True))
        elif opcode == "}":
            self.put(line, "}")
        elif opcode == ":":
            self.put(
                line, f"{self.names.label_definition(operands) if self.on('block-labels') else operands}:"
            )
        elif opcode == "#":
            self._drop_debug(line, operands)
        else:
            self.put(line, operands)

    def _instructions(self, first: int, end: int) -> None:
        """Instructions that follow one another; names are replaced in all of them at once.

        At one with attachments that name metadata they are not put off: nodes are numbered in the order of the text.
        """
        drops_lines = self.on("source-lines")
        content, may_drop = self.module.lines, self.has_debug_calls
        lines: list[int] = []
        texts: list[str] = []
        nodes: list[str] = []
        heads: list[str] = []
        for item, shape in zip(self.module.items[first:end], self.module.shapes[first:end], strict=True):
            line, location = item[0], shape.location
            whole = content[line - 1]
            attached: list[tuple[str, str]] = []
            if item[2] == "switch" or (location is not None and not drops_lines):
                text, attached = split_attachments(self._spelled(item))
                if drops_lines and [(name, node[1:].isdecimal()) for name, node in attached] == [
                    ("dbg", True)
                ]:
                    nodes.append(attached.pop()[1])
            else:
                around = None if self.folds else shape.around
                if around is None:
                    text = whole[shape.code]
                else:
                    text = f"{whole[around[0]]}{_HEAD}{whole[around[2]]}"
                    heads.append(whole[around[1]])
                if shape.has_attached:
                    text, attached = split_attachments(text)
                elif location is not None and not (may_drop and _DEBUG_CALL.match(text)):
                    nodes.append(f"!{whole[location]}")
            if may_drop and _DEBUG_CALL.match(text):
                self._drop_nodes(nodes)
                nodes.clear()
                self._drop_debug(line, text)
                continue
            lines.append(line)
            texts.append(text)
            if attached:
                self._drop_nodes(nodes)
                *before_it, last = self._texts(texts, heads)
                self.written += [(place, place, each) for place, each in zip(lines, before_it, strict=False)]
                self.put(line, self._with_attachments(last, attached))
                lines, texts, nodes, heads = [], [], [], []
        self._drop_nodes(nodes)
        self.written += [
            (place, place, each) for place, each in zip(lines, self._texts(texts, heads), strict=True)
        ]

    def _drop_nodes(self, nodes: list[str]) -> None:
        if nodes:
            self.erased.add("source-lines", *nodes)

    def _spelled(self, item: Item) -> str:
        """An instruction with all that is attached to it, on one line."""
        text = self.module.lines[item[0] - 1].strip()
        is_split = item[2] == "switch" and text.endswith("[")
        return f"switch {' '.join(item[3].split())}" if is_split else text

    def _drop_debug(self, line: int, text: str) -> None:
        if self.on("source-lines"):
            self.erased.add("source-lines", text)
        else:
            self.put(line, text)

    def _with_attachments(self, text: str, attached: list[tuple[str, str]]) -> str:
        for name, node in attached:
            if name == "dbg" and self.on("source-lines"):
                self.erased.add("source-lines", node)
            elif name == "dbg" or not self.on("metadata-numbers"):
                text += f", !{name} {node}"
            else:
                text += f", !{name} {self.metadata.rename(node)}"
        return text

    def _texts(self, texts: list[str], heads: list[str]) -> list[str]:
        """Lines of a function with their names replaced, and each mark with the type that it stands for."""
        if not texts:
            return []
        text = self._text("\n".join(texts), local=True)
        if heads:
            woven = [""] * (2 * len(heads) + 1)
            woven[::2] = text.split(_HEAD)
            woven[1::2] = heads
            text = "".join(woven)
        return text.split("\n")

    def _text(self, text: str, *, local: bool) -> str:
        """A text of one or more lines with its names replaced."""
        if self.folds:
            text = "\n".join([self._folded(line) for line in text.split("\n")])
        if local and "getelementptr " in text and self.on("dialect-spelling"):
            text, types = by_stride(text)
            self.erased.add("dialect-spelling", *types)
        parts = TOKEN.split(text)
        tokens = parts[1::2]
        if not tokens:
            return text
        known = self.local if local else self.shared
        new = [token for token in dict.fromkeys(tokens) if token not in known]
        if local and new:
            given = self.names.number_values(new)
            known.update(given if "value-names" in self.renames else zip(given, given, strict=True))
            new = [token for token in new if token not in known] if len(given) < len(new) else []
        for token in new:
            known[token] = self._renamed(token, local=local)
        if "#" in text and self.on("attribute-groups"):
            groups = [token for token in tokens if token[0] == "#"]
            if groups:
                self.erased.add("attribute-groups", *groups)
        parts[1::2] = [known[token] for token in tokens]
        return "".join(parts)

    def _folded(self, text: str) -> str:
        folded = fold(text)
        if folded != text:
            self.erased.add("dialect-spelling", text)
        return folded

    def _renamed(self, token: str, *, local: bool) -> str:
        if token[0] == "%" and local:
            kind, new = self.names.resolve(token)
            return new if kind in self.renames else token
        if token[0] == "#" and self.on("attribute-groups"):
            return self.groups.get(token, token)
        if token[0] == "!" and self.on("metadata-numbers"):
            return self.metadata.rename(token)
        return token


def _sorted(group: str) -> str:
    """An attribute group without an order of its words: LLVM keeps none (``AttributeSet``)."""
    return f"{{ {' '.join(sorted(_ATTRIBUTE.findall(group)))} }}"
