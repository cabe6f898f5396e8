"""The canonical form of machine code: equal code is equal text.

First what the container says (see ``executed``), then the instructions of each section, or the digests of their
bytes where they are not decoded. The form of an instruction is a function of its 128 bits and its place, so
cubins with equal fingerprints have equal canonical forms if the same tool decodes both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from irdiff.api import Canonical
from irdiff_sass.cubin import Cubin
from irdiff_sass.executed import code_lines, digest, erased, executed_lines
from irdiff_sass.instructions import Instruction, control_text
from irdiff_sass.listing import CodeText, Listing, Undecoded
from irdiff_sass.renaming import Renaming

Normalizes = Callable[[str], bool]


class Canon(msgspec.Struct, kw_only=True):
    """Lines as they are made, and what the rules on instructions take away."""

    lines: list[str] = []
    places: list[int] = []
    names: list[str] = []
    targets: list[str] = []
    reuse: list[str] = []
    padding: list[str] = []
    bare: list[str] = []
    """The lines without control words."""
    controlled: bool = False
    """Whether any line has one."""

    def add(self, line: str, place: int, control: str = "") -> None:
        """One more line, its control word behind it."""
        self.lines.append(f"{line}  {control}" if control else line)
        self.bare.append(line)
        self.controlled = self.controlled or bool(control)
        self.places.append(place)


def canonical_form(cubin: Cubin | None, decoded: Listing | Undecoded, normalizes: Normalizes) -> Canonical:
    """The canonical form of a cubin, or of a ``.sass`` text (no cubin)."""
    canon = Canon()
    taken: dict[str, str] = {}
    listing = decoded if isinstance(decoded, Listing) else None

    def applies(name: str) -> bool:
        return normalizes(name) and (name != "instruction-offsets" or listing is not None)

    if cubin is not None:
        for line in executed_lines(cubin, applies):
            canon.add(line, 0)
        taken = erased(cubin, applies)
        if listing is None:
            for code, line in zip(cubin.codes, code_lines(cubin), strict=True):
                canon.add(line, code.base)
    if listing is not None:
        for text in listing.codes:
            _add_code(canon, text, normalizes, alone=len(listing.codes) == 1)
        parts = {
            "register-names": canon.names,
            "labels": canon.targets,
            "reuse-flags": canon.reuse,
            "nop-padding": canon.padding,
        }
        taken |= {name: digest(each) for name, each in parts.items() if normalizes(name)}
    without = {"control words": digest(canon.bare)} if canon.controlled else {}
    return Canonical.of(canon.lines, places=canon.places, erased=taken, without=without)


def _add_code(canon: Canon, text: CodeText, normalizes: Normalizes, *, alone: bool) -> None:
    code = text.without_padding() if normalizes("nop-padding") else text.instructions
    indices = text.indices()
    canon.add(f"{text.role}:", text.base)
    canon.padding.append(str(len(text.instructions) - len(code)))
    labels: dict[int, str] = {}
    if normalizes("labels"):
        places = sorted({each.target for each in code if each.target is not None and each.target in indices})
        labels = {place: f"L{number}" for number, place in enumerate(places)}
        canon.targets += [f"{place:#x}" for place in places]
    rename = Renaming(code, alone=alone) if normalizes("register-names") else None
    for instruction in code:
        label = labels.get(instruction.address - text.base)
        if label is not None:
            canon.add(f"{label}:", instruction.address)
        line, control = _line(canon, instruction, labels, rename, normalizes)
        canon.add(line, instruction.address, control)
    if rename is not None:
        canon.names += rename.given()


def _line(
    canon: Canon,
    instruction: Instruction,
    labels: Mapping[int, str],
    rename: Renaming | None,
    normalizes: Normalizes,
) -> tuple[str, str]:
    """The instruction, and its control word: scheduling, which says when and not what."""
    operands = list(instruction.operands)
    target = instruction.target
    if target is not None and target in labels:
        head, space, _ = operands[-1].rpartition(" ")
        operands[-1] = f"{head}{space}{labels[target]}"
    text = f"{instruction.opcode} {', '.join(operands)}".rstrip()
    predicate = f"{instruction.predicate} " if instruction.predicate else ""
    flags = f"{instruction.control >> 17 & 15:x}" if instruction.control >= 0 else ""
    if normalizes("reuse-flags"):
        canon.reuse.append(f"{flags}{text.count('.reuse')}")
        text = text.replace(".reuse", "")
        flags = ""
    text = predicate + text
    if rename is not None:
        text = rename(text)
    control = control_text(instruction.control)
    return text, f"{control}:{flags}" if control and flags else control
