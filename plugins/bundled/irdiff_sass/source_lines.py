"""The line of Python that each instruction comes from: the one module that imports pyelftools.

ptxas writes a DWARF 2 ``.debug_line`` where the PTX has ``.loc`` directives, without any ``.debug_info``. Each of its
sequences begins with an address that a relocation fills in: so it is known which section of code it speaks of. How
functions were inlined is not in it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from irdiff_sass.cubin import Code, Cubin
from irdiff_sass.instructions import SIZE

LINES = ".debug_line"
BIGGEST = 1 << 19
"""Bytes of a line table that is read; the largest seen has 60,000."""
LONGEST_NUMBER = 1 << 14
"""Bytes; a longer run of those that may continue a number is refused, as reading it would take for ever."""

REPEATS = 4
"""Times that a table may speak of the same instruction, on average, before it is dropped."""

_CONTINUED = re.compile(rb"[\x80-\xff]{%d}" % LONGEST_NUMBER)
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """From this place on, until the next row."""

    offset: int
    """Bytes from where the sequence begins."""
    where: str | None
    """``path:line``; None where the table does not say, or for a line of Triton's library."""


def source_lines(cubin: Cubin) -> dict[int, str]:
    """Address of each instruction to ``path:line``; empty without a line table that can be read."""
    table = cubin.elf.named(LINES)
    if table is None or not 0 < table.size <= BIGGEST:
        return {}
    data = cubin.elf.content(table)
    if _CONTINUED.search(data):
        return {}
    sequences = list(_sequences(data))
    found: dict[int, str] = {}
    left = REPEATS * sum(len(code.data) for code in cubin.codes) // SIZE
    for (code, start), rows in zip(_starts(cubin, len(sequences)), sequences, strict=False):
        for row, following in pairwise(rows):
            first = max(-(-(start + row.offset) // SIZE) * SIZE, 0)
            places = range(first, min(start + following.offset, len(code.data)), SIZE)
            if row.where is None or not places:
                continue
            left -= len(places)
            if left < 0:
                return {}
            found.update(dict.fromkeys((code.base + place for place in places), row.where))
    return found


def _starts(cubin: Cubin, sequences: int) -> list[tuple[Code, int]]:
    """For each sequence, in order, the code it speaks of and where in it the sequence begins."""
    codes = {code.section.index: code for code in cubin.codes}
    found: list[tuple[int, Code, int]] = []
    for section in cubin.elf.sections:
        if section.name in (f".rela{LINES}", f".rel{LINES}"):
            for offset, _, index, addend in cubin.elf.relocations(section):
                symbol = cubin.elf.symbol(index)
                code = codes.get(symbol.section) if symbol is not None else None
                if symbol is not None and code is not None:
                    found.append((offset, code, symbol.value + addend))
    if len(found) != sequences and len(cubin.codes) == 1:
        return [(cubin.codes[0], 0)] * sequences
    return [(code, start) for _, code, start in sorted(found, key=lambda item: item[0])]


def _sequences(data: bytes) -> Iterator[list[Row]]:
    """The sequences of all units of a line table; ends where the table is not as it should be."""
    from elftools.common.exceptions import DWARFError, ELFError
    from elftools.dwarf.structs import DWARFStructs

    structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)
    position = 0
    while position + 10 <= len(data):
        try:
            rows, position = _unit(data, position, structs)
        # whatever pyelftools meets in a damaged table: lines are a help, never worth failing for
        except (
            DWARFError,
            ELFError,
            ArithmeticError,
            LookupError,
            ValueError,
            TypeError,
            OSError,
            AttributeError,
        ):
            return
        yield from rows


def _unit(
    data: bytes, position: int, structs: Any
) -> tuple[list[list[Row]], int]:  # Any: pyelftools' own type
    """(the sequences of the unit at ``position``, where the next one begins)."""
    from elftools.common.utils import struct_parse
    from elftools.dwarf.lineprogram import LineProgram

    stream = io.BytesIO(data)
    header = struct_parse(structs.Dwarf_lineprog_header, stream, position)
    end = position + header["unit_length"] + 4
    if end > len(data) or header["version"] not in (2, 3, 4):
        raise ValueError
    files = [_path(entry, header["include_directory"]) for entry in header["file_entry"]]
    program = LineProgram(header, stream, structs, position + 10 + header["header_length"], end)
    sequences: list[list[Row]] = []
    rows: list[Row] = []
    begin = 0
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if not rows:
            begin = state.address
        path = files[state.file - 1] if 0 < state.file <= len(files) else None
        known = path is not None and state.line > 0 and not _LIBRARY.search(path) and not state.end_sequence
        rows.append(Row(offset=state.address - begin, where=f"{path}:{state.line}" if known else None))
        if state.end_sequence:
            sequences.append(rows)
            rows = []
    return sequences, end


def _path(entry: Any, folders: Any) -> str:  # Any: pyelftools' own containers
    name: str = entry.name.decode("utf-8", "replace")
    index = entry.dir_index
    if name.startswith("/") or not 0 < index <= len(folders):
        return name
    return f"{folders[index - 1].decode('utf-8', 'replace')}/{name}"
