"""Algebra of linear layouts: composition, pseudo-inverse, rank, coverage and equality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irdiff_layouts.linear import LayoutError, LinearLayout, flattened, unflattened

_REPEATED = "register"


def reduced(vectors: Sequence[int]) -> list[tuple[int, int]]:
    """Row-echelon form over GF(2) of vectors given as integers: (vector, which of the inputs it is the sum of).

    In descending order of leading bits; vectors that depend on earlier ones are left out.
    """
    rows: list[tuple[int, int]] = []
    for position, vector in enumerate(vectors):
        value, source = vector, 1 << position
        for row, made_of in rows:
            if value ^ row < value:
                value, source = value ^ row, source ^ made_of
        if value:
            rows.append((value, source))
            rows.sort(reverse=True)
    return rows


def solve(rows: Sequence[tuple[int, int]], target: int) -> int | None:
    """Which of the inputs of :func:`reduced` add up to ``target``, as bits; None where none do."""
    source = 0
    for row, made_of in rows:
        if target ^ row < target:
            target, source = target ^ row, source ^ made_of
    return None if target else source


def rank(vectors: Sequence[int]) -> int:
    """How many of the vectors are independent."""
    return len(reduced(vectors))


def positions(layout: LinearLayout) -> list[int]:
    """Row-major positions of all bases, inputs from least to most significant."""
    return [value for name, _ in layout.inputs for value in layout.flat(name)]


def covers(layout: LinearLayout) -> bool:
    """Whether every element of the tensor is somewhere."""
    elements = 1
    for size in layout.sizes:
        elements *= size
    return 1 << rank(positions(layout)) == elements


def injective(layout: LinearLayout) -> bool:
    """Whether no element is in two places."""
    found = positions(layout)
    return rank(found) == len(found)


def inverse(layout: LinearLayout) -> list[int] | None:
    """Pseudo-inverse: for each bit of a row-major position the index of an element there, all inputs in one number.

    The first input is in the lowest bits. None where the layout does not cover the tensor.
    """
    rows = reduced(positions(layout))
    elements = 1
    for size in layout.sizes:
        elements *= size
    found = [solve(rows, 1 << bit) for bit in range(elements.bit_length() - 1)]
    known = [value for value in found if value is not None]
    return known if len(known) == len(found) else None


def indices(layout: LinearLayout, into: LinearLayout) -> dict[str, tuple[int, ...]]:
    """Composition of a layout with the inverse of another: where ``into`` has what ``layout`` has.

    For each input of ``layout`` and each of its bits an index of ``into`` (all its inputs in one number, the first
    in the lowest bits). ``layout`` may be of a corner of ``into``. Raises LayoutError where ``into`` lacks an element.
    """
    if len(layout.sizes) != len(into.sizes) or any(
        size > whole for size, whole in zip(layout.sizes, into.sizes, strict=True)
    ):
        raise LayoutError(f"layouts over {layout.sizes} and {into.sizes}")
    rows = reduced(positions(into))
    found: dict[str, tuple[int, ...]] = {}
    for name, bases in layout.inputs:
        solved = [solve(rows, flattened(basis, into.sizes)) for basis in bases]
        known = tuple(value for value in solved if value is not None)
        if len(known) != len(solved):
            raise LayoutError("an element of one layout is not in the other")
        found[name] = known
    return found


def composed(first: LinearLayout, second: LinearLayout, inputs: Mapping[str, int]) -> LinearLayout:
    """``second`` after ``first``: the coordinates of ``first`` are indices of the inputs of ``second``.

    ``inputs``: name of an input of ``second`` to the dimension of ``first`` that is its index.
    """
    sizes = second.sizes

    def through(basis: Sequence[int]) -> tuple[int, ...]:
        return second.apply({name: basis[dim] for name, dim in inputs.items()})

    for name, dim in inputs.items():
        if first.sizes[dim] > 1 << len(second.bases(name)):
            raise LayoutError(f"indices up to {first.sizes[dim]} of {name}")
    return LinearLayout(
        tuple((name, tuple(through(basis) for basis in bases)) for name, bases in first.inputs), sizes
    )


def canonical(layout: LinearLayout) -> LinearLayout:
    """The layout without what does not change where an element is: repeated registers, inputs without bits."""
    kept = layout.without_repeats(_REPEATED)
    return LinearLayout(tuple((name, bases) for name, bases in kept.inputs if bases), kept.sizes)


def same(before: LinearLayout, after: LinearLayout) -> bool:
    """Whether two layouts put the same elements into the same places (repeated registers aside)."""
    return canonical(before) == canonical(after)


def element(layout: LinearLayout, index: int) -> tuple[int, ...]:
    """Coordinates at an index of all inputs in one number, the first in the lowest bits."""
    at = 0
    for bit, value in enumerate(positions(layout)):
        if index >> bit & 1:
            at ^= value
    return unflattened(at, layout.sizes)
