"""What a cubin says of its kernels: resources, launch bounds, parameters and the tool that wrote it.

Equal to ``cuobjdump -res-usage``: REG is EIATTR_REGCOUNT, STACK is EIATTR_MIN_STACK_SIZE, SHARED the size of
``.nv.shared.K``, CONSTANT[n] the size of ``.nv.constantn.K``. Two flavours: ABI 7 (ptxas up to 12.9, targets up
to sm_90a) and ABI 8 (ptxas 13, and every target from sm_100 on).
"""

from __future__ import annotations

import re
import struct

import msgspec

from irdiff.api import ParseError
from irdiff_sass import attributes
from irdiff_sass.attributes import Record, read_records
from irdiff_sass.elf import FUNCTION, Elf, Section, read_elf
from irdiff_sass.kind import REBUILD

FUNCTION_LIMIT = 4096
"""Functions in one cubin; more are refused."""

ENTRY_FLAG = 0x10
"""Bit of ``st_other``: a kernel, not a function that kernels call (STO_CUDA_ENTRY)."""

CONSTANT = re.compile(r"\.nv\.constant(\d{1,2})(?:\.(.*))?", re.DOTALL)
VERSION = re.compile(rb"V(\d{1,4}(?:\.\d{1,6}){1,3})")


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """One ``.text`` section: a kernel with the functions inlined into its section, or a function of its own."""

    name: str
    """Without ``.text.``."""
    role: str
    """``entry0``, ``function0``: its place among its kind, which takes the place of its name."""
    section: Section
    base: int
    """Address of its first instruction in this artifact: sections follow one another, the first at 0."""
    data: bytes
    records: tuple[Record, ...]
    shared: int
    """Bytes of static shared memory; from sm_90 on with the driver's 1,024."""
    shared_place: int
    constants: dict[int, int]
    """Bytes by constant bank."""
    barriers: int
    barriers_place: int


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """One function that the cubin lists."""

    name: str
    entry: bool
    code: str
    """Role of the section that it lies in; empty for one that is elsewhere (``vprintf``)."""
    registers: int | None
    registers_place: int
    frame: int | None
    stack: int | None
    """Bytes with everything it calls; ``None`` where not recorded."""
    stack_place: int
    unbounded: bool
    """The assembler could not bound the stack (recursion)."""


class Cubin(msgspec.Struct, frozen=True, kw_only=True):
    """A cubin, read."""

    elf: Elf
    sm: int
    """90 for sm_90."""
    accelerated: bool
    """Compiled for the architecture-specific features (``sm_90a``), as far as it is recorded."""
    ptxas: str | None
    """Version of the assembler: two numbers in ABI 7, three in ABI 8."""
    codes: tuple[Code, ...]
    roles: dict[int, str]
    """Role of the code by number of its section."""
    functions: tuple[Function, ...]
    shared_records: tuple[Record, ...]
    """Records of ``.nv.info``, which name functions by symbol."""

    @property
    def target(self) -> str:
        """``sm_90a``."""
        return f"sm_{self.sm}{'a' if self.accelerated else ''}"

    @property
    def entries(self) -> tuple[Function, ...]:
        """The kernels."""
        return tuple(function for function in self.functions if function.entry)

    @property
    def records_spills(self) -> bool:
        """Whether its assembler marks each spill (EIATTR_ANNOTATIONS, from ptxas 12.8 on)."""
        if self.elf.abi >= 8:
            return True
        version = [int(part) for part in (self.ptxas or "0").split(".")[:2]]
        return version >= [12, 8]


def read_cubin(data: bytes) -> Cubin:
    """Read a cubin. Raises ParseError for anything else, and for one without code."""
    elf = read_elf(data)
    if elf.abi not in (7, 8):
        raise ParseError(f"has the unknown ABI {elf.abi}", offset=8, hint="this irdiff reads ABI 7 and 8")
    texts = [section for section in elf.sections if section.name.startswith(".text.") and section.size]
    if not texts:
        raise ParseError("holds no code", offset=0, hint="compile the kernel again")
    if len(texts) > FUNCTION_LIMIT:
        raise ParseError(f"claims {len(texts)} sections of code", offset=texts[0].offset, hint=REBUILD)
    if len({section.name for section in texts}) < len(texts):
        raise ParseError("two sections of code have one name", offset=texts[0].offset, hint=REBUILD)
    shared_records = _records(elf, elf.named(".nv.info"))
    numbers = {symbol: index for index, symbol in elf.symbols_of(FUNCTION, FUNCTION_LIMIT)}
    entries = {symbol.section for symbol in numbers if symbol.other & ENTRY_FLAG}
    if not numbers:  # nothing says what is a kernel: each section counts as one
        entries = {section.index for section in texts}
    codes = _codes(elf, texts, entries)
    roles = {code.section.index: code.role for code in codes}
    tables = {
        tag: _by_symbol(shared_records, tag)
        for tag in (attributes.REGISTERS, attributes.FRAME_SIZE, attributes.MINIMUM_STACK)
    }
    functions = []
    for symbol, index in numbers.items():
        registers, registers_place = tables[attributes.REGISTERS].get(index, (None, 0))
        frame, _ = tables[attributes.FRAME_SIZE].get(index, (None, 0))
        stack, stack_place = tables[attributes.MINIMUM_STACK].get(index, (None, 0))
        functions.append(
            Function(
                name=symbol.name,
                entry=bool(symbol.other & ENTRY_FLAG) and symbol.section in roles,
                code=roles.get(symbol.section, ""),
                registers=registers,
                registers_place=registers_place,
                frame=frame,
                stack=None if stack == attributes.UNKNOWN_STACK else stack,
                stack_place=stack_place,
                unbounded=stack == attributes.UNKNOWN_STACK,
            )
        )
    return Cubin(
        elf=elf,
        sm=elf.flags & 0xFF if elf.abi == 7 else elf.flags >> 8 & 0xFF,
        accelerated=_accelerated(elf),
        ptxas=_assembler(elf),
        codes=codes,
        roles=roles,
        functions=tuple(functions),
        shared_records=shared_records,
    )


