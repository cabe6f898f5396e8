"""Groups of kernels, by number, and the best assignment within each: what is left, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from irdiff.engine.assignment import assign
from irdiff.engine.likeness import Portrait, Weights, likenesses
from irdiff.model.report import Pairing

MOST = 1_000_000
"""Pairs in one table; a larger group (more than 1,000 kernels of one name on each side) is solved in parts."""
PART = 900

Key: TypeAlias = Callable[[int], Hashable]
"""From a kernel's number to what it is grouped by; None for no group."""
Make: TypeAlias = Callable[[int, int, int], Pairing | None]
"""From two kernels, and how many other pairs their group allows, to how they are paired; None for not at all."""


class Matching:
    """Kernels of two sides that have no counterpart yet, and the pairs that were found."""

    def __init__(self, faces: Sequence[Portrait], here: int) -> None:
        """``here`` is how many of the faces are of the first side."""
        self._faces = faces
        self.left = list(range(here))
        self.right = list(range(here, len(faces)))
        self.found: list[tuple[int, int, Pairing]] = []

    def in_groups(self, key: Key, weights: Weights, make: Make) -> None:
        """Solve each group of kernels with one key."""
        left, right = by_key(self.left, key), by_key(self.right, key)
        for value, numbers in left.items():
            others = right.get(value)
            if others:
                self.solve(numbers, others, weights, make)

    def solve(
        self,
        left: Sequence[int],
        right: Sequence[int],
        weights: Weights,
        make: Make,
        allowed: Mapping[int, AbstractSet[int]] | None = None,
    ) -> None:
        """Take the best assignment between two groups; pairs not ``allowed`` are worth nothing."""
        rivals = len(left) * len(right) - 1
        if rivals >= MOST:
            self._in_parts(left, right, weights, make)
            return
        swapped = len(left) > len(right)
        rows, columns = (right, left) if swapped else (left, right)
        if not rivals:
            columns_of = [0]
        else:
            scores = likenesses(
                [self._faces[row] for row in rows],
                [self._faces[column] for column in columns],
                weights,
            )
            if allowed is not None:
                for row, line in zip(rows, scores, strict=True):
                    line[:] = [s if c in allowed[row] else 0 for s, c in zip(line, columns, strict=True)]
            columns_of = assign(scores)
        taken: set[int] = set()
        for row, column in enumerate(columns_of):
            one, other = rows[row], columns[column]
            if swapped:
                one, other = other, one
            pairing = make(one, other, rivals)
            if pairing is not None:
                self.found.append((one, other, pairing))
                taken |= {one, other}
        self.left = [number for number in self.left if number not in taken]
        self.right = [number for number in self.right if number not in taken]

    def _in_parts(self, left: Sequence[int], right: Sequence[int], weights: Weights, make: Make) -> None:
        """Solve a group that is too large for one table: kernels that are alike first, the rest part by part."""
        for mask in ("content_bits", "feature_bits", ""):
            parts = [
                by_key(
                    [number for number in side if number in kept],
                    lambda number, mask=mask: getattr(self._faces[number], mask or "stem"),  # type: ignore[misc]
                )
                for side, kept in ((left, set(self.left)), (right, set(self.right)))
            ]
            for value, numbers in parts[0].items():
                others = parts[1].get(value, [])
                for start in range(0, min(len(numbers), len(others)), PART):
                    self.solve(numbers[start : start + PART], others[start : start + PART], weights, make)


def by_key(numbers: Sequence[int], key: Key) -> dict[Hashable, list[int]]:
    """The numbers by their key, without those that have none."""
    found: dict[Hashable, list[int]] = {}
    for number in numbers:
        value = key(number)
        if value is not None:
            found.setdefault(value, []).append(number)
    return found
