"""Layouts of AMD's matrix units: results and operands of ``mfma`` (CDNA) and ``wmma`` (RDNA).

``AMDMfmaEncodingAttr``, ``AMDWmmaEncodingAttr``, ``mfmaDotToLinearLayout`` and ``wmmaDotOperandToLinearLayout`` of
Triton 3.6's ``LinearLayoutConversions.cpp``; lanes and registers are those that AMD's matrix instruction calculator
prints.
"""

from __future__ import annotations

from collections.abc import Sequence

from irdiff_layouts.attribute import Layout, Value, rows
from irdiff_layouts.linear import Basis, LayoutError, LinearLayout, bits, identity, nothing, of_bases, zeros
from irdiff_layouts.tiles import (
    LANE,
    REGISTER,
    WARP,
    blocks,
    broadcast_box,
    checked_box,
    fitted,
    matrix_order,
    operand_order,
    shared_by,
)

_WAVE = 64
"""Lanes of a wave of CDNA; RDNA's ``wmma`` works on 32."""


def mfma(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttg.amd_mfma<{version, warpsPerCTA, instrShape, isTransposed}>``: where the result is."""
    rank = len(shape)
    height, width = _instruction(layout)
    order = matrix_order(rank)
    across, along = order[1], order[0]
    if layout.flag("isTransposed", "transposed"):
        height, width, across, along = width, height, along, across
    elif (height, width) == (64, 4):
        raise LayoutError("64x4 without being transposed")
    together = 1 if layout.number("elementBitWidth", 32) == 64 else 4
    tile = (
        nothing(rank)
        * identity(REGISTER, together, across, rank)
        * identity(LANE, width, along, rank)
        * identity(LANE, max(1, _WAVE // width), across, rank)
    )
    if tile.sizes[across] < height:
        tile = tile * identity(REGISTER, height // tile.sizes[across], across, rank)
    return _spread(tile, layout, shape, order)


def mfma_operand(layout: Layout, parent: Layout, shape: Sequence[int]) -> LinearLayout:
    """Operand A or B of ``mfma``: ``kWidth`` values along K in a lane, the rows or columns over the lanes."""
    rank, operand, width = len(shape), layout.number("opIdx"), layout.number("kWidth")
    order = operand_order(operand, rank)
    across = _instruction(parent)[operand]
    tile = (
        nothing(rank)
        * identity(REGISTER, width, order[0], rank)
        * identity(LANE, across, order[1], rank)
        * identity(LANE, max(1, _WAVE // across), order[0], rank)
    )
    if across == _WAVE:  # the 64 side of 64x4 and 4x64 takes 16 instructions for the K of one
        tile = tile * identity(REGISTER, 16, order[0], rank)
    return _spread(tile, parent, shape, order, without=order[0])


def wmma(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttg.amd_wmma<{version, isTranspose, warpsPerCTA}>``: eight values of a 16x16 result in each lane."""
    rank = len(shape)
    order = matrix_order(rank)
    across, along = order[1], order[0]
    if layout.flag("isTransposed", "isTranspose"):
        across, along = along, across
    sixteen = identity(LANE, 16, along, rank)
    if _version(layout) == 1:  # the halves of a wave take turns row by row
        tile = sixteen * identity(LANE, 2, across, rank) * identity(REGISTER, 8, across, rank)
    else:
        tile = identity(REGISTER, 8, across, rank) * sixteen * identity(LANE, 2, across, rank)
    return _spread(tile, layout, shape, order)


def wmma_operand(layout: Layout, parent: Layout, shape: Sequence[int]) -> LinearLayout:
    """Operand A or B of ``wmma``; on RDNA3 (version 1) both halves of a wave hold the same."""
    rank, operand, width = len(shape), layout.number("opIdx"), layout.number("kWidth")
    order = operand_order(operand, rank)
    halves = zeros(LANE, 2, rank) if _version(parent) == 1 else identity(LANE, 2, order[0], rank)
    tile = (
        nothing(rank)
        * identity(REGISTER, width, order[0], rank)
        * identity(LANE, 16, order[1], rank)
        * halves
    )
    deep = (
        parent.numbers("instrShape")[2:]
        if "ctaLayout" in parent.fields and "instrShape" in parent.fields
        else ()
    )
    if deep and deep[0] > tile.sizes[order[0]]:  # Triton 3.7 and newer fill all of K of one instruction
        tile = tile * identity(REGISTER, deep[0] // tile.sizes[order[0]], order[0], rank)
    return _spread(tile, parent, shape, order, without=order[0])


def _instruction(layout: Layout) -> tuple[int, int]:
    """Rows and columns of one instruction."""
    found = layout.numbers("instrShape")[:2]
    if found not in ((32, 32), (16, 16), (64, 4), (4, 64)):
        raise LayoutError(f"no mfma instruction is {list(found)}")
    return found[0], found[1]


def _version(layout: Layout) -> int:
    version = layout.number("version", 1)
    size = layout.numbers("instrShape")[:2] if "instrShape" in layout.fields else (16, 16)
    if version not in (1, 2, 3) or size != (16, 16):
        raise LayoutError(f"wmma version {version}")
    return version


def _spread(
    tile: LinearLayout, layout: Layout, shape: Sequence[int], order: Sequence[int], without: int = -1
) -> LinearLayout:
    """The tile of one instruction over the tiles of a warp, the warps, and the rest of the shape.

    ``without``: the dimension (K of an operand) along which warps hold the same.
    """
    rank = len(shape)
    cluster = blocks(layout, rank)
    if without >= 0:
        cluster = shared_by(cluster, without)
    given = layout.fields.get("ctaLayout")
    if isinstance(given, dict):
        return fitted(tile * _given(given, rank, without), cluster, shape, order)
    cluster = cluster.shrunk(shape)
    part = [max(1, size // split) for size, split in zip(shape, cluster.sizes, strict=True)]
    warps = [
        1 if dim == without else count
        for dim, count in enumerate(checked_box(layout.numbers("warpsPerCTA"), rank))
    ]
    tiles = [
        1 if dim == without else count
        for dim, count in enumerate(
            checked_box(
                layout.numbers("tilesPerWarp") if "tilesPerWarp" in layout.fields else (1,) * rank, rank
            )
        )
    ]
    registers = list(tile.bases(REGISTER))
    sizes = list(tile.sizes)
    for dim in order:  # one dimension after the other: tiles of a warp, then what is left beyond all warps
        size = tile.sizes[dim]
        registers += [_along(dim, size << bit, rank) for bit in range(bits(tiles[dim]))]
        beyond = size * tiles[dim] * (1 << bits(warps[dim]))
        sizes[dim] = max(beyond, part[dim])
        registers += [_along(dim, beyond << bit, rank) for bit in range(bits(sizes[dim] // beyond))]
    steps = broadcast_box(WARP, layout.numbers("warpsPerCTA"), matrix_order(rank), without)
    walked = tuple(
        tuple(value * tile.sizes[dim] * tiles[dim] for dim, value in enumerate(basis))
        for basis in steps.bases(WARP)
    )
    spread = LinearLayout(
        ((REGISTER, tuple(registers)), (LANE, tile.bases(LANE)), (WARP, walked)), tuple(sizes)
    )
    return spread.shrunk(part) * cluster


def _given(fields: dict[str, Value], rank: int, without: int) -> LinearLayout:
    """Registers and warps as bases in tiles (``ctaLayout`` of ``amd_wmma``, Triton 3.7 and newer)."""
    found = of_bases(((name, rows(fields.get(name, ()), name)) for name in (REGISTER, WARP)), rank)
    return found if without < 0 else shared_by(found, without).without_repeats(REGISTER)


def _along(dim: int, value: int, rank: int) -> Basis:
    return tuple(value if at == dim else 0 for at in range(rank))