def _records(elf: Elf, section: Section | None) -> tuple[Record, ...]:
    if section is None or not elf.content(section):
        return ()
    return read_records(elf.data, section.offset, section.size)


def _codes(elf: Elf, texts: list[Section], entries: set[int]) -> tuple[Code, ...]:
    named = {section.name: section for section in reversed(elf.sections)}
    banks: dict[str, dict[int, int]] = {}
    for section in elf.sections:
        found = CONSTANT.fullmatch(section.name)
        if found:
            owner = banks.setdefault(found.group(2) or "", {})
            owner[int(found.group(1))] = owner.get(int(found.group(1)), 0) + section.size
    codes = []
    base = 0
    counts = {"entry": 0, "function": 0}
    for section in texts:
        name = section.name.removeprefix(".text.")
        kind = "entry" if section.index in entries else "function"
        records = _records(elf, named.get(f".nv.info.{name}"))
        shared = named.get(f".nv.shared.{name}")
        barriers, place = _barriers(elf, section, records)
        codes.append(
            Code(
                name=name,
                role=f"{kind}{counts[kind]}",
                section=section,
                base=base,
                data=elf.content(section),
                records=records,
                shared=shared.size if shared is not None else 0,
                shared_place=shared.offset if shared is not None else section.offset,
                constants=banks.get(name, {}),
                barriers=barriers,
                barriers_place=place,
            )
        )
        counts[kind] += 1
        base += section.size
    return tuple(codes)


def _barriers(elf: Elf, section: Section, records: tuple[Record, ...]) -> tuple[int, int]:
    """(named barriers, place): bits 20 to 26 of the section's flags in ABI 7, a record in ABI 8."""
    if elf.abi == 7:
        return section.flags >> 20 & 0x7F, section.offset
    for record in records:
        if record.tag == attributes.BARRIERS and record.format != 4:
            return record.small(), record.place
    return 0, section.offset


def _by_symbol(records: tuple[Record, ...], tag: int) -> dict[int, tuple[int, int]]:
    """Symbol number to (value, place) of the records of one tag; the largest where one is there twice."""
    found: dict[int, tuple[int, int]] = {}
    for record in records:
        words = record.words() if record.tag == tag and record.format == 4 else ()
        if len(words) >= 2 and words[1] >= found.get(words[0], (0, 0))[0]:
            found[words[0]] = (words[1], record.place)
    return found


def _accelerated(elf: Elf) -> bool:
    """ABI 7: bit 11 of ``e_flags``; ABI 8: bit 3 (ptxas 12), or tag 9 of ``.nv.compat`` (ptxas 13)."""
    if elf.abi == 7:
        return bool(elf.flags & 0x800)
    if elf.flags & 8:
        return True
    compatible = elf.named(".nv.compat")
    if compatible is None:
        return False
    try:
        records = read_records(elf.data, compatible.offset, compatible.size)
    except (
        ParseError
    ):  # a note of tools, in a layout that is not documented: what executes does not rest on it
        return False
    return any(record.tag == 9 and record.format != 4 and record.small() == 1 for record in records)


def _assembler(elf: Elf) -> str | None:
    """ABI 7: ten times the toolkit's version; ABI 8: the text of the note ``.note.nv.tkinfo`` (type 2000)."""
    if elf.abi == 7:
        return f"{elf.version // 10}.{elf.version % 10}" if 100 <= elf.version < 1000 else None
    note = elf.named(".note.nv.tkinfo")
    if note is None:
        return None
    content = elf.content(note)
    if len(content) < 12:
        return None
    name_size, size, kind = struct.unpack_from("<III", content)
    start = 12 + (name_size + 3) // 4 * 4
    description = content[start : start + size]
    if kind != 2000 or len(description) < 24:
        return None
    tool_version = struct.unpack_from("<I", description, 12)[0]
    text = description[24 + tool_version :].split(b"\0", 1)[0]
    found = VERSION.search(text)
    return found.group(1).decode("ascii") if found else None
