"""Layouts without a matrix unit: blocked, linear, and operands of a dot on blocked layouts.

``BlockedEncodingAttr``, ``LinearEncodingAttr`` and ``fmaDotToLinearLayout`` of Triton 3.6
(``lib/Dialect/TritonGPU/IR/Dialect.cpp`` and ``LinearLayoutConversions.cpp``).
"""

from __future__ import annotations

from collections.abc import Sequence

from irdiff_layouts.attribute import Layout
from irdiff_layouts.linear import LinearLayout, block, of_bases
from irdiff_layouts.tiles import (
    BLOCK,
    LANE,
    REGISTER,
    WARP,
    blocks,
    broadcast_box,
    checked_box,
    checked_order,
    fitted,
    shared_by,
)


def blocked(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttg.blocked<{sizePerThread, threadsPerWarp, warpsPerCTA, order}>``."""
    rank = len(shape)
    order = checked_order(layout.numbers("order"), rank)
    tile = (
        block(REGISTER, checked_box(layout.numbers("sizePerThread"), rank), order)
        * block(LANE, checked_box(layout.numbers("threadsPerWarp"), rank), order)
        * block(WARP, checked_box(layout.numbers("warpsPerCTA"), rank), order)
    )
    return fitted(tile, blocks(layout, rank), shape, order)


def linear(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttg.linear<{register, lane, warp, block}>``: its own bases, repeated or cut to the shape."""
    rank = len(shape)
    found = of_bases(((name, layout.rows(name)) for name in (REGISTER, LANE, WARP, BLOCK)), rank)
    order = dict.fromkeys(
        next(dim for dim, value in enumerate(basis) if value) for basis in found.bases(REGISTER) if any(basis)
    )
    order.update(dict.fromkeys(range(rank - 1, -1, -1)))
    return found.grown(shape, tuple(order), REGISTER).shrunk(shape, drop=REGISTER)


def dot_operand(layout: Layout, parent: Layout, shape: Sequence[int]) -> LinearLayout:
    """An operand of a dot without a matrix unit: each thread holds all of K for its rows or columns."""
    rank = len(shape)
    order = checked_order(parent.numbers("order"), rank)
    inner = rank - 1 if layout.number("opIdx") == 0 else rank - 2
    size = list(checked_box(parent.numbers("sizePerThread"), rank))
    size[inner] = shape[inner]
    tile = (
        block(REGISTER, size, order)
        * broadcast_box(LANE, checked_box(parent.numbers("threadsPerWarp"), rank), order, inner)
        * broadcast_box(WARP, checked_box(parent.numbers("warpsPerCTA"), rank), order, inner)
    )
    return fitted(tile, shared_by(blocks(parent, rank), inner), shape, order)
