"""Layouts of tensor memory (cc 10): which element is in which row and column.

``tensorMemoryToLinearLayout`` of Triton 3.6's ``LinearLayoutConversions.cpp``; rows and columns are those of the
PTX ISA, "Tensor Memory".
"""

from __future__ import annotations

from collections.abc import Sequence

from irdiff_layouts.attribute import Layout
from irdiff_layouts.linear import LayoutError, LinearLayout, identity, zeros

ROW, COLUMN = "row", "col"

_NOT_UNDERSTOOD = ("CTASplitM", "CTASplitN", "CGALayout", "twoCTAs", "fp4Padded")
"""Parameters that no oracle here explains: pairs of blocks, padded FP4."""


def tensor_memory(layout: Layout, shape: Sequence[int], element_bits: int = 0) -> LinearLayout:
    """``#ttng.tensor_memory_encoding<blockM, blockN, colStride>`` of a matrix.

    Before Triton 3.4 ``unpacked`` says that each element takes 32 bits: a stride of 32 over its ``element_bits``.
    """
    if len(shape) != 2:
        raise LayoutError("tensor memory holds matrices")
    rows, columns = layout.number("blockM"), min(layout.number("blockN"), shape[1])
    stride = layout.number("colStride", 1)
    if layout.flag("unpacked"):
        stride = 32 // element_bits if 0 < element_bits <= 32 else 0
    if any(name in layout.fields for name in _NOT_UNDERSTOOD) or rows not in (64, 128):
        raise LayoutError("an encoding of tensor memory that is not understood")
    tile = zeros(COLUMN, stride, 2) * identity(COLUMN, columns, 1, 2)
    if rows == 64:
        if shape[0] > rows:
            other, sizes = (rows, 0), (2 * rows, columns)
        elif shape[1] > columns:
            other, sizes = (0, columns), (rows, 2 * columns)
        else:
            other, sizes = (0, 0), (rows, columns)
        bases = ((1, 0), (2, 0), (4, 0), (8, 0), other, (16, 0), (32, 0))
        tile = LinearLayout(((ROW, bases), (COLUMN, tile.bases(COLUMN))), sizes)
    else:
        tile = identity(ROW, rows, 0, 2) * tile
    return tile.grown(shape, (0, 1), COLUMN)


def scales(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttng.tensor_memory_scales_encoding<>``: 32 rows of 4 scales, the same for each of four warps.

    ``tensorMemoryScalesToLinearLayout``; PTX ISA, "Scale Factor A ID" of ``tcgen05.mma``.
    """
    if (
        len(shape) != 2
        or set(layout.fields) - {"blockRepOrder"}
        or layout.fields.get("blockRepOrder") == "kThenMn"
    ):
        raise LayoutError("an encoding of scales that is not understood")
    tile = identity(ROW, 32, 0, 2) * zeros(ROW, 4, 2) * identity(COLUMN, 4, 1, 2) * identity(COLUMN, 2, 0, 2)
    return tile.grown(shape, (0, 1), COLUMN).shrunk(shape)
