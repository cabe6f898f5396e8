"""What all layouts of tensors share: how a tile of one block is fitted to a shape, and how blocks divide a tensor.

Follows ``combineCtaCgaWithShape`` of ``lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp`` (Triton 3.6).
"""

from __future__ import annotations

from collections.abc import Sequence

from irdiff_layouts.attribute import Layout
from irdiff_layouts.linear import LayoutError, LinearLayout, identity, nothing, of_bases, zeros

REGISTER, LANE, WARP, BLOCK, OFFSET = "register", "lane", "warp", "block", "offset"

_BLOCKS = ("CGALayout", "cgaLayout")
"""Blocks of a cluster as bases: Triton 3.6 and newer."""


def matrix_order(rank: int, *, row_major: bool = True) -> tuple[int, ...]:
    """Dimensions from the fastest on; the last two are the matrix."""
    if rank < 2:
        raise LayoutError(f"a matrix of rank {rank}")
    order = list(range(rank))[::-1]
    if not row_major:
        order[0], order[1] = order[1], order[0]
    return tuple(order)


def operand_order(operand: int, rank: int) -> tuple[int, ...]:
    """Dimensions of a dot operand from the fastest on: K first."""
    return matrix_order(rank, row_major=operand == 0)


def blocks(layout: Layout, rank: int) -> LinearLayout:
    """How the blocks of a cluster divide a tensor."""
    for name in _BLOCKS:
        if name in layout.fields:
            return of_bases(((BLOCK, layout.rows(name)),), rank)
    if "CTAsPerCGA" not in layout.fields:
        return LinearLayout(((BLOCK, ()),), (1,) * rank)
    count, split = layout.numbers("CTAsPerCGA"), layout.numbers("CTASplitNum")
    order = checked_order(layout.numbers("CTAOrder"), rank)
    if not len(count) == len(split) == rank or not all(split):
        raise LayoutError("a cluster of another rank")
    found = nothing(rank)
    for dim in order:
        found = found * identity(BLOCK, split[dim], dim, rank) * zeros(BLOCK, count[dim] // split[dim], rank)
    return found


def shared_by(cluster: LinearLayout, dim: int) -> LinearLayout:
    """The cluster of a dot operand: blocks that differ along K only read the same."""
    return of_bases(
        (
            (name, [[0 if at == dim else value for at, value in enumerate(basis)] for basis in bases])
            for name, bases in cluster.inputs
        ),
        cluster.rank,
    )


def fitted(
    tile: LinearLayout,
    cluster: LinearLayout,
    shape: Sequence[int],
    order: Sequence[int],
    grows: str = REGISTER,
) -> LinearLayout:
    """The tile of one block, repeated or cut to its part of ``shape``, times the blocks."""
    cluster = cluster.shrunk(shape)
    part = [max(1, size // split) for size, split in zip(shape, cluster.sizes, strict=True)]
    return tile.grown(part, order, grows).shrunk(part) * cluster


def broadcast_box(name: str, shape: Sequence[int], order: Sequence[int], without: int) -> LinearLayout:
    """An input that walks through a box, standing still along one dimension (K of a dot operand)."""
    rank = len(shape)
    layout = LinearLayout(((name, ()),), (1,) * rank)
    for dim in order:
        step = zeros(name, shape[dim], rank) if dim == without else identity(name, shape[dim], dim, rank)
        layout = layout * step
    return layout


def checked_order(order: Sequence[int], rank: int) -> tuple[int, ...]:
    """An order that is a permutation. Raises LayoutError where it is none."""
    if sorted(order) != list(range(rank)):
        raise LayoutError(f"the order {list(order)} in rank {rank}")
    return tuple(order)


def checked_box(box: Sequence[int], rank: int) -> tuple[int, ...]:
    """A box with one size for each dimension. Raises LayoutError where it is none."""
    if len(box) != rank:
        raise LayoutError(f"{list(box)} in rank {rank}")
    return tuple(box)
