"""The ELF container of a cubin: sections and symbols, with every offset checked before it is followed.

Format: System V ABI (ELF-64 object file format). Invariant: sections with content lie inside the file and do
not overlap, so work done on all of them is bounded by the size of the file. The sections ``.nv.merc.*`` and
``.nv.capmerc.*`` of sm_100 and newer say the same things once more, partly in the same bytes: they are kept
apart as ``copies``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import msgspec

from irdiff.api import ParseError
from irdiff_sass.kind import HEADER_SIZE, REBUILD, check_kind

SECTION_SIZE = 64
SYMBOL_SIZE = 24
RELOCATION_SIZES = {4: 24, 9: 16}
"""Bytes of one entry by section type (RELA, REL)."""
COPIES = (".nv.merc.", ".nv.capmerc.")
"""Prefixes of the sections that repeat a cubin in another encoding (ptxas from 12.8 on, sm_100 and newer)."""
SYMTAB = 2
FUNCTION = 2
OBJECT = 1
"""Kinds of symbols."""
NOBITS = 8
NAME_LIMIT = 16384
"""Bytes; longer names are refused, so that many sections with one endless name cost little."""
SIZE_LIMIT = 1 << 32
"""Bytes that a section without content (shared memory) may claim."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One section header, checked."""

    index: int
    name: str
    kind: int
    """``sh_type``; 8 (NOBITS) has a size and no content."""
    flags: int
    offset: int
    """Byte offset in the file."""
    size: int
    link: int
    info: int
    entry_size: int
    """Bytes of one entry of a table; 0 for other sections."""


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    """One symbol."""

    name: str
    kind: int
    """Low four bits of ``st_info``: 2 is a function, 3 a section."""
    other: int
    section: int
    value: int
    size: int


