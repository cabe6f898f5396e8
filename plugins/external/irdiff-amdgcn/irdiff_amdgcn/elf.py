"""An AMDGPU code object without AMD's tools: sections, symbols, the metadata note and kernel descriptors.

ELF64, little endian, ``e_machine`` 224 (EM_AMDGPU); the low byte of ``e_flags`` names the processor (LLVM's AMDGPU
usage guide, "ELF code object"; llvm/BinaryFormat/ELF.h). Everything read is checked against the size of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import msgspec
from irdiff.api import ParseError

from irdiff_amdgcn.metadata import NOTE, Metadata, from_note

MACHINE = 224
NOBITS = 8
ALLOC, EXECUTE = 2, 4
DESCRIPTOR = 64
"""Bytes of a kernel descriptor."""
SUFFIX = ".kd"
"""Behind a kernel's name: the symbol of its descriptor."""
_MOST_SECTIONS = 4096
_MOST_SYMBOLS = 65536
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_DESCRIPTOR = struct.Struct("<IIIIq20sIIIHH4s")
_SYMBOL_TABLES = (2, 11)
_NOTE_SECTION = 7
_OLD_NAMES = (b"AMD\0", b"AMDGPU\0")

PROCESSORS: Mapping[int, str] = {
    0x2C: "gfx900",
    0x2F: "gfx906",
    0x30: "gfx908",
    0x33: "gfx1010",
    0x36: "gfx1030",
    0x37: "gfx1031",
    0x38: "gfx1032",
    0x3F: "gfx90a",
    0x40: "gfx940",
    0x41: "gfx1100",
    0x43: "gfx1150",
    0x44: "gfx1103",
    0x46: "gfx1101",
    0x47: "gfx1102",
    0x48: "gfx1200",
    0x49: "gfx1250",
    0x4A: "gfx1151",
    0x4B: "gfx941",
    0x4C: "gfx942",
    0x4E: "gfx1201",
    0x4F: "gfx950",
    0x55: "gfx1152",
}
"""EF_AMDGPU_MACH values of llvm/BinaryFormat/ELF.h; the note's own target is asked first."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One section."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    """One symbol."""

    name: str
    kind: int
    """1 object, 2 function."""
    section: int
    address: int
    size: int


class Descriptor(msgspec.Struct, frozen=True, kw_only=True):
    """What the hardware is told of a kernel; its entry is a distance and left out."""

    group_segment: int
    private_segment: int
    kernarg: int
    resources: tuple[int, int, int]
    """COMPUTE_PGM_RSRC1, 2 and 3."""
    properties: int
    preload: int
    place: int
    """File offset."""


class KernelCode(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel or function of the code object."""

    name: str
    code: bytes
    offset: int
    """In the file."""
    descriptor: Descriptor | None


