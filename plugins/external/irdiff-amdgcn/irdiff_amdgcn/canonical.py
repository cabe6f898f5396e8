"""The canonical form of AMDGPU assembly: code that means the same is the same text.

Invariant: each rule is either a bijection of names, or drops text that the assembler turns into nothing that executes,
or folds two spellings of one thing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from irdiff.api import Artifact, Canonical, Context, Normalization

from irdiff_amdgcn.erased import Erased
from irdiff_amdgcn.metadata import Kernel, Metadata, arch_of, features_of, from_yaml
from irdiff_amdgcn.operands import LABEL
from irdiff_amdgcn.reader import Item, Listing, listing_of
from irdiff_amdgcn.renaming import Renaming
from irdiff_amdgcn.resources import PREFIX, is_dropped

NORMALIZATIONS = (
    Normalization(
        id="register-names",
        title="register names",
        doc="Vector, scalar and accumulator registers are numbered by first use, in groups of those that "
        "an operand names "
        "together. What can hold something when the kernel starts is named with its number; with relative addressing, "
        "calls or an opcode that is not known, all numbers stay.",
    ),
    Normalization(
        id="labels",
        title="label names",
        doc="Labels that an instruction refers to are numbered where they stand; other labels go. The "
        "kernel's own name "
        "stays.",
    ),
    Normalization(
        id="source-paths", title="source paths", doc="`.file`, and the strings of the debug sections."
    ),
    Normalization(
        id="source-lines",
        title="line numbers",
        doc="`.loc`, `.cfi_*`, the labels that exist for them, and the numbers of the debug sections.",
    ),
    Normalization(id="comments", title="comments", doc="Everything behind `;`."),
    Normalization(id="spacing", title="spacing", doc="Spaces and tabs between operands."),
    Normalization(
        id="resource-symbols",
        title="symbols for the linker",
        doc="`.set` (names and sums of resources, which changed between Triton 3.6 and 3.9 and repeat "
        "what the descriptor "
        "says), `.globl`, `.protected`, `.weak`, `.hidden`, `.addrsig`, `.ident`.",
    ),
    Normalization(
        id="padding",
        title="padding",
        doc="`.p2align` and `.fill` before the first and behind the last instruction; inside the code they stay.",
    ),
    Normalization(
        id="target-spelling",
        title="spelling of the target",
        doc="`amdgcn-amd-amdhsa--gfx942` and, from Triton 3.9 on, `amdgpu9.42-amd-amdhsa-unknown-gfx942` are `gfx942`; "
        "features (`:xnack-`) stay.",
    ),
    Normalization(
        id="code-object-version",
        title="code object version",
        doc="`.amdhsa_code_object_version` and `amdhsa.version` follow the compiler; hidden arguments stay.",
    ),
    Normalization(
        id="descriptor-defaults",
        title="descriptor directives at their default",
        doc="`.amdhsa_` directives that are 0 where they are not given, when 0.",
    ),
    Normalization(
        id="metadata-notes",
        title="metadata that repeats or describes",
        doc="Keys of the metadata other than arguments, sizes and counts: names, symbols, languages, "
        "`.uniform_work_group_size`, `.uses_dynamic_stack` (which is in the descriptor).",
    ),
)

_LINKER = (".set", ".globl", ".protected", ".weak", ".hidden", ".addrsig", ".ident", ".amdgpu_hsa")
_PADDING = (".p2align", ".fill", ".align", ".balign")
_DEBUG_LABELS = (
    ".Ltmp",
    ".Lfunc_begin",
    ".Lfunc_end",
    ".Linfo_string",
    ".Lline_table",
    ".Ldebug",
    ".Lcu_",
    ".Lsec_end",
)
_PLACE = re.compile(r"([^\s:\[\]@]+):(\d{1,9}:\d{1,9})")
_STRINGS = (".asciz", ".ascii", ".string", ".file")


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """Equal code as equal text, with the line each line comes from. Raises ParseError where it is no assembly."""
    writer = _Writer(listing_of(artifact, context), context)
    writer.write_all()
    lines, places = writer.in_order()
    return Canonical.of(lines, places=places, erased=writer.erased.digests())


class _Writer:
    def __init__(self, listing: Listing, context: Context) -> None:
        self.listing = listing
        self.on = context.normalizes
        self.erased = Erased()
        self.written: list[tuple[int, int, str]] = []
        """(order, place, text)."""
        self.rename = Renaming(listing.items)
        self.labels = _labels(listing.items)

    def put(self, line: int, text: str, order: int | None = None) -> None:
        """One line of the form."""
        self.written.append((line if order is None else order, line, text))

    def in_order(self) -> tuple[list[str], list[int]]:
        """Lines and places; what stands behind the code in the file stays behind it."""
        self.written.sort(key=lambda each: each[0])
        return [text for _, _, text in self.written], [place for _, place, _ in self.written]

    def drop(self, rule: str, line: int, text: str, told: str | None = None) -> None:
        """Text that a rule takes away, unless it is switched off."""
        if self.on(rule):
            self.erased.add(rule, text if told is None else told)
        else:
            self.put(line, text)

    def write_all(self) -> None:
        """Every item of the file."""
        items = self.listing.items
        code = [index for index, item in enumerate(items) if item.kind == "instruction"]
        first, last = (code[0], code[-1]) if code else (0, -1)
        if self.on("register-names"):
            for text in self.rename.entry:
                self.put(items[first].line, f"entry {text}", 0)
        for index, item in enumerate(items):
            if item.kind == "instruction":
                self._instruction(item)
            elif item.kind == "label":
                self._label(item)
            elif item.kind == "directive":
                self._directive(item, inside=first < index < last)
            else:
                self.put(item.line, item.operands)
        if self.on("register-names"):
            self.erased.add("register-names", *self.rename.given())
        self._debug(code)
        self._comments()
        self._metadata(from_yaml(self.listing.metadata))

    def _instruction(self, item: Item) -> None:
        text = item.operands
        if self.on("spacing"):
            spaced = " ".join(text.split())
            if spaced != text:
                self.erased.add("spacing", f"{len(self.written)} {text}")
            text = spaced
        if self.on("register-names"):
            text = self.rename(text)
        if "$" in text or ".L" in text:
            text = LABEL.sub(lambda found: self._label_name(found.group()), text)
        self.put(item.line, f"{item.word} {text}" if text else item.word)

    def _label_name(self, name: str) -> str:
        return self.labels.get(name, name) if self.on("labels") else name

    def _label(self, item: Item) -> None:
        name = item.word
        if name in self.labels:
            if self.on("labels"):
                self.erased.add("labels", name)
            self.put(item.line, f"{self._label_name(name)}:")
        elif name.startswith(_DEBUG_LABELS):
            self.drop("source-lines", item.line, f"{name}:")
        elif name.startswith(".L"):
            self.drop("labels", item.line, f"{name}:")
        else:
            self.put(item.line, f"{name}:")

    def _directive(self, item: Item, *, inside: bool) -> None:
        word, line = item.word, item.line
        text = f"{word} {' '.join(item.operands.split())}".strip()
        if word == ".amdgcn_target":
            self._target(line, item.operands, text)
        elif word == f"{PREFIX}code_object_version":
            self.drop("code-object-version", line, text)
        elif word.startswith(_LINKER):
            self.drop("resource-symbols", line, text)
        elif word.startswith(_PADDING) and not (inside and item.section.startswith(".text")):
            self.drop("padding", line, text)
        elif word.startswith(PREFIX) and is_dropped(word, item.operands):
            self.drop("descriptor-defaults", line, text)
        else:
            section = (
                "" if item.section.startswith(".text") or word.startswith(PREFIX) else f"{item.section} "
            )
            self.put(line, f"{section}{text}")

    def _target(self, line: int, spelled: str, text: str) -> None:
        arch = arch_of(spelled)
        if self.on("target-spelling") and arch is not None:
            self.erased.add("target-spelling", spelled.partition(":")[0])
            text = f".amdgcn_target {arch}{features_of(spelled)}"
        self.put(line, text)

    def _debug(self, code: Sequence[int]) -> None:
        items = self.listing.items
        lines = [items[index].line for index in code]
        position = 0
        for item in self.listing.debug:
            text = f"{item.word} {item.operands}".strip()
            if item.word.startswith(_LINKER) or not item.section.startswith((".text", ".debug_")):
                self.drop("resource-symbols" if item.word == ".set" else "padding", item.line, text)
            elif item.word.startswith(_STRINGS):
                self.drop("source-paths", item.line, text)
            else:
                while position < len(lines) and lines[position] < item.line:
                    position += 1
                # where it stands matters: the same lines may be given to other instructions
                self.drop("source-lines", item.line, text, f"{text} @{position}")

    def _comments(self) -> None:
        """Comments of debug information say places in sources once more."""
        debug = {item.line for item in self.listing.debug}
        for line, text in self.listing.comments:
            if line not in debug:
                self.drop("comments", line, f"; {text}", text)
            elif not self.on("comments"):
                self.put(line, f"; {text}")
            else:
                for path, place in _PLACE.findall(text):
                    if self.on("source-paths"):
                        self.erased.add("source-paths", path)
                    if self.on("source-lines"):
                        self.erased.add("source-lines", place)

    def _metadata(self, metadata: Metadata) -> None:
        if not self.listing.metadata:
            return
        line = self.listing.metadata[0][0]
        end = len(self.listing.lines) + 1
        if metadata.target is not None:
            arch = arch_of(metadata.target)
            if self.on("target-spelling") and arch is not None:
                self.erased.add("target-spelling", metadata.target.partition(":")[0])
                self.put(metadata.target_place, f"amdhsa.target {arch}{features_of(metadata.target)}", end)
            else:
                self.put(metadata.target_place, f"amdhsa.target {metadata.target}", end)
        if metadata.version is not None:
            self.drop("code-object-version", line, f"amdhsa.version {metadata.version}")
        for kernel in metadata.kernels:
            for place, text in metadata_lines(kernel, line):
                self.put(place, text, end)
            for text in kernel.other:
                self.drop("metadata-notes", line, f"metadata {text}")


def metadata_lines(kernel: Kernel, place: int) -> list[tuple[int, str]]:
    """(place, text) of a kernel's arguments and numbers."""
    lines = [(place, f"metadata argument {text}") for text in kernel.arguments]
    return [
        *lines,
        *((kernel.places[key], f"metadata {key} {kernel.numbers[key]}") for key in sorted(kernel.numbers)),
    ]


def _labels(items: Sequence[Item]) -> dict[str, str]:
    """Labels that an instruction or a datum refers to, numbered where they stand."""
    used = {
        name
        for item in items
        if item.kind != "label" and item.word != ".set"
        for name in (LABEL.findall(item.operands) if ".L" in item.operands else ())
    }
    defined = [item.word for item in items if item.kind == "label" and item.word in used]
    return {name: f".L{position}" for position, name in enumerate(dict.fromkeys(defined))}
