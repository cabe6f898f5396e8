"""Layouts of NVIDIA's matrix units in registers: results and operands of ``mma.sync`` (v2) and ``wgmma`` (v3).

``nvidiaMmaTile``, ``NvidiaMmaEncodingAttr::toLinearLayout`` and ``nvidiaDotToLinearLayout`` of Triton 3.6's
``LinearLayoutConversions.cpp``; the fragments are those of the PTX ISA, "Matrix Fragments for mma.m16n8k16".
"""

from __future__ import annotations

from collections.abc import Sequence

from irdiff_layouts.attribute import Layout
from irdiff_layouts.linear import LayoutError, LinearLayout, block, identity, nothing
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


def mma(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttg.nvidia_mma``: where the result of a matrix operation is."""
    rank = len(shape)
    version = layout.number("versionMajor")
    if version == 2:
        size = checked_box(layout.numbers("instrShape"), rank)
    elif version == 3:
        size = layout.numbers("instrShape")[:2]
        if rank != 2 or len(size) != 2:
            raise LayoutError("wgmma on a tensor that is no matrix")
    else:
        raise LayoutError(f"nvidia_mma version {version}")
    order = matrix_order(rank)
    warps = block(WARP, checked_box(layout.numbers("warpsPerCTA"), rank), _warp_order(version, rank))
    return fitted(_tile(size, 2, order) * warps, blocks(layout, rank), shape, order)


def dot_operand(layout: Layout, parent: Layout, shape: Sequence[int]) -> LinearLayout:
    """Operand A or B in registers; ``kWidth`` values along K are in one register."""
    rank = len(shape)
    version = parent.number("versionMajor")
    operand, width = layout.number("opIdx"), layout.number("kWidth")
    if version not in (2, 3) or operand not in (0, 1) or (version == 3 and operand == 1):
        raise LayoutError(f"operand {operand} of nvidia_mma version {version} in registers")
    order = operand_order(operand, rank)
    size = [1] * rank
    size[order[0]] = width * 8
    size[order[1]] = 16 if operand == 0 else 8
    warps = broadcast_box(
        WARP, checked_box(parent.numbers("warpsPerCTA"), rank), _warp_order(version, rank), order[0]
    )
    cluster = shared_by(blocks(parent, rank), order[0])
    return fitted(_tile(size, width, order) * warps, cluster, shape, order)


def _warp_order(version: int, rank: int) -> tuple[int, ...]:
    return matrix_order(rank, row_major=version != 3)


def _tile(size: Sequence[int], width: int, order: Sequence[int]) -> LinearLayout:
    """One instruction: ``width`` registers, 4 lanes along the inner dimension, 8 lanes along the outer one."""
    rank, inner, outer = len(size), order[0], order[1]
    if size[outer] % 8 or width <= 0 or size[inner] % (width * 4):
        raise LayoutError(f"no instruction is {list(size)}")
    return (
        nothing(rank)
        * identity(REGISTER, width, inner, rank)
        * identity(LANE, 4, inner, rank)
        * identity(LANE, 8, outer, rank)
        * identity(REGISTER, size[outer] // 8, outer, rank)
        * identity(REGISTER, size[inner] // (width * 4), inner, rank)
    )