class Elf(msgspec.Struct, frozen=True, kw_only=True):
    """A 64-bit little-endian ELF file for CUDA."""

    data: bytes
    abi: int
    """``e_ident[8]``: 7 for ptxas up to 12.9 on targets up to sm_90a, else 8."""
    version: int
    """``e_version``: in ABI 7 ten times the toolkit's version."""
    flags: int
    sections: tuple[Section, ...]
    """All sections but the copies; ``index`` is the number in the file."""
    by_index: dict[int, Section]
    symbols: Section | None
    """The symbol table."""
    copies: tuple[Section, ...] = ()
    """Sections in the file's second encoding."""
    missing: str | None = None
    """What is cut off at the file's end though all that is read here is there: ``program headers``."""

    def content(self, section: Section) -> bytes:
        """The bytes of a section; empty for one without content."""
        if section.kind in (0, NOBITS):
            return b""
        return self.data[section.offset : section.offset + section.size]

    def named(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((section for section in self.sections if section.name == name), None)

    def symbol(self, index: int) -> Symbol | None:
        """A symbol by number, or ``None`` where there is none; its name is read only now."""
        table = self.symbols
        if table is None or not 0 <= index < table.size // SYMBOL_SIZE:
            return None
        place = table.offset + index * SYMBOL_SIZE
        name, info, other, section, value, size = struct.unpack_from("<IBBHQQ", self.data, place)
        strings = self.by_index.get(table.link)
        text = "" if strings is None else _name(self.data, strings, name, place)
        return Symbol(name=text, kind=info & 15, other=other, section=section, value=value, size=size)

    def symbols_of(self, kind: int, limit: int) -> tuple[tuple[int, Symbol], ...]:
        """(number, symbol) of one kind. Raises ParseError where there are more than ``limit``."""
        table = self.symbols
        if table is None:
            return ()
        content = self.content(table)[: table.size // SYMBOL_SIZE * SYMBOL_SIZE]
        numbers = [
            index
            for index, entry in enumerate(struct.iter_unpack("<4xB19x", content))
            if entry[0] & 15 == kind
        ]
        if len(numbers) > limit:
            raise ParseError(
                f"claims {len(numbers):,} symbols of one kind", offset=table.offset, hint=REBUILD
            )
        found = []
        room = _name_room(self.data)
        for index in numbers:
            symbol = self.symbol(index)
            if symbol is not None:
                room -= len(symbol.name)
                found.append((index, symbol))
            if room < 0:
                raise ParseError("its names are longer than the file", offset=table.offset, hint=REBUILD)
        return tuple(found)

    def relocations(self, section: Section) -> Iterator[tuple[int, int, int, int]]:
        """(offset, type, symbol, addend) of each entry of a relocation section."""
        size = RELOCATION_SIZES.get(section.kind)
        if size is None:
            return
        for place in range(section.offset, section.offset + section.size // size * size, size):
            if size == 24:
                offset, info, addend = struct.unpack_from("<QQq", self.data, place)
            else:
                offset, info = struct.unpack_from("<QQ", self.data, place)
                addend = 0
            yield offset, info & 0xFFFFFFFF, info >> 32, addend


def read_elf(data: bytes) -> Elf:
    """Read a cubin's container. Raises ParseError for anything else, saying what it is instead."""
    check_kind(data)
    version = struct.unpack_from("<I", data, 20)[0]
    table = struct.unpack_from("<Q", data, 40)[0]
    flags = struct.unpack_from("<I", data, 48)[0]
    entry_size, count, names = struct.unpack_from("<HHH", data, 58)
    if entry_size != SECTION_SIZE or count == 0:
        raise ParseError(
            f"has no section headers that can be read ({count} of {entry_size} bytes)",
            offset=58,
            hint=REBUILD,
        )
    if table < HEADER_SIZE or table + count * SECTION_SIZE > len(data):
        raise ParseError(
            f"cut off at byte {len(data)} (section headers missing)", offset=len(data), hint=REBUILD
        )
    raw = [struct.unpack_from("<IIQQQQII8xQ", data, table + index * SECTION_SIZE) for index in range(count)]
    if names >= count:
        raise ParseError(f"names its section names in section {names} of {count}", offset=62, hint=REBUILD)
    strings = _section(names, raw[names], "")
    _check_extent(strings, table, len(data))
    everything = []
    room = _name_room(data)
    for index, header in enumerate(raw):
        name = _name(data, strings, header[0], table + index * SECTION_SIZE)
        everything.append(_section(index, header, name))
        room -= len(name)
        if room < 0:
            raise ParseError("its names are longer than the file", offset=strings.offset, hint=REBUILD)
    sections = tuple(section for section in everything if not section.name.startswith(COPIES))
    copies = tuple(section for section in everything if section.name.startswith(COPIES))
    for section in sections:
        _check_extent(section, table, len(data))
    _check_overlap(sections, table)
    symbols = next((section for section in sections if section.kind == SYMTAB), None)
    if symbols is not None and symbols.entry_size != SYMBOL_SIZE:
        raise ParseError(
            f"claims symbols of {symbols.entry_size} bytes, not {SYMBOL_SIZE}",
            offset=table + symbols.index * SECTION_SIZE,
            hint=REBUILD,
        )
    return Elf(
        data=data,
        abi=data[8],
        version=version,
        flags=flags,
        sections=sections,
        by_index={section.index: section for section in sections},
        symbols=symbols,
        copies=copies,
        missing=_missing(data, copies),
    )


Header = tuple[int, int, int, int, int, int, int, int, int]
"""name, type, flags, address, offset, size, link, info, bytes of an entry"""


def _section(index: int, header: Header, name: str) -> Section:
    return Section(
        index=index,
        name=name,
        kind=header[1],
        flags=header[2],
        offset=header[4],
        size=header[5],
        link=header[6],
        info=header[7],
        entry_size=header[8],
    )


def _check_extent(section: Section, table: int, length: int) -> None:
    place = table + section.index * SECTION_SIZE
    if section.kind == NOBITS:
        if section.size >= SIZE_LIMIT:
            raise ParseError(
                f"section {section.index} claims {section.size:,} bytes of memory", offset=place, hint=REBUILD
            )
    elif section.kind and section.offset + section.size > length:
        raise ParseError(
            f"section {section.index} claims bytes {section.offset:,} to "
            f"{section.offset + section.size:,} of {length:,}",
            offset=place,
            hint=REBUILD,
        )


def _missing(data: bytes, copies: Sequence[Section]) -> str | None:
    """What of a file's end is not there. ptxas writes the program headers last, behind the section headers."""
    table = struct.unpack_from("<Q", data, 32)[0]
    entry_size, count = struct.unpack_from("<HH", data, 54)
    if count and table + count * entry_size > len(data):
        return "program headers"
    for section in copies:
        if section.kind not in (0, NOBITS) and section.offset + section.size > len(data):
            return f"section {section.index}"
    return None


def _check_overlap(sections: Sequence[Section], table: int) -> None:
    spans = sorted(
        (section.offset, section.offset + section.size, section.index)
        for section in sections
        if section.kind not in (0, NOBITS) and section.size
    )
    end = HEADER_SIZE
    for start, stop, index in spans:
        if start < end:
            raise ParseError(
                f"section {index} lies over another one", offset=table + index * SECTION_SIZE, hint=REBUILD
            )
        end = stop


def _name_room(data: bytes) -> int:
    """Characters that all names of a table may have together: many can share one long string of the file."""
    return len(data) + (1 << 20)


def _name(data: bytes, strings: Section, offset: int, place: int) -> str:
    start = strings.offset + offset
    if strings.kind in (0, NOBITS) or offset >= strings.size:
        if offset == 0:
            return ""
        raise ParseError(f"a name lies outside the string table ({offset:,})", offset=place, hint=REBUILD)
    stop = data.find(b"\0", start, min(strings.offset + strings.size, start + NAME_LIMIT))
    if stop < 0:
        raise ParseError("a name does not end", offset=place, hint=REBUILD)
    return data[start:stop].decode("utf-8", "replace")
