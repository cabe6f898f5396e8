"""Pair kernels of two trees: by entry, by meaning, by nearest specialization, then by likeness under other names.

Each step takes the best assignment of what the steps before it left, not the best single pairs first. The result
depends neither on the order of files nor on which side is called before: every kernel is in exactly one pair or in
exactly one of the unpaired lists.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from irdiff.engine.entries import certain, components, entry_of, numbered_of, sort_key
from irdiff.engine.kernels import Kernel
from irdiff.engine.likeness import (
    SCALE,
    Portrait,
    Weights,
    asked_of,
    common_stage,
    kept_of,
    likeness,
    portraits,
    share,
    sketch,
)
from irdiff.engine.matching import Key, Matching
from irdiff.model.facts import FactSpec
from irdiff.model.report import Pairing

NEAREST = Weights(features=6000, content=3000, code=1000, name=0)
"""Kernels of one name: the specialization says most."""
SAME_CONTENT = 4000
"""Share of the earliest stage, of SCALE, that renumbered kernels must have in common."""
RENUMBERED = Weights(
    features=2000, content=5000, code=2000, name=0, same_name=300, least_content=SAME_CONTENT
)
"""Kernels whose names differ in their last number: what they do says most, and the number little."""
RENAMED = Weights(features=1000, content=4000, code=2000, name=3000)
"""Kernels of other names."""
ALIKE = 5000
"""Share of the words of the name, and of the earliest stage, that renamed kernels must have in common."""
ONE_CODE = 8000
"""Share of the earliest stage that kernels of one machine code must have in common, whatever they are called."""
MOST_RENAMED = 4_000_000
"""Pairs of names looked at; where more kernels than that have no counterpart, the trees are not of one program."""


class Pairs(msgspec.Struct, frozen=True, kw_only=True):
    """The result of pairing."""

    pairs: tuple[tuple[Kernel, Kernel, Pairing], ...]
    removed: tuple[Kernel, ...]
    """Only before."""
    added: tuple[Kernel, ...]
    """Only after."""


Read: TypeAlias = Callable[[Sequence[Kernel], Callable[[Kernel], Sequence[str]]], Iterable[Kernel]]
"""Kernels of which nothing was read yet, and the stages that are asked of each, to the same ones with those read."""


def pair(
    before: Sequence[Kernel],
    after: Sequence[Kernel],
    specs: Mapping[str, FactSpec],
    read: Read = lambda kernels, _stages: kernels,
) -> Pairs:
    """Pair every kernel that has a counterpart.

    Of kernels that only they have a name and a hash in common nothing need be read; ``read`` is asked for the others.
    """
    if len(before) == 1 and len(after) == 1:
        only = (before[0], after[0], Pairing(method="only", confidence=1.0))
        return Pairs(pairs=(only,), removed=(), added=())
    certain_pairs, left, right = certain(before, after)
    if not left or not right:
        return Pairs(
            pairs=tuple(sorted(certain_pairs, key=lambda pair: (sort_key(pair[0]), sort_key(pair[1])))),
            removed=tuple(sorted(left, key=sort_key)),
            added=tuple(sorted(right, key=sort_key)),
        )
    names = [kernel.bundle.name for kernel in (*before, *after)]
    work = _Work(left, right, numbered_of(names), specs, read)
    work.entries()
    work.recorded()
    work.equal("specialization", 0.95, work.described)
    work.equal("ir", 0.9, work.same_ir)
    work.families()
    work.renamed()
    return work.result(certain_pairs)


class _Work:
    """All kernels by number, those before first, and which of them are still without a counterpart."""

    def __init__(
        self,
        before: Sequence[Kernel],
        after: Sequence[Kernel],
        numbered: frozenset[str],
        specs: Mapping[str, FactSpec],
        read: Read,
    ) -> None:
        sides = [sorted(before, key=sort_key), sorted(after, key=sort_key)]
        self._mirrored = _side_key(sides[1]) < _side_key(sides[0])
        if self._mirrored:
            sides.reverse()
        self._kernels = [*sides[0], *sides[1]]
        common, bits = common_stage(self._kernels), dict[str, int]()
        kept = kept_of(self._kernels)
        known = read(self._kernels, lambda kernel: asked_of(kernel, common, specs))
        self._sketches = [sketch(kernel, specs, common, bits, kept) for kernel in known]
        here = len(sides[0])
        self._faces = portraits(self._sketches[:here], self._sketches[here:], bits)
        self._matching = Matching(self._faces, here)
        self._numbered = numbered

    def entries(self) -> None:
        """Kernels of one name and one hash: the same compilation; copies of it by the folders they lie in."""

        def key(number: int) -> Hashable:
            return entry_of(self._kernels[number])

        self._matching.in_groups(
            key, NEAREST, lambda _one, _other, _rivals: Pairing(method="entry", confidence=1.0)
        )

    def recorded(self) -> None:
        """Where one side is a record, which has no hash: kernels of one name that were compiled from the same.

        First those whose forms are all the same, then those of one specialization and the same earliest step: a record
        does not hold all that would tell specializations apart.
        """
        if not any(kernel.record is not None for kernel in self._kernels):
            return

        def forms(number: int) -> Hashable:
            kernel = self._kernels[number]
            known = tuple((name, each.canonical) for name, each in kernel.readings.items() if each.canonical)
            return (kernel.bundle.name, kernel.target, known) if known else None

        def source(number: int) -> Hashable:
            same = self.same_ir(number)
            return (self._faces[number].features, same) if same is not None else None

        def made(_one: int, _other: int, _rivals: int) -> Pairing:
            return Pairing(method="specialization", confidence=1.0)

        self._matching.in_groups(forms, NEAREST, made)
        self._matching.in_groups(source, NEAREST, made)

    def equal(self, method: str, confidence: float, key: Key) -> None:
        """Kernels with one key; where several have it, the likest and with less confidence."""

        def made(one: int, other: int, rivals: int) -> Pairing:
            sure = not rivals or self._faces[one].content_bits == self._faces[other].content_bits
            return Pairing(method=method, confidence=confidence if sure else round(confidence - 0.2, 2))

        self._matching.in_groups(key, NEAREST, made)

    def described(self, number: int) -> Hashable:
        """Name and what is known of the specialization; of numbered names also what the kernel does."""
        face = self._faces[number]
        numbered = self.same_ir(number) if face.stem in self._numbered else ()
        return (face.name, face.features, numbered) if face.features and numbered is not None else None

    def same_ir(self, number: int) -> Hashable:
        """Name, target and the canonical form of the earliest step of the compiler that was read."""
        known = self._sketches[number]
        return (known.name, known.target, *known.form) if known.form else None

    def families(self) -> None:
        """Kernels of one name by nearest specialization; of one name but for its number by what they do."""
        for weights, numbered in ((NEAREST, False), (RENUMBERED, True)):

            def key(number: int, *, numbered: bool = numbered) -> Hashable:
                face = self._faces[number]
                if (face.stem in self._numbered) != numbered:
                    return None
                return face.stem if numbered else face.name

            self._matching.in_groups(key, weights, self._nearest)

    def _nearest(self, one: int, other: int, _rivals: int) -> Pairing | None:
        before, after = self._faces[one], self._faces[other]
        features = share(before.feature_bits, after.feature_bits) / SCALE if before.features else 0.0
        if before.name == after.name:
            return Pairing(method="nearest", confidence=round(0.5 + 0.4 * features, 2))
        content = share(before.content_bits, after.content_bits)
        if content < SAME_CONTENT:
            return None
        return Pairing(method="name", confidence=round(0.3 + 0.3 * features + 0.3 * content / SCALE, 2))

    def renamed(self) -> None:
        """What is left, under names that have words in common, or with the same machine code."""
        if len(self._matching.left) * len(self._matching.right) > MOST_RENAMED:
            return
        edges: dict[int, set[int]] = {}
        for one in self._matching.left:
            for other in self._matching.right:
                if self._plausible(self._faces[one], self._faces[other]):
                    edges.setdefault(one, set()).add(other)
                    edges.setdefault(other, set()).add(one)
        for group in components(edges):
            left, right = (
                [n for n in self._matching.left if n in group],
                [n for n in self._matching.right if n in group],
            )
            self._matching.solve(left, right, RENAMED, self._renamed, edges)

    def _plausible(self, one: Portrait, other: Portrait) -> bool:
        named = share(one.name_bits, other.name_bits) >= ALIKE
        same_code = bool(one.code) and one.code == other.code
        if not named and not same_code:
            return False
        return share(one.content_bits, other.content_bits) >= (ALIKE if named else ONE_CODE)

    def _renamed(self, one: int, other: int, _rivals: int) -> Pairing | None:
        before, after = self._faces[one], self._faces[other]
        if not self._plausible(before, after):
            return None
        score = likeness(before, after, RENAMED) / SCALE
        return Pairing(method="name", confidence=round(0.8 * score, 2))

    def result(self, certain: Sequence[tuple[Kernel, Kernel, Pairing]]) -> Pairs:
        """Everything, in an order that depends on the kernels alone."""
        kernels = self._kernels
        found = [(kernels[one], kernels[other], pairing) for one, other, pairing in self._matching.found]
        sides = [
            tuple(kernels[number] for number in numbers)
            for numbers in (self._matching.left, self._matching.right)
        ]
        if self._mirrored:
            found = [(other, one, pairing) for one, other, pairing in found]
            sides.reverse()
        found += certain
        return Pairs(
            pairs=tuple(sorted(found, key=lambda pair: (sort_key(pair[0]), sort_key(pair[1])))),
            removed=sides[0],
            added=sides[1],
        )


def _side_key(kernels: Sequence[Kernel]) -> tuple[object, ...]:
    return (len(kernels), [sort_key(kernel) for kernel in kernels])
