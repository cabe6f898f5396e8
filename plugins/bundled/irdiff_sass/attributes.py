"""Records of ``.nv.info``: what the assembler tells the driver of a kernel (EIATTR_*).

Each record is ``u8 format, u8 tag`` and a value: format 1 none, 2 u8, 3 u16 (four bytes in all), 4 sized
(u16 length, payload, padded to four). Names of tags as ``cuobjdump -elf`` of CUDA 13.5 prints them. Unknown
tags are kept and skipped by their format. Measured on cubins of ptxas 12.4 to 13.5.
"""

from __future__ import annotations

import struct

import msgspec

from irdiff.api import ParseError
from irdiff_sass.kind import REBUILD

PARAMETER_BANK = 0x0A
EXTERNS = 0x0F
REQUIRED_THREADS = 0x10
MAXIMUM_THREADS = 0x05
FRAME_SIZE = 0x11
MINIMUM_STACK = 0x12
PARAMETER = 0x17
PARAMETERS_SIZE = 0x19
MAXIMUM_REGISTERS = 0x1B
MAXIMUM_STACK = 0x23
REGISTERS = 0x2F
API_VERSION = 0x37
BARRIERS = 0x4C
ANNOTATIONS = 0x55

TOOL_TAGS = frozenset({API_VERSION, 0x5F, 0x66, 0x6B, 0x6D})
"""Tags that say which tool wrote the cubin, and change nothing of what executes."""

OFFSET_TAGS = frozenset({0x1C, 0x28, 0x31, 0x34, 0x39, 0x46, 0x47, ANNOTATIONS})
"""Tags that list places in the code: exits, warp-wide and mbarrier instructions, spills ..."""

SYMBOL_FIRST = frozenset({PARAMETER_BANK, FRAME_SIZE, MINIMUM_STACK, MAXIMUM_STACK, REGISTERS})
"""Tags whose payload begins with the number of a symbol."""

UNKNOWN_STACK = 0xFFFFFFFF
"""A stack that the assembler could not bound (recursion)."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One attribute."""

    tag: int
    format: int
    payload: bytes
    """Two bytes for the formats without a length."""
    place: int
    """Byte offset of the record in the file."""

    def words(self) -> tuple[int, ...]:
        """The payload as unsigned 32-bit numbers; trailing bytes are dropped."""
        return struct.unpack(f"<{len(self.payload) // 4}I", self.payload[: len(self.payload) // 4 * 4])

    def small(self) -> int:
        """The value of a record without a length."""
        return self.payload[0] if self.format == 2 else struct.unpack("<H", self.payload[:2])[0]


def read_records(data: bytes, start: int, size: int) -> tuple[Record, ...]:
    """The records of one section of a file, which the caller has found to lie inside it.

    Raises ParseError for an unknown format or a record that runs over the end of its section.
    """
    records = []
    place, end = start, start + size
    while place < end:
        if place + 4 > end:
            raise ParseError("an attribute record is cut off", offset=place, hint=REBUILD)
        form, tag = data[place], data[place + 1]
        if form in (1, 2, 3):
            payload, step = data[place + 2 : place + 4], 4
        elif form == 4:
            length = struct.unpack_from("<H", data, place + 2)[0]
            payload, step = data[place + 4 : place + 4 + length], 4 + (length + 3) // 4 * 4
            if place + 4 + length > end:
                raise ParseError(f"an attribute record claims {length:,} bytes", offset=place, hint=REBUILD)
        else:
            raise ParseError(f"an attribute record has the unknown format {form}", offset=place, hint=REBUILD)
        records.append(Record(tag=tag, format=form, payload=payload, place=place))
        place += step
    return tuple(records)
