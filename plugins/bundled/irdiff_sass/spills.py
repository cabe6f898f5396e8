"""Bytes that registers are spilled to local memory and back, from the cubin alone.

ptxas from 12.8 on marks every spill and refill (EIATTR_ANNOTATIONS, kind 1). The widths of the marked STL and
LDL instructions sum to the "bytes spill stores" and "bytes spill loads" of ``ptxas -v``. Before 12.8 nothing is
marked: local accesses at a constant offset from the stack pointer R1 are then counted, an estimate, as an
array on the stack is reached that way too.
"""

from __future__ import annotations

import struct

import msgspec

from irdiff_sass.attributes import ANNOTATIONS
from irdiff_sass.cubin import Code, Cubin

STORE_LOCAL = 0x387
LOAD_LOCAL = 0x983
"""Low twelve bits of the instruction word: STL and LDL."""
WIDTHS = (1, 1, 2, 2, 4, 8, 16, 32)
"""Bytes by bits 73 to 75 of the instruction word."""
STACK_POINTER = 1
SPILL = 1
"""Kind of annotation."""


class Spills(msgspec.Struct, frozen=True, kw_only=True):
    """Spill traffic per thread of a whole cubin."""

    stores: int
    """Bytes."""
    loads: int
    """Bytes."""
    exact: bool
    store_sites: tuple[tuple[int, int], ...] = ()
    """(address, bytes) of each instruction that stores."""
    load_sites: tuple[tuple[int, int], ...] = ()
    strays: tuple[int, ...] = ()
    """Marked addresses that hold neither STL nor LDL."""


def count_spills(cubin: Cubin) -> Spills:
    """Spill bytes of all functions of a cubin, as ``ptxas -v`` counts them where the assembler marks them."""
    marks = cubin.records_spills
    stores: list[tuple[int, int]] = []
    loads: list[tuple[int, int]] = []
    strays: list[int] = []
    for code in cubin.codes:
        for offset in _marked(code) if marks else _by_stack_pointer(code):
            place = code.base + offset
            opcode, width = _local_access(code.data, offset)
            if opcode == STORE_LOCAL:
                stores.append((place, width))
            elif opcode == LOAD_LOCAL:
                loads.append((place, width))
            else:
                strays.append(place)
    return Spills(
        stores=sum(width for _, width in stores),
        loads=sum(width for _, width in loads),
        exact=marks or not (stores or loads),
        store_sites=tuple(stores),
        load_sites=tuple(loads),
        strays=tuple(strays),
    )


def _local_access(data: bytes, offset: int) -> tuple[int, int]:
    """(low twelve bits, width in bytes) of the instruction at an offset; zeros where there is none."""
    if offset % 16 or not 0 <= offset <= len(data) - 16:
        return 0, 0
    low, high = struct.unpack_from("<QQ", data, offset)
    return low & 0xFFF, WIDTHS[high >> 9 & 7]


def _marked(code: Code) -> list[int]:
    """Offsets of the spill annotations, each once, in order."""
    offsets: set[int] = set()
    for record in code.records:
        if record.tag == ANNOTATIONS and record.format == 4:
            words = record.words()
            offsets.update(
                offset for kind, offset in zip(words[::2], words[1::2], strict=False) if kind == SPILL
            )
    return sorted(offsets)


def _by_stack_pointer(code: Code) -> list[int]:
    """Offsets of STL and LDL whose address is R1 and a constant (bits 24 to 31 name the address register)."""
    found = []
    for index, (low, _) in enumerate(struct.iter_unpack("<QQ", code.data[: len(code.data) // 16 * 16])):
        if low & 0xFFF in (STORE_LOCAL, LOAD_LOCAL) and low >> 24 & 0xFF == STACK_POINTER:
            found.append(index * 16)
    return found
