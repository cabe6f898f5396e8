"""The canonical form of machine code: equal code is equal text.

First what the container says (see ``executed``), then the instructions of each section, or the digests of their
bytes where they are not decoded. The form of an instruction is a function of its 128 bits and its place, so
cubins with equal fingerprints have equal canonical forms if the same tool decodes both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import msgspec

from irdiff.api import Canonical
from irdiff_sass.cubin import Cubin
from irdiff_sass.decoded import CodeText, Listing, Undecoded
from irdiff_sass.executed import code_lines, digest, erased, executed_lines
from irdiff_sass.instructions import BRANCHES, Instruction, control_text, spell
from irdiff_sass.renaming import Renaming
from irdiff_sass.shapes import Shape

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


def _add_code(canon: Canon, code: CodeText, normalizes: Normalizes, *, alone: bool) -> None:
    stop = code.body if normalizes("nop-padding") else len(code)
    canon.add((f"{code.role}:",), (code.base,))
    canon.padding.append(str(len(code) - stop))
    targets = {
        index: target for index in code.of_families(BRANCHES) if (target := code.at(index).target) is not None
    }
    labels: dict[int, str] = {}
    if normalizes("labels"):
        places = sorted({target for target in targets.values() if code.index(target) is not None})
        labels = {place: f"L{number}" for number, place in enumerate(places)}
        canon.targets += [f"{place:#x}" for place in places]
    reuse = canon.reuse if normalizes("reuse-flags") else None
    texts, controls, addresses = code.texts[:stop], code.controls[:stop], code.addresses[:stop]
    written = list(texts)
    for index, each in targets.items():
        if each in labels:
            written[index] = _labelled(code.at(index), labels[each])
    joined = "\n".join(written)
    if reuse is not None:
        reuse += _reuses(code.shapes[:stop], controls)
        joined = joined.replace(".reuse", "")
    if normalizes("register-names"):
        rename = Renaming(code, texts, alone=alone)
        joined = rename(joined)
        canon.names += rename.given()
    lines = joined.split("\n") if texts else []
    with_flags = reuse is None
    words = {each: _control_words(each, with_flags=with_flags) for each in set(controls)}
    behind = [words[each] for each in controls] if any(words.values()) else []
    starts = sorted({code.base + place: name for place, name in labels.items()}.items())
    position = 0
    for address, name in starts:
        index = bisect_left(addresses, address)
        if index == len(addresses) or addresses[index] != address:
            continue  # in the padding
        canon.add(lines[position:index], addresses[position:index], behind[position:index])
        canon.add((f"{name}:",), (address,))
        position = index
    canon.add(lines[position:], addresses[position:], behind[position:])


def _labelled(instruction: Instruction, label: str) -> str:
    """A branch as text, the place that it names under the name of its label."""
    *others, last = instruction.operands
    head, space, _ = last.rpartition(" ")
    return spell(instruction.predicate, instruction.opcode, (*others, f"{head}{space}{label}"))


def _reuses(shapes: Sequence[Shape], controls: Sequence[int]) -> list[str]:
    """Which operands of each instruction are cached, as the word says and as the text does."""
    cached = {each: f"{each >> 17 & 15:x}" if each >= 0 else "" for each in set(controls)}
    if len(cached) > 1:
        return [f"{cached[each]}{shape.reuses}" for each, shape in zip(controls, shapes, strict=True)]
    counted = {shape.reuses for shape in shapes}
    words = {count: f"{each}{count}" for each in cached.values() for count in counted}
    return [words[shape.reuses] for shape in shapes]


def _control_words(control: int, *, with_flags: bool) -> str:
    """The control word: scheduling, which says when and not what; flags of reuse only where they are kept."""
    words = control_text(control)
    return f"{words}:{control >> 17 & 15:x}" if words and with_flags else words
