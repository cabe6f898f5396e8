"""Bank conflicts of accesses to shared memory, from the layout of the registers and that of the buffer.

Shared memory has 32 banks of 4 bytes (CUDA C++ Programming Guide, "Shared Memory"): the lanes that are served
together, 128 bytes in all, take as many turns as there are different words in one bank. Linear layouts make this
exact: with ``r`` independent word addresses and ``b`` independent banks among the lanes it takes ``2**(r - b)`` turns.
"""

from __future__ import annotations

from irdiff_layouts.algebra import indices, rank
from irdiff_layouts.linear import LinearLayout
from irdiff_layouts.tiles import LANE, OFFSET, REGISTER, WARP

_BANKS, _BANK_BYTES, _WIDEST = 32, 4, 16


def ways(registers: LinearLayout, buffer: LinearLayout, element_bits: int, *, matrix: bool = False) -> int:
    """Turns for each wavefront of one access; 1 is free of conflicts. Raises LayoutError.

    ``matrix``: values packed in one 32-bit register are moved together, as ``ldmatrix`` does, even where they are
    not neighbours in the buffer.
    """
    offset_bits = len(buffer.bases(OFFSET))
    found = indices(registers, buffer)
    inside = (1 << offset_bits) - 1
    threads = [value & inside for value in found.get(REGISTER, ())]
    lanes = [value & inside for value in found.get(LANE, ())]
    size = max(1, element_bits // 8)
    vector = _vector(threads, [*lanes, *found.get(WARP, ())], _WIDEST // size)
    if matrix:
        lanes = lanes + threads[: max(0, (_BANK_BYTES // size).bit_length() - 1)]
        vector = min(vector, max(1, _BANK_BYTES // size))
    wide = max(vector * size, _BANK_BYTES)
    served = lanes if matrix else lanes[: (_BANKS * _BANK_BYTES // wide).bit_length() - 1]
    words = [value * size // wide for value in served]
    banks = [value % (_BANKS * _BANK_BYTES // wide) for value in words]
    return 1 << (rank(words) - rank(banks))


def _vector(threads: list[int], others: list[int], most: int) -> int:
    """Elements of one access: consecutive in a thread's registers, at a multiple of their number in every thread."""
    vector = 1
    while vector < most and vector in threads:
        wider = vector * 2
        rest = [value for value in threads if value >= wider or value & (value - 1)]
        if any(value % wider for value in (*rest, *others)):
            break
        vector = wider
    return vector
