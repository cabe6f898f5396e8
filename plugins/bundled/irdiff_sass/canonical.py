"""The canonical form of machine code: equal code is equal text.

First what the container says (see ``executed``), then the instructions of each section, or the digests of their
bytes where they are not decoded. The form of an instruction is a function of its 128 bits and its place, so
cubins with equal fingerprints have equal canonical forms if the same tool decodes both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

import msgspec

from irdiff.api import Canonical
from irdiff_sass.cubin import Cubin
from irdiff_sass.executed import code_lines, digest, erased, executed_lines
from irdiff_sass.instructions import BRANCHES, Instruction, control_text, spell
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

    def add(self, lines: Sequence[str], places: Sequence[int], controls: Sequence[str] = ()) -> None:
        """More lines, their control words behind them."""
        self.bare += lines
        self.places += places
        if controls:
            self.controlled = self.controlled or any(controls)
            pairs = zip(lines, controls, strict=True)
            self.lines += [f"{line}  {control}" if control else line for line, control in pairs]
        else:
            self.lines += lines


def canonical_form(cubin: Cubin | None, decoded: Listing | Undecoded, normalizes: Normalizes) -> Canonical:
    """The canonical form of a cubin, or of a ``.sass`` text (no cubin)."""
    canon = Canon()
    taken: dict[str, str] = {}
    listing = decoded if isinstance(decoded, Listing) else None

    def applies(name: str) -> bool:
        return normalizes(name) and (name != "instruction-offsets" or listing is not None)

    if cubin is not None:
        lines = executed_lines(cubin, applies)
        canon.add(lines, [0] * len(lines))
        taken = erased(cubin, applies)
        if listing is None:
            canon.add(code_lines(cubin), [code.base for code in cubin.codes])
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
    canon.add((f"{text.role}:",), (text.base,))
    canon.padding.append(str(len(text.instructions) - len(code)))
    opcodes = {each.opcode for each in code}
    branches = {opcode for opcode in opcodes if opcode.partition(".")[0] in BRANCHES}
    targets = {
        index: target
        for index, each in enumerate(code)
        if each.opcode in branches and (target := each.target) is not None
    }
    labels: dict[int, str] = {}
    if normalizes("labels"):
        indices = text.indices()
        places = sorted({target for target in targets.values() if target in indices})
        labels = {place: f"L{number}" for number, place in enumerate(places)}
        canon.targets += [f"{place:#x}" for place in places]
    reuse = canon.reuse if normalizes("reuse-flags") else None
    lines = _written(code, {index: labels[each] for index, each in targets.items() if each in labels}, reuse)
    if normalizes("register-names"):
        rename = Renaming(code, alone=alone)
        lines = rename(lines)
        canon.names += rename.given()
    addresses = [each.address for each in code]
    controls = [each.control for each in code]
    with_flags = reuse is None
    words = {each: _control_words(each, with_flags=with_flags) for each in set(controls)}
    behind = [words[each] for each in controls] if any(words.values()) else []
    starts = sorted({text.base + place: name for place, name in labels.items()}.items())
    position = 0
    for address, name in starts:
        index = bisect_left(addresses, address)
        if index == len(addresses) or addresses[index] != address:
            continue  # in the padding
        canon.add(lines[position:index], addresses[position:index], behind[position:index])
        canon.add((f"{name}:",), (address,))
        position = index
    canon.add(lines[position:], addresses[position:], behind[position:])


def _written(code: Sequence[Instruction], named: Mapping[int, str], reuse: list[str] | None) -> list[str]:
    """Each instruction as text; a place that has a label under its name, flags of reuse taken away into ``reuse``."""
    lines = [each.text for each in code]
    for index, name in named.items():
        operands = code[index].operands
        head, space, _ = operands[-1].rpartition(" ")
        lines[index] = spell(
            code[index].predicate, code[index].opcode, (*operands[:-1], f"{head}{space}{name}")
        )
    if reuse is None or not lines:
        return lines
    flags = [each.control for each in code]
    cached = {each: f"{each >> 17 & 15:x}" if each >= 0 else "" for each in set(flags)}
    joined = "\n".join(lines)
    if ".reuse" not in joined:
        reuse += [f"{cached[each]}0" for each in flags]
        return lines
    reuse += [f"{cached[each]}{line.count('.reuse')}" for each, line in zip(flags, lines, strict=True)]
    return joined.replace(".reuse", "").split("\n")


def _control_words(control: int, *, with_flags: bool) -> str:
    """The control word: scheduling, which says when and not what; flags of reuse only where they are kept."""
    words = control_text(control)
    return f"{words}:{control >> 17 & 15:x}" if words and with_flags else words
