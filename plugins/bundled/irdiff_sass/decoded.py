"""Decoded machine code, in columns: an instruction is made where somebody asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import getitem

import msgspec

from irdiff_sass.instructions import SIZE, Instruction, Parts, parts_of
from irdiff_sass.shapes import ODD, Shape, shapes_of, spelled


class CodeText(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The instructions of one section; two are equal where those are, at equal addresses."""

    role: str
    """``entry0``, ``function0``."""
    base: int
    """Address of its first instruction in the artifact."""
    lines: tuple[str, ...]
    """A line for each instruction, as it is in the artifact or in one spacing."""
    shapes: tuple[Shape, ...]
    """Where the parts of the instruction stand in each line."""
    addresses: tuple[int, ...]
    controls: tuple[int, ...]
    """Of each instruction: bits 105 to 125 of the word, or -1 where not known."""
    places: dict[str, tuple[int, ...]]
    """Opcode to the addresses of its instructions, in order."""
    forms: frozenset[Shape]
    """The distinct shapes."""

    def __eq__(self, other: object) -> bool:
        """Whether the other is code of equal instructions."""
        if not isinstance(other, CodeText):
            return NotImplemented
        return (self.role, self.instructions) == (other.role, other.instructions)

    def __hash__(self) -> int:
        """Of what is cheap to look at."""
        return hash((self.role, self.base, len(self.lines)))

    def __len__(self) -> int:
        """How many instructions there are."""
        return len(self.lines)

    @property
    def body(self) -> int:
        """How many instructions there are before the NOPs that fill the section."""
        end = len(self.lines)
        while end and self.shapes[end - 1].fills:
            end -= 1
        return end

    def opcode(self, index: int) -> str:
        """The opcode of one instruction, with its modifiers."""
        return self.lines[index][self.shapes[index].opcode]

    def at(self, index: int) -> Instruction:
        """One instruction."""
        line, shape = self.lines[index], self.shapes[index]
        return Instruction(
            address=self.addresses[index],
            predicate=line[shape.predicate],
            opcode=line[shape.opcode],
            rest=line[shape.rest],
            control=self.controls[index],
            text=line[shape.text],
        )

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """All of them."""
        return tuple(map(self.at, range(len(self.lines))))

    @property
    def texts(self) -> list[str]:
        """Predicate, opcode and operands of each, spaced alike."""
        return list(map(getitem, self.lines, [shape.text for shape in self.shapes]))

    def of_families(self, families: Collection[str]) -> list[int]:
        """Indices of the instructions of some families, in order."""
        found = [opcode for opcode in self.places if opcode.partition(".")[0] in families]
        return sorted([index for opcode in found for index in self.of_opcode(opcode)])

    def of_opcode(self, opcode: str) -> list[int]:
        """Indices of the instructions with an opcode, in order."""
        return [(address - self.base) // SIZE for address in self.places[opcode]]

    def index(self, place: int) -> int | None:
        """Which instruction stands at a place in the section."""
        index, beside = divmod(place, SIZE)
        return index if not beside and 0 <= index < len(self.lines) else None


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """All decoded code of one artifact."""

    codes: tuple[CodeText, ...]


class Undecoded(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no listing."""

    reason: str
    """A sentence for the user, with what to do."""


def code_text(
    texts: Sequence[str], controls: Iterable[int], *, role: str = "entry0", base: int = 0
) -> CodeText:
    """The code of statements without semicolons; what is no instruction has the opcode ``?``."""
    lines, shapes = list(texts), shapes_of(texts, ";")
    settle(lines, shapes, {index: parts_of(lines[index]) for index in odd(shapes)})
    return in_columns(lines, shapes, controls, role=role, base=base)


def settle(lines: list[str], shapes: list[Shape], parted: Mapping[int, Parts]) -> None:
    """Put statements, each at its index, in the place of lines."""
    known = shapes_of([parts.text for parts in parted.values()], ";")
    for (index, parts), shape in zip(parted.items(), known, strict=True):
        lines[index], shapes[index] = spelled(parts) if shape is ODD else (parts.text, shape)


def odd(shapes: Sequence[Shape]) -> list[int]:
    """Indices of the lines that must be looked at themselves."""
    return [index for index, shape in enumerate(shapes) if shape is ODD]


def in_columns(
    lines: Sequence[str], shapes: Sequence[Shape], controls: Iterable[int], *, role: str, base: int
) -> CodeText:
    """The code of lines none of which is odd."""
    addresses = tuple(range(base, base + len(lines) * SIZE, SIZE))
    places: dict[str, list[int]] = defaultdict(list)
    for line, shape, address in zip(lines, shapes, addresses, strict=True):
        places[shape.name or line[shape.opcode]].append(address)
    return CodeText(
        role=role,
        base=base,
        lines=tuple(lines),
        shapes=tuple(shapes),
        addresses=addresses,
        controls=tuple(controls),
        places={opcode: tuple(found) for opcode, found in places.items()},
        forms=frozenset(shapes),
    )
