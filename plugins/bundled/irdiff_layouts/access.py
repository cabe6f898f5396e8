"""What a layout means for accesses to memory, reductions and conversions: contiguity and how far data moves."""

from __future__ import annotations

from collections.abc import Iterable

from irdiff_layouts.algebra import reduced, same, solve
from irdiff_layouts.linear import LinearLayout
from irdiff_layouts.tiles import BLOCK, LANE, REGISTER, WARP

WIDEST = 16
"""Bytes that one thread reads or writes with one instruction at most (``ld.global.v4.b32``, ``dwordx4``)."""

INSIDE, LANES, WARPS, BLOCKS = "inside a thread", "across lanes", "across warps", "across blocks"
NOTHING = "nothing moves"


def bytes_each(element_bits: int) -> int:
    """Bytes of one element in memory: a bit takes a byte."""
    return max(1, (element_bits + 7) // 8)


def thread_bytes(layout: LinearLayout, element_bits: int) -> int:
    """Contiguous bytes of one thread along the dimension its registers walk first; at most :data:`WIDEST`."""
    return _thread_elements(layout, element_bits)[1] * bytes_each(element_bits)


def warp_bytes(layout: LinearLayout, element_bits: int) -> int:
    """Contiguous bytes that the lanes of a warp touch with one access of :func:`thread_bytes` each.

    Along one dimension: whether the next row follows in memory is not the layout's to say.
    """
    dim, elements = _thread_elements(layout, element_bits)
    lanes = {basis for basis in layout.bases(LANE) if any(basis)}
    reach = elements
    while _along(dim, reach, layout.rank) in lanes:
        reach *= 2
    return reach * bytes_each(element_bits)


def _thread_elements(layout: LinearLayout, element_bits: int) -> tuple[int, int]:
    """(fastest dimension, contiguous elements of a thread along it)."""
    registers = [basis for basis in layout.bases(REGISTER) if any(basis)]
    lanes = [basis for basis in layout.bases(LANE) if any(basis)]
    units = [basis for basis in (*registers[:1], *lanes) if sum(basis) == 1]
    if not units:
        return layout.rank - 1, 1
    dim = units[0].index(1)
    most = max(1, WIDEST // bytes_each(element_bits))
    elements = 1
    for basis in registers:
        if elements >= most or basis != _along(dim, elements, layout.rank):
            break
        elements *= 2
    return dim, elements


def reach(layout: LinearLayout, axis: int) -> tuple[str, ...]:
    """What a reduction along an axis has to cross; inside a thread alone where the axis is in its registers."""
    crossed = tuple(
        words
        for name, words in ((LANE, LANES), (WARP, WARPS), (BLOCK, BLOCKS))
        if any(basis[axis] for basis in layout.bases(name))
    )
    return crossed or (INSIDE,)


def movement(before: LinearLayout, after: LinearLayout) -> str:
    """The farthest that data moves in a conversion from one layout to another of the same shape."""
    if same(before, after):
        return NOTHING
    inputs = (REGISTER, LANE, WARP, BLOCK)
    for count, words in enumerate((INSIDE, LANES, WARPS), start=1):
        if _reachable(before, after, inputs[:count], inputs[count:]):
            return words
    return BLOCKS


def _reachable(before: LinearLayout, after: LinearLayout, free: Iterable[str], fixed: Iterable[str]) -> bool:
    """Whether each element needed is found by changing the ``free`` indices alone."""
    rows = reduced([value for name in free for value in before.flat(name)])
    wanted = [value for name in free for value in after.flat(name)]
    for name in fixed:
        here, there = before.flat(name), after.flat(name)
        bits = max(len(here), len(there))
        pairs = zip(_padded(here, bits), _padded(there, bits), strict=True)
        wanted += [value ^ other for value, other in pairs]
    return all(solve(rows, value) is not None for value in wanted)


def _padded(values: tuple[int, ...], count: int) -> tuple[int, ...]:
    return (*values, *(0,) * (count - len(values)))


def _along(dim: int, value: int, rank: int) -> tuple[int, ...]:
    return tuple(value if at == dim else 0 for at in range(rank))