class CodeObject(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is read."""

    data: bytes
    flags: int
    version: int
    """``e_ident[EI_ABIVERSION]``: the code object version less 2."""
    sections: tuple[Section, ...]
    kernels: tuple[KernelCode, ...]
    """Kernels first, then other functions, each in the order of their code."""
    metadata: Metadata
    note: tuple[int, int]
    """Offset and size of the metadata in the file."""
    relocations: tuple[tuple[int, int, int], ...]
    """(place, type, addend) of each dynamic relocation."""

    @property
    def processor(self) -> str | None:
        """``gfx942``, by the flags of the header."""
        return PROCESSORS.get(self.flags & 0xFF)

    def content(self, section: Section) -> bytes:
        """Bytes of a section in the file; none for one that has none."""
        return b"" if section.kind == NOBITS else self.data[section.offset : section.offset + section.size]


def read_code_object(data: bytes) -> CodeObject:
    """Take a code object apart. Raises ParseError where it is none or is cut."""
    if data[:4] != b"\x7fELF":
        raise ParseError("this is no ELF file", offset=0, hint="an .hsaco of Triton is an AMDGPU code object")
    if len(data) < _HEADER.size:
        raise ParseError("the ELF header is cut", offset=len(data))
    ident, _, machine, _, _, _, table, flags, _, _, _, each, count, names = _HEADER.unpack_from(data)
    if ident[4:6] != b"\x02\x01" or machine != MACHINE:
        raise ParseError(f"this is no AMDGPU code object (ELF machine {machine})", offset=18)
    if each != _SECTION.size or count > _MOST_SECTIONS or table + each * count > len(data):
        raise ParseError(
            "the table of sections lies outside the file", offset=40, hint="the file is cut or damaged"
        )
    raw = [_SECTION.unpack_from(data, table + each * index) for index in range(count)]
    for index, (_, kind, _, _, offset, size, *_) in enumerate(raw):
        if kind not in (0, NOBITS) and offset + size > len(data):
            raise ParseError(f"section {index} lies outside the file", offset=table + each * index)
    strings = raw[names] if names < count else None
    sections = tuple(
        Section(
            name=_string(data, strings[4] + name, strings[4] + strings[5]) if strings is not None else "",
            kind=kind,
            flags=flag,
            address=address,
            offset=offset,
            size=size,
            link=link,
        )
        for name, kind, flag, address, offset, size, link, *_ in raw
    )
    note = _note(data, sections)
    symbols = _symbols(data, sections)
    return CodeObject(
        data=data,
        flags=flags,
        version=ident[8],
        sections=sections,
        kernels=_kernels(data, sections, symbols),
        metadata=from_note(data[note[0] : note[0] + note[1]], note[0]),
        note=note,
        relocations=_relocations(data, sections),
    )


def _string(data: bytes, start: int, end: int) -> str:
    stop = data.find(b"\0", start, end)
    return data[start : stop if stop >= 0 else end].decode("utf-8", "backslashreplace") if start < end else ""


def _note(data: bytes, sections: tuple[Section, ...]) -> tuple[int, int]:
    for section in sections:
        if section.kind != _NOTE_SECTION:
            continue
        place, end = section.offset, section.offset + section.size
        while place + 12 <= end:
            name_size, size, kind = struct.unpack_from("<III", data, place)
            name = data[place + 12 : place + 12 + name_size]
            start = place + 12 + (name_size + 3 & ~3)
            if start + size > end:
                break
            if kind == NOTE and name in _OLD_NAMES:
                return start, size
            place = start + (size + 3 & ~3)
    raise ParseError(
        "the code object has no metadata note", offset=0, hint="the file is cut, or older than code object 3"
    )


def _symbols(data: bytes, sections: tuple[Section, ...]) -> tuple[Symbol, ...]:
    """Of the symbol table, or of the dynamic one where a file is stripped."""
    tables = sorted(
        (section for section in sections if section.kind in _SYMBOL_TABLES), key=lambda each: each.kind
    )
    if not tables:
        return ()
    table = tables[0]
    strings = sections[table.link] if table.link < len(sections) else None
    found = []
    for index in range(min(table.size // _SYMBOL.size, _MOST_SYMBOLS)):
        name, info, _, where, value, size = _SYMBOL.unpack_from(data, table.offset + index * _SYMBOL.size)
        text = (
            _string(data, strings.offset + name, strings.offset + strings.size) if strings is not None else ""
        )
        found.append(Symbol(name=text, kind=info & 15, section=where, address=value, size=size))
    return tuple(found)


def _kernels(
    data: bytes, sections: tuple[Section, ...], symbols: tuple[Symbol, ...]
) -> tuple[KernelCode, ...]:
    descriptors: dict[str, Descriptor] = {}
    for symbol in symbols:
        place = _place(sections, symbol, DESCRIPTOR) if symbol.name.endswith(SUFFIX) else None
        if place is not None:
            descriptors[symbol.name.removesuffix(SUFFIX)] = _descriptor(data, place)
    found = []
    for symbol in symbols:
        place = _place(sections, symbol, symbol.size) if symbol.kind == 2 and symbol.size else None
        if place is not None:
            found.append(
                KernelCode(
                    name=symbol.name,
                    code=data[place : place + symbol.size],
                    offset=place,
                    descriptor=descriptors.get(symbol.name),
                )
            )
    if not found:
        found = [
            KernelCode(
                name=section.name,
                code=data[section.offset : section.offset + section.size],
                offset=section.offset,
                descriptor=None,
            )
            for section in sections
            if section.flags & EXECUTE and section.kind not in (0, NOBITS)
        ]
    return tuple(sorted(found, key=lambda each: (each.descriptor is None, each.offset, each.name)))


def _place(sections: tuple[Section, ...], symbol: Symbol, size: int) -> int | None:
    """File offset of what a symbol names, where it lies inside its section."""
    if not 0 < symbol.section < len(sections):
        return None
    section = sections[symbol.section]
    distance = symbol.address - section.address
    inside = distance >= 0 and distance + size <= section.size and section.kind not in (0, NOBITS)
    return section.offset + distance if inside else None


def _descriptor(data: bytes, place: int) -> Descriptor:
    """Kernel Descriptor of the AMDGPU usage guide: its entry offset at 16 says where the code lies, and is left out."""
    group, private, kernarg, _, _, _, third, first, second, properties, preload, _ = _DESCRIPTOR.unpack_from(
        data, place
    )
    return Descriptor(
        group_segment=group,
        private_segment=private,
        kernarg=kernarg,
        resources=(first, second, third),
        properties=properties,
        preload=preload,
        place=place,
    )


def _relocations(data: bytes, sections: tuple[Section, ...]) -> tuple[tuple[int, int, int], ...]:
    found = []
    for section in sections:
        if section.kind != 4 or not section.flags & ALLOC:
            continue
        for index in range(min(section.size // _RELOCATION.size, _MOST_SYMBOLS)):
            place, info, addend = _RELOCATION.unpack_from(data, section.offset + index * _RELOCATION.size)
            found.append((place, info & 0xFFFFFFFF, addend))
    return tuple(found)
