"""Layouts of shared memory: which element is at which offset (in elements, of the block's part).

``swizzledSharedToLinearLayout``, ``nvmmaSharedToLinearLayout``, ``sharedToLinearLayoutAMDRotating`` of Triton 3.6's
``LinearLayoutConversions.cpp``, ``getTMABlockShape`` of ``TritonNvidiaGPU/IR/TritonNvidiaGPUOpInterfaces``; the
swizzles are those of the PTX ISA, "Swizzling Modes" of tensor copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from irdiff_layouts.attribute import Layout
from irdiff_layouts.linear import LayoutError, LinearLayout, bits, block, identity, of_bases
from irdiff_layouts.tiles import BLOCK, OFFSET, blocks, checked_box, checked_order, fitted

_LARGEST_BOX = 256
"""Elements of one dimension of a tensor copy: PTX ISA, ``cp.async.bulk.tensor``."""


def swizzled(layout: Layout, shape: Sequence[int], *, rotating: bool = False) -> LinearLayout:
    """``#ttg.swizzled_shared<{vec, perPhase, maxPhase, order}>``: rows shifted by a phase, in vectors.

    ``rotating`` is ``#ttg.amd_rotating_shared``: the phase also changes from one group of rows to the next.
    """
    rank = len(shape)
    order = checked_order(layout.numbers("order"), rank)
    cluster = blocks(layout, rank)
    part = _part(shape, cluster)
    if rank == 1:
        return fitted(identity(OFFSET, part[0], 0, 1), cluster, shape, order, OFFSET)
    vector, per_phase, phases = (layout.number(name) for name in ("vec", "perPhase", "maxPhase"))
    if min(vector, per_phase, phases) < 1:
        raise LayoutError("a swizzle of nothing")
    column, row = order[0], order[1]

    def phase(at: int) -> int:
        turn = at // per_phase % phases
        return turn ^ (at // phases // per_phase % phases) if rotating else turn

    bases = [_at(rank, {column: 1 << bit}) for bit in range(bits(part[column]))]
    bases += [
        _at(rank, {row: 1 << bit, column: vector * phase(1 << bit) % part[column]})
        for bit in range(bits(part[row]))
    ]
    sizes = [size if dim in (column, row) else 1 for dim, size in enumerate(part)]
    tile = LinearLayout(((OFFSET, tuple(bases)),), tuple(sizes))
    for dim in order[2:]:
        tile = tile * identity(OFFSET, part[dim], dim, rank)
    return fitted(tile, cluster, shape, order, OFFSET)


def nvmma(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttg.nvmma_shared<{swizzlingByteWidth, transposed, elementBitWidth}>``: what TMA writes and wgmma reads."""
    rank = len(shape)
    cluster = blocks(layout, rank)
    part = _part(shape, cluster)
    bytes_wide, bit_width = layout.number("swizzlingByteWidth"), layout.number("elementBitWidth")
    transposed, padded = layout.flag("transposed"), layout.flag("fp4Padded")
    if bit_width not in (8, 16, 32, 64) or bytes_wide not in (0, 32, 64, 128):
        raise LayoutError(f"no swizzle of {bytes_wide} bytes for elements of {bit_width} bits")
    inner = 0 if transposed else rank - 1
    box = [min(size * (2 if padded and dim == inner else 1), _LARGEST_BOX) for dim, size in enumerate(part)]
    if bytes_wide:
        box[inner] = 8 * bytes_wide // bit_width
    if padded:
        box[inner] //= 2
    if not bytes_wide:
        if transposed:  # Triton 3.6 does not transpose it, 3.9 does
            raise LayoutError("transposed without a swizzle: releases differ")
        outwards = tuple(range(rank))[::-1]
        return fitted(block(OFFSET, box, outwards), cluster, shape, outwards, OFFSET)
    if rank < 2:
        raise LayoutError("a swizzled vector")
    turned = (*range(1, rank), 0) if transposed else tuple(range(rank))
    pre = [box[dim] for dim in turned]
    core = _core(bytes_wide, bit_width, padded=padded)
    flat = (prod(box[:-1]), box[-1])
    if transposed:
        flat = (flat[1], flat[0])
    if flat[0] < core.sizes[0] or flat[1] < core.sizes[1]:
        raise LayoutError("smaller than one swizzled tile")
    tile = core.grown(flat, (0, 1), OFFSET).reshaped(pre)
    if transposed:
        tile = tile.reordered((rank - 1, *range(rank - 1)))
    return fitted(tile, cluster, shape, range(rank), OFFSET)


