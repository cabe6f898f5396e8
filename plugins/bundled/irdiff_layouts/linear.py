"""Linear layouts: maps from bits of hardware indices to coordinates of a tensor, linear over GF(2).

A layout has named inputs (``register``, ``lane``, ``warp``, ``block``; ``offset`` and ``block`` for shared memory;
``row`` and ``col`` for tensor memory). Each input bit has a *basis*: the coordinates it stands for. The element at
an index is the exclusive or of the bases of the bits set in it. A zero basis means that the same element is found
at both values of that bit (a broadcast).

Invariant: every output size is a power of two and every basis is smaller than the sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Basis = tuple[int, ...]
"""One coordinate for each dimension of the tensor."""

LARGEST = 1 << 31
"""Sizes from here on are no sizes of a tensor: Triton's own limit is 2**20 elements."""


class LayoutError(ValueError):
    """The layout or shape is not one that a linear layout can be made of."""


@dataclass(frozen=True, slots=True)
class LinearLayout:
    """The map. ``layout * other`` puts another one outside of it, as tiles that repeat."""

    inputs: tuple[tuple[str, tuple[Basis, ...]], ...]
    """(name, bases from the lowest bit up), in order of significance: a later input is the more significant."""
    sizes: tuple[int, ...]
    """Size of each dimension of the tensor."""

    @property
    def rank(self) -> int:
        """Dimensions of the tensor."""
        return len(self.sizes)

    def bases(self, name: str) -> tuple[Basis, ...]:
        """Bases of one input; none where there is no such input."""
        return next((found for known, found in self.inputs if known == name), ())

    def apply(self, indices: Mapping[str, int]) -> Basis:
        """Coordinates at hardware indices; an input that is left out is 0."""
        at = [0] * self.rank
        for name, bases in self.inputs:
            index = indices.get(name, 0)
            for bit, basis in enumerate(bases):
                if index >> bit & 1:
                    at = [before ^ after for before, after in zip(at, basis, strict=True)]
        return tuple(at)

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """The layout inside, the other one outside: its coordinates are multiplied by this one's sizes."""
        if self.rank != other.rank:
            raise LayoutError(f"layouts of rank {self.rank} and {other.rank}")
        scale, plain = self.sizes, all(size == 1 for size in self.sizes)
        inputs = dict(self.inputs)
        for name, bases in other.inputs:
            outside = (
                bases
                if plain
                else tuple(
                    tuple([value * size for value, size in zip(basis, scale, strict=True)]) for basis in bases
                )
            )
            inputs[name] = inputs.get(name, ()) + outside
        return LinearLayout(
            tuple(inputs.items()), tuple([size * more for size, more in zip(scale, other.sizes, strict=True)])
        )

    def grown(self, shape: Sequence[int], order: Sequence[int], name: str) -> LinearLayout:
        """Repeated along each dimension until it has at least ``shape``; bits are added to the input ``name``.

        ``order`` says which dimension grows first.
        """
        layout = self
        for dim in order:
            if layout.sizes[dim] < shape[dim]:
                layout = layout * identity(name, shape[dim] // layout.sizes[dim], dim, self.rank)
        return layout

    def shrunk(self, shape: Sequence[int], *, drop: str = "") -> LinearLayout:
        """Cut to ``shape``: the bits that lead out of it, largest first, lead nowhere (a broadcast).

        Those of the input ``drop`` are left out instead.
        """
        if all(size <= wanted for size, wanted in zip(self.sizes, shape, strict=True)):
            return self
        bases = {name: [list(basis) for basis in found] for name, found in self.inputs}
        dropped: set[int] = set()
        for dim, wanted in enumerate(shape):
            size = self.sizes[dim]
            if size <= wanted:
                continue
            found = [
                (basis[dim], name, bit)
                for name, rows in bases.items()
                for bit, basis in enumerate(rows)
                if basis[dim]
            ]
            if any(value & (value - 1) for value, _, _ in found):
                raise LayoutError("a swizzled layout does not fit into the shape")
            for _, name, bit in sorted(found, key=lambda entry: -entry[0]):
                if size <= wanted:
                    break
                if name == drop:
                    dropped.add(bit)
                else:
                    bases[name][bit][dim] = 0
                size //= 2
        return LinearLayout(
            tuple(
                (
                    name,
                    tuple(
                        tuple(basis) for bit, basis in enumerate(rows) if name != drop or bit not in dropped
                    ),
                )
                for name, rows in bases.items()
            ),
            tuple(min(size, wanted) for size, wanted in zip(self.sizes, shape, strict=True)),
        )

    def without(self, dim: int) -> LinearLayout:
        """One dimension taken away."""
        return LinearLayout(
            tuple(
                (name, tuple((*basis[:dim], *basis[dim + 1 :]) for basis in bases))
                for name, bases in self.inputs
            ),
            (*self.sizes[:dim], *self.sizes[dim + 1 :]),
        )

    def reordered(self, dims: Sequence[int]) -> LinearLayout:
        """Dimensions in another order: the new dimension ``i`` is the old ``dims[i]``."""
        return LinearLayout(
            tuple(
                (name, tuple(tuple(basis[dim] for dim in dims) for basis in bases))
                for name, bases in self.inputs
            ),
            tuple(self.sizes[dim] for dim in dims),
        )

    def reshaped(self, sizes: Sequence[int]) -> LinearLayout:
        """The same elements in row-major order under another shape with as many elements."""
        return LinearLayout(
            tuple(
                (name, tuple(unflattened(flattened(basis, self.sizes), sizes) for basis in bases))
                for name, bases in self.inputs
            ),
            tuple(sizes),
        )

    def flat(self, name: str) -> tuple[int, ...]:
        """Bases of an input as row-major positions in the tensor, which are linear over GF(2) as well."""
        return tuple(flattened(basis, self.sizes) for basis in self.bases(name))

    def without_repeats(self, name: str) -> LinearLayout:
        """Zero bases of an input taken away: registers that hold what another one holds."""
        return LinearLayout(
            tuple(
                (known, tuple(basis for basis in bases if known != name or any(basis)))
                for known, bases in self.inputs
            ),
            self.sizes,
        )


def identity(name: str, size: int, dim: int, rank: int) -> LinearLayout:
    """An input that walks along one dimension."""
    count = bits(size)
    return LinearLayout(
        ((name, tuple(_unit(1 << bit, dim, rank) for bit in range(count))),),
        _unit(size, dim, rank, rest=1),
    )


def zeros(name: str, size: int, rank: int) -> LinearLayout:
    """An input at every value of which the same element is found."""
    return LinearLayout(((name, ((0,) * rank,) * bits(size)),), (1,) * rank)


def nothing(rank: int) -> LinearLayout:
    """A layout of one element without inputs: what ``*`` leaves as it is."""
    return LinearLayout((), (1,) * rank)


def block(name: str, shape: Sequence[int], order: Sequence[int]) -> LinearLayout:
    """An input that walks through a box, along ``order[0]`` first."""
    rank = len(shape)
    bases = tuple(_unit(1 << bit, dim, rank) for dim in order for bit in range(bits(shape[dim])))
    return LinearLayout(((name, bases),), tuple(shape))


def of_bases(inputs: Iterable[tuple[str, Sequence[Sequence[int]]]], rank: int) -> LinearLayout:
    """A layout given by its bases; its sizes are the smallest that hold them."""
    found = tuple((name, tuple(tuple(basis) for basis in bases)) for name, bases in inputs)
    sizes = [1] * rank
    for _, bases in found:
        for basis in bases:
            if len(basis) != rank or any(not 0 <= value < LARGEST for value in basis):
                raise LayoutError(f"basis {basis} in a layout of rank {rank}")
            sizes = [max(size, 1 << value.bit_length()) for size, value in zip(sizes, basis, strict=True)]
    return LinearLayout(found, tuple(sizes))


def bits(size: int) -> int:
    """Base-2 logarithm. Raises LayoutError for what is no power of two or is no size at all."""
    if not 0 < size < LARGEST or size & (size - 1):
        raise LayoutError(f"{size} is no power of two")
    return size.bit_length() - 1


def flattened(basis: Sequence[int], sizes: Sequence[int]) -> int:
    """Row-major position."""
    at = 0
    for value, size in zip(basis, sizes, strict=True):
        at = at * size + value
    return at


def unflattened(at: int, sizes: Sequence[int]) -> Basis:
    """Coordinates of a row-major position."""
    found: list[int] = []
    for size in reversed(sizes):
        found.append(at % size)
        at //= size
    return tuple(reversed(found))


def _unit(value: int, dim: int, rank: int, rest: int = 0) -> Basis:
    return (*(rest,) * dim, value, *(rest,) * (rank - dim - 1))
