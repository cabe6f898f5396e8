"""What executes, as lines of text: the ground of the fingerprint and of the canonical form.

Two cubins with equal lines and equal code do the same. Names are replaced by roles (``entry0``), so a renamed
kernel with the same code is the same. What is left out is digested by normalisation, so that a comparison can
say why bytes differ. Every other section counts, known or not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator

from irdiff_sass import attributes
from irdiff_sass.attributes import OFFSET_TAGS, SYMBOL_FIRST, TOOL_TAGS, Record
from irdiff_sass.cubin import CONSTANT, Code, Cubin, Function
from irdiff_sass.elf import NOBITS, OBJECT, Section, Symbol

SECTION_SYMBOL = 3
OBJECT_LIMIT = 65536
"""Data objects in one cubin; more are refused."""

DEBUG = (".debug", ".nv_debug", ".rela.debug", ".rel.debug", ".rela.nv_debug", ".rel.nv_debug")
NOTES = (".note", ".nv.compat")
NAMES = (".symtab", ".strtab", ".shstrtab", ".nv.callgraph", ".nv.prototype", ".nv.rel.action")
"""Symbols, and what is said of them and follows from the code."""
SOURCE_PATH = "assertFile_"
"""Begins the symbol of the file name that ``tl.device_assert`` prints (Triton's ``AssertOpToLLVM``)."""


def digest(parts: Iterable[bytes | str]) -> str:
    """First 128 bits of a SHA-256 in hex, over parts that cannot run into one another."""
    listed = tuple(parts)
    framed: dict[bytes | str, bytes] = {}
    for part in set(listed):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        framed[part] = len(data).to_bytes(8, "little") + data
    return hashlib.sha256(b"".join([framed[part] for part in listed])).hexdigest()[:32]


def fingerprint(cubin: Cubin) -> str:
    """Digest of all that executes, every rule of this module applied but the one on instruction offsets."""
    lines = executed_lines(cubin, lambda name: name != "instruction-offsets")
    return digest([*lines, *code_lines(cubin)])


def code_lines(cubin: Cubin) -> list[str]:
    """One line for each section of code: role, bytes, digest."""
    return [f"{code.role} code {len(code.data)} B {digest([code.data])}" for code in cubin.codes]


def executed_lines(cubin: Cubin, normalizes: Callable[[str], bool]) -> list[str]:
    """Everything but the code: resources, bounds, parameters, other attributes, constants, data, relocations."""
    objects = cubin.elf.symbols_of(OBJECT, OBJECT_LIMIT)
    lines = [f"target {cubin.target}"]
    within: dict[str, int] = {}
    for function in cubin.functions:
        role = function.code or f"external {function.name}"
        if function.code and not function.entry:
            within[role] = within.get(role, 0) + 1
            role = f"{role}/call{within[role]}"
        lines += _function_lines(role, function)
    for code in cubin.codes:
        lines += [
            f"{code.role} static shared {code.shared} B",
            f"{code.role} named barriers {code.barriers}",
            *(f"{code.role} {line}" for line in sorted(_attribute_lines(cubin, code, normalizes))),
        ]
    lines += sorted(_global_attributes(cubin, normalizes))
    lines += _data_lines(cubin, [symbol for _, symbol in objects], normalizes)
    lines += sorted(_relocation_lines(cubin))
    for name, sections in ignored_sections(cubin).items():
        if not normalizes(name):
            lines += [
                f"section {section.name} {digest([cubin.elf.content(section)])}" for section in sections
            ]
    return lines


def ignored_sections(cubin: Cubin) -> dict[str, tuple[Section, ...]]:
    """The sections that do not execute, by the normalisation that drops them."""
    groups = {"debug-sections": DEBUG, "tool-notes": NOTES, "symbol-names": NAMES}
    found = {
        name: tuple(section for section in cubin.elf.sections if section.name.startswith(prefixes))
        for name, prefixes in groups.items()
    }
    return {**found, "second-encoding": cubin.elf.copies}


def erased(cubin: Cubin, normalizes: Callable[[str], bool]) -> dict[str, str]:
    """Digest of what each normalisation of the container takes away."""
    elf = cubin.elf
    parts: dict[str, list[bytes | str]] = {
        name: [part for section in sections for part in (section.name, _file_bytes(cubin, section))]
        for name, sections in ignored_sections(cubin).items()
    }
    parts["tool-notes"] += [str(elf.version), str(elf.flags), cubin.ptxas or ""]
    parts["tool-notes"] += [text for _, text in _tagged(cubin, TOOL_TAGS)]
    parts["symbol-names"] += [section.name for section in elf.sections]
    parts["source-paths"] = list(_source_paths(cubin))
    parts["instruction-offsets"] = [text for _, text in _tagged(cubin, OFFSET_TAGS)]
    return {name: digest(each) for name, each in sorted(parts.items()) if normalizes(name)}


def _source_paths(cubin: Cubin) -> Iterator[bytes]:
    left = len(cubin.elf.data)
    for _, symbol in cubin.elf.symbols_of(OBJECT, OBJECT_LIMIT):
        section = cubin.elf.by_index.get(symbol.section)
        if section is not None and symbol.name.startswith(SOURCE_PATH) and symbol.size <= left:
            left -= symbol.size
            yield cubin.elf.content(section)[symbol.value : symbol.value + symbol.size]


def _file_bytes(cubin: Cubin, section: Section) -> bytes:
    """Content of a section, also of a copy, whose extent nobody has checked: slices stay inside the file."""
    return (
        b"" if section.kind in (0, NOBITS) else cubin.elf.data[section.offset : section.offset + section.size]
    )


def _tagged(cubin: Cubin, tags: frozenset[int]) -> Iterator[tuple[int, str]]:
    for code in cubin.codes:
        for record in code.records:
            if record.tag in tags:
                yield record.tag, f"{record.tag} {record.payload.hex()}"


def _function_lines(role: str, function: Function) -> list[str]:
    stack = "unbounded" if function.unbounded else function.stack
    return [
        f"{role} registers {_or_unknown(function.registers)}",
        f"{role} stack {_or_unknown(stack)} frame {_or_unknown(function.frame)}",
    ]


def _or_unknown(value: int | str | None) -> str:
    return "unknown" if value is None else str(value)


def _attribute_lines(cubin: Cubin, code: Code, normalizes: Callable[[str], bool]) -> Iterator[str]:
    for record in code.records:
        if record.tag in TOOL_TAGS and normalizes("tool-notes"):
            continue
        if record.tag in OFFSET_TAGS and normalizes("instruction-offsets"):
            continue
        yield _attribute_line(cubin, record)


def _global_attributes(cubin: Cubin, normalizes: Callable[[str], bool]) -> Iterator[str]:
    known = {attributes.REGISTERS, attributes.FRAME_SIZE, attributes.MINIMUM_STACK}
    for record in cubin.shared_records:
        if record.tag not in known and not (record.tag in TOOL_TAGS and normalizes("tool-notes")):
            yield f"cubin {_attribute_line(cubin, record)}"


def _attribute_line(cubin: Cubin, record: Record) -> str:
    words = record.words() if record.format == 4 else ()
    if record.tag == attributes.REQUIRED_THREADS:
        return f"reqntid {', '.join(map(str, words))}"
    if record.tag == attributes.MAXIMUM_THREADS:
        return f"maxntid {', '.join(map(str, words))}"
    if record.tag == attributes.MAXIMUM_REGISTERS and record.format != 4:
        return f"maxnreg {record.small()}"
    if record.tag == attributes.PARAMETERS_SIZE and record.format != 4:
        return f"parameters {record.small()} B"
    if record.tag == attributes.PARAMETER and len(words) == 3:
        return f"parameter {words[1] & 0xFFFF} at {words[1] >> 16} size {words[2] >> 18} kind {words[2] & 0x3FFFF:#x}"
    if record.tag == attributes.EXTERNS:
        return f"externs {', '.join(_symbol_text(cubin, index) for index in words)}"
    payload = record.payload.hex()
    if record.tag in SYMBOL_FIRST and words:
        payload = f"{_symbol_text(cubin, words[0])} {record.payload[4:].hex()}"
    return f"attribute {record.tag:#04x} {payload}"


def _data_lines(cubin: Cubin, objects: list[Symbol], normalizes: Callable[[str], bool]) -> list[str]:
    """Every section that is neither code, nor said of in another way, nor ignored."""
    roles = {code.name: code.role for code in cubin.codes}
    owned = {f".nv.info.{name}" for name in roles} | {f".nv.shared.{name}" for name in roles} | {".nv.info"}
    skipped = {section.index for sections in ignored_sections(cubin).values() for section in sections}
    lines = []
    for section in cubin.elf.sections:
        name = section.name
        if section.index in skipped or not section.size or section.kind == 0 or name in owned:
            continue
        if name.startswith((".text.", ".rela.", ".rel.")):
            continue
        constant = CONSTANT.fullmatch(name)
        if constant:
            name = f"constant{constant.group(1)} {roles.get(constant.group(2) or '', '')}".rstrip()
        inside = [symbol for symbol in objects if symbol.section == section.index]
        if inside and not constant and sum(symbol.size for symbol in inside) <= section.size:
            lines += _object_lines(cubin, section, inside, normalizes)
        else:
            lines.append(f"{name} {section.size} B {digest([cubin.elf.content(section)])}")
    return lines


def _object_lines(
    cubin: Cubin, section: Section, objects: list[Symbol], normalizes: Callable[[str], bool]
) -> list[str]:
    """One line for each object, and one for the bytes between them: where an object lies does not matter."""
    content = cubin.elf.content(section)
    lines = []
    rest = bytearray(content)
    for symbol in sorted(objects, key=lambda each: (each.name, each.value)):
        data = content[symbol.value : symbol.value + symbol.size]
        rest[symbol.value : symbol.value + symbol.size] = bytes(len(data))
        if symbol.name.startswith(SOURCE_PATH) and normalizes("source-paths"):
            lines.append(f"{section.name} {symbol.name} a source path")
        else:
            lines.append(f"{section.name} {symbol.name} {symbol.size} B {digest([data])}")
    lines.append(f"{section.name} between {digest([bytes(rest).strip(bytes(1))])}")
    return lines


def _relocation_lines(cubin: Cubin) -> Iterator[str]:
    """What the driver fills in, by symbol."""
    for section in cubin.elf.sections:
        if not section.name.startswith((".rela.", ".rel.")) or section.name.startswith(DEBUG):
            continue
        place = cubin.roles.get(section.info) or section.name.removeprefix(".rela").removeprefix(".rel")
        for offset, kind, symbol, addend in cubin.elf.relocations(section):
            yield f"relocation {place}+{offset:#x} type {kind} {_symbol_text(cubin, symbol)}{addend:+#x}"


def _symbol_text(cubin: Cubin, index: int) -> str:
    """A symbol without its number: code by role, constants by bank, data by name."""
    symbol = cubin.elf.symbol(index)
    if symbol is None:
        return f"symbol {index}"
    role = cubin.roles.get(symbol.section)
    if role is not None:
        return f"{role}+{symbol.value:#x}"
    section = cubin.elf.by_index.get(symbol.section)
    if symbol.name and symbol.kind != SECTION_SYMBOL:
        return symbol.name
    if section is None:
        return f"symbol {index}"
    found = CONSTANT.fullmatch(section.name)
    return f"constant{found.group(1)}" if found else section.name
