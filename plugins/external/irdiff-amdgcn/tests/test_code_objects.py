"""The stage ``hsaco``: equal machine code has equal fingerprints; damage and foreign files end in a ParseError."""

from __future__ import annotations

import struct

import pytest
from irdiff.api import ParseError

from amd_fixtures import Entry, artifact, context, corpus, entry
from irdiff_amdgcn import hsaco
from irdiff_amdgcn.elf import KernelCode, read_code_object

SOME = [
    entry("3.6.0", "gfx942", "matmul"),
    entry("3.9.0", "gfx1201", "softmax"),
    entry("3.3.1", "gfx90a", "softmax"),
]
SAMPLES = pytest.mark.parametrize("compiled", SOME, ids=lambda each: each.id)


def said(data: bytes) -> dict[str, object]:
    return {fact.id: fact.value for fact in hsaco.summarize(artifact(data, ".hsaco"), context()).facts}


def lines(data: bytes, *, without: str = "") -> tuple[str, ...]:
    return hsaco.canonical(artifact(data, ".hsaco"), context(without=without)).lines


def section(data: bytes, name: str) -> tuple[int, int]:
    """Offset and size."""
    found = next(each for each in read_code_object(data).sections if each.name == name)
    return found.offset, found.size


def patched(data: bytes, offset: int, value: bytes) -> bytes:
    return data[:offset] + value + data[offset + len(value) :]


def kernel_of(data: bytes) -> KernelCode:
    return read_code_object(data).kernels[0]


@SAMPLES
def test_one_bit_of_the_code_is_another_fingerprint(compiled: Entry) -> None:
    data = compiled.files[".hsaco"]
    kernel = kernel_of(data)
    for place in (0, len(kernel.code) // 2, len(kernel.code) - 1):
        other = patched(data, kernel.offset + place, bytes([kernel.code[place] ^ 1]))
        assert said(other)["hsaco.fingerprint"] != said(data)["hsaco.fingerprint"]
        assert said(other)["hsaco.code"] != said(data)["hsaco.code"]
        assert lines(other) != lines(data)


@SAMPLES
def test_the_descriptor_is_part_of_what_executes_but_for_where_the_code_lies(compiled: Entry) -> None:
    data = compiled.files[".hsaco"]
    descriptor = kernel_of(data).descriptor
    assert descriptor is not None
    for offset, same in (
        (0, False),
        (4, False),
        (8, False),
        (16, True),
        (44, False),
        (48, False),
        (52, False),
        (56, False),
    ):
        other = patched(data, descriptor.place + offset, bytes([data[descriptor.place + offset] ^ 0x40]))
        assert (said(other)["hsaco.fingerprint"] == said(data)["hsaco.fingerprint"]) == same, offset
        assert (lines(other) == lines(data)) == same, offset


@SAMPLES
@pytest.mark.parametrize(
    ("name", "rule"),
    [(".debug_line", "debug-sections"), (".comment", "tool-notes"), (".strtab", "symbol-names")],
)
def test_what_does_not_execute_changes_nothing(compiled: Entry, name: str, rule: str) -> None:
    data = compiled.files[".hsaco"]
    offset, size = section(data, name)
    where = offset + size - 2
    other = patched(data, where, bytes([data[where] ^ 1]))
    assert lines(other) == lines(data)
    assert said(other)["hsaco.fingerprint"] == said(data)["hsaco.fingerprint"]
    made = hsaco.canonical(artifact(other, ".hsaco"), context()).erased
    before = hsaco.canonical(artifact(data, ".hsaco"), context()).erased
    assert {each for each in made if made[each] != before[each]} == {rule}
    assert lines(other, without=rule) != lines(data, without=rule)


@SAMPLES
def test_padding_behind_the_code_is_no_code(compiled: Entry) -> None:
    data = compiled.files[".hsaco"]
    kernel = kernel_of(data)
    offset, size = section(data, ".text")
    behind = kernel.offset + len(kernel.code)
    assert offset <= kernel.offset < behind < offset + size
    other = patched(data, behind, b"\x01\x02\x03\x04")
    assert lines(other) == lines(data)


def test_processor_and_features_are_part_of_it() -> None:
    data = SOME[0].files[".hsaco"]
    flags = struct.unpack_from("<I", data, 48)[0]
    for other in (flags ^ 0x100, flags ^ 1):
        assert lines(patched(data, 48, struct.pack("<I", other))) != lines(data)
    assert read_code_object(data).processor == "gfx942"


def test_the_flags_of_every_target_are_known() -> None:
    assert {read_code_object(each.files[".hsaco"]).processor for each in corpus()} == {
        each.target for each in corpus()
    }


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no ELF file"),
        (b"\x7fELF", "header is cut"),
        (b"\x7fELF\x02\x01\x01" + bytes(57), "no AMDGPU code object"),
        (SOME[0].files[".hsaco"][:600], "outside the file"),
        (SOME[0].files[".amdgcn"], "no ELF file"),
    ],
)
def test_a_file_that_is_none_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        hsaco.summarize(artifact(data, ".hsaco"), context())
    with pytest.raises(ParseError, match=told):
        hsaco.canonical(artifact(data, ".hsaco"), context())