def _core(bytes_wide: int, bit_width: int, *, padded: bool) -> LinearLayout:
    """Eight rows of the swizzle's width; 16-byte chunks of a row are exchanged by the row's number."""
    vector, per_phase, phases = 128 // bit_width, 128 // bytes_wide, bytes_wide // 16
    columns = [1 << bit for bit in range(bits(8 * bytes_wide // bit_width))]
    chunks = [vector * (row // per_phase % phases) for row in (1, 2, 4)]
    if padded:  # 8 elements, then as many that are not there
        columns = [column // 16 * 8 + column % 8 for column in columns]
        chunks = [chunk // 16 * 8 + chunk % 8 for chunk in chunks]
    bases = [(0, column) for column in columns] + [
        (row, chunk) for row, chunk in zip((1, 2, 4), chunks, strict=True)
    ]
    return LinearLayout(((OFFSET, tuple(bases)),), (8, 8 * bytes_wide // bit_width // (2 if padded else 1)))


def linear(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttg.shared_linear<{offset, block}>``: its own bases."""
    return _given(layout, shape)


def padded(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    """``#ttg.padded_shared<[512:+8] {...}>`` without its padding, which :func:`padding` gives."""
    if "offset" in layout.fields:
        return _given(layout, shape)
    rank = len(shape)
    order = checked_order(layout.numbers("order"), rank)
    cluster = blocks(layout, rank)
    own = checked_box(layout.numbers("shape"), rank)
    return fitted(block(OFFSET, _part(own, cluster), order), cluster, shape, order, OFFSET)


def padding(layout: Layout) -> tuple[tuple[int, int], ...]:
    """(interval, padding) in elements: after every ``interval`` elements ``padding`` are left out."""
    return tuple((row[0], row[1]) for row in layout.rows("padding") if len(row) == 2)


def hopper_before_33(layout: Layout, shape: Sequence[int], element_bits: int) -> LinearLayout:
    """``shared<{vec, perPhase, maxPhase, order, hasLeadingOffset = true}>``: nvmma_shared before Triton 3.3."""
    order = checked_order(layout.numbers("order"), len(shape))
    phases, per_phase = layout.number("maxPhase"), layout.number("perPhase")
    width = {(8, 1): 128, (4, 2): 64, (2, 4): 32}.get((phases, per_phase))
    if width is None or len(shape) != 2:
        raise LayoutError("a leading offset without a swizzle of tensor copies")
    fields = dict(layout.fields)
    fields |= {"swizzlingByteWidth": width, "elementBitWidth": element_bits, "transposed": order[0] == 0}
    return nvmma(Layout("nvmma_shared", fields), shape)


def _given(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    found = of_bases(((OFFSET, layout.rows("offset")), (BLOCK, layout.rows("block"))), len(shape))
    if found.sizes != tuple(shape):
        raise LayoutError(f"a layout over {found.sizes} for a buffer of {tuple(shape)}")
    return found


def _part(shape: Sequence[int], cluster: LinearLayout) -> list[int]:
    return [max(1, size // split) for size, split in zip(shape, cluster.shrunk(shape).sizes, strict=True)]


def _at(rank: int, values: dict[int, int]) -> tuple[int, ...]:
    return tuple(values.get(dim, 0) for dim in range(rank))
