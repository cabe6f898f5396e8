"""Damaged input ends in a ParseError or a Summary, soon."""

from __future__ import annotations

import struct
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import corpus
from command import irdiff
from irdiff.api import Artifact, Context, ParseError
from irdiff.tools import LocalToolbox
from irdiff_sass.decoded import code_text
from irdiff_sass.elf import NOBITS, read_elf
from irdiff_sass.loops import find_loops
from irdiff_sass.plugin import STAGE

NOBODY = LocalToolbox({}, {})


@cache
def cubin(release: str, target: str) -> bytes:
    name = "layer_norm_bwd_kernel" if target == "sm_100" else "vector_add_kernel"
    (path,) = corpus.entry(release, target, name).glob("*.cubin")
    return path.read_bytes()


KINDS = st.sampled_from([("3.6.0", "sm_90"), ("3.9.0", "sm_90"), ("3.9.0", "sm_100")])


def ends_well(data: bytes, suffix: str = ".cubin") -> bool:
    """Whether it was read (True) or refused (False); anything else raises."""
    artifact = Artifact.of_bytes(data, suffix=suffix)
    context = Context(tools=NOBODY)
    try:
        STAGE.summarize(artifact, context)
        STAGE.canonical(artifact, context)
    except ParseError:
        return False
    return True


def issues_of(data: bytes) -> list[tuple[str, str]]:
    summary = STAGE.summarize(Artifact.of_bytes(data), Context(tools=NOBODY))
    return [(issue.severity, issue.code) for issue in summary.issues]


@given(KINDS, st.floats(0, 1))
@example(("3.9.0", "sm_90"), 1 / 4096)  # one byte of the magic number
def test_a_cut_off_cubin_is_refused(kind: tuple[str, str], share: float) -> None:
    data = cubin(*kind)
    cut = data[: int(len(data) * share * 0.999)]
    table = struct.unpack_from("<Q", data, 40)[0] + struct.unpack_from("<H", data, 60)[0] * 64
    if len(cut) >= table:  # the program headers, which stand last, are missing
        assert issues_of(cut) == [("error", "truncated-elf")]
        return
    with pytest.raises(ParseError) as caught:
        STAGE.summarize(Artifact.of_bytes(cut), Context(tools=NOBODY))
    assert caught.value.offset == len(cut)


@pytest.mark.parametrize("kind", [("3.6.0", "sm_90"), ("3.9.0", "sm_90"), ("3.9.0", "sm_100")])
def test_a_cubin_without_its_last_bytes_is_an_error_and_its_facts_are_given(kind: tuple[str, str]) -> None:
    data = cubin(*kind)
    whole = STAGE.summarize(Artifact.of_bytes(data), Context(tools=NOBODY))
    assert not [issue for issue in whole.issues if issue.severity == "error"]
    for missing in (1, 7, 8, 56, 100, 200):
        cut = STAGE.summarize(Artifact.of_bytes(data[:-missing]), Context(tools=NOBODY))
        (issue,) = [issue for issue in cut.issues if issue.severity == "error"]
        assert issue.code == "truncated-elf"
        assert issue.message == f"cut off at byte {len(data) - missing:,} (program headers missing)"
        assert issue.hint
        assert cut.facts == whole.facts


def test_a_section_of_the_second_encoding_beyond_the_end_is_an_error() -> None:
    data = bytearray(cubin("3.9.0", "sm_100"))
    table = struct.unpack_from("<Q", data, 40)[0]
    copy = next(each for each in read_elf(bytes(data)).copies if each.size and each.kind not in (0, NOBITS))
    struct.pack_into("<Q", data, table + copy.index * 64 + 24, len(data) - copy.size)
    assert not issues_of(bytes(data))
    struct.pack_into("<Q", data, table + copy.index * 64 + 24, len(data) - copy.size + 1)
    assert issues_of(bytes(data)) == [("error", "truncated-elf")]


def test_check_does_not_pass_a_cubin_without_its_last_byte(tmp_path: Path) -> None:
    data = cubin("3.6.0", "sm_90")
    for name, content in (("whole", data), ("cut", data[:-1])):
        (tmp_path / f"{name}.cubin").write_bytes(content)
    whole, cut = tmp_path / "whole.cubin", tmp_path / "cut.cubin"
    assert irdiff("check", whole, whole).code == 0
    for before, after in ((whole, cut), (cut, whole), (cut, cut)):
        done = irdiff("check", before, after)
        assert done.code == 2
        assert "truncated-elf" in done.out


@given(
    KINDS, st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=8)
)
@settings(max_examples=300)
def test_changed_bytes_end_well(kind: tuple[str, str], changes: list[tuple[float, int]]) -> None:
    data = bytearray(cubin(*kind))
    for share, bits in changes:
        data[int(share * len(data))] ^= bits
    ends_well(bytes(data))


NUMBERS = st.sampled_from([0, 1, 8, 24, 255, 4096, 2**16 - 1, 2**31, 2**32 - 1, 2**63, 2**63 - 1, 2**64 - 1])


@given(KINDS, st.lists(st.tuples(st.integers(0, 45), st.integers(0, 63), NUMBERS), min_size=1, max_size=4))
@settings(max_examples=300)
def test_changed_section_headers_end_well(kind: tuple[str, str], changes: list[tuple[int, int, int]]) -> None:
    data = bytearray(cubin(*kind))
    table, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    for section, place, number in changes:
        start = table + section % count * 64 + place // 4 * 4
        data[start : start + 8] = struct.pack("<Q", number)[: len(data[start : start + 8])]
    ends_well(bytes(data))


@given(KINDS, st.integers(16, 63), NUMBERS)
@settings(max_examples=150)
def test_a_changed_elf_header_ends_well(kind: tuple[str, str], place: int, number: int) -> None:
    data = bytearray(cubin(*kind))
    data[place : place + 4] = struct.pack("<Q", number)[:4]
    ends_well(bytes(data))


@given(st.binary(max_size=300))
@example(b"")
@example(b"\x7fELF")
def test_any_bytes_end_well(data: bytes) -> None:
    assert not ends_well(data)
    ends_well(data, ".sass")


SASS = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(
            ["Function:k", "LBB0:", "--:-:-:-:1\tBRA LBB0;", "--:-:-:-:1\tBRA LBB9;", "99:7:7:Y:f\tBRA 0xfffffffffff;",
             "--:-:-:-:1\t@P0 BRA 0x0;", "--:-:-:-:1\tDEPBAR {}}}{;", "--:-:-:-:1\tR;", "/*0000*/ NOP ;"]
        ),
    ),
    max_size=30,
)  # fmt: skip


@given(SASS)
@example(["BRA LBB0", "LBB0:", "/*0000*/ NOP ;"])  # into the padding
@example(["--:-:-:-:1\tCALL LBB0;", "LBB0:", "/*0000*/ NOP ;"])
@settings(max_examples=300)
def test_any_text_ends_well(lines: list[str]) -> None:
    ends_well("\n".join(lines).encode("utf-8", "surrogatepass"), ".sass")


@pytest.mark.parametrize(
    "line",
    [
        "MOV " + "SR_A." * 400_000,
        "MOV " + "R1." * 400_000 + "!",
        "MOV " + "[" * 400_000,
        "MOV " + "{" * 400_000,
        "MOV " + "{1," * 300_000,
        "MOV " + "-" * 400_000,
        "MOV " + " " * 400_000 + "!",
        "A." * 400_000,
        "MOV R0, " + "(*" * 400_000,
        "`(.L_x_" * 200_000,
    ],
)
def test_a_long_line_costs_little(line: str) -> None:
    begin = time.monotonic()
    ends_well(f"Function:k\n--:-:-:-:1\t{line};\n--:-:-:-:1\tEXIT;\n{line}\n".encode(), ".sass")
    assert time.monotonic() - begin < 3


def test_long_code_with_branches_everywhere_costs_little() -> None:
    begin = time.monotonic()
    for place in (lambda index: (index * 7919) % 20_000, lambda index: max(0, index - 1), lambda index: 0):
        lines = ["NOP" if index % 3 == 0 else f"@P0 BRA {16 * place(index):#x}" for index in range(20_000)]
        find_loops(code_text(lines, [-1] * len(lines)))
    assert time.monotonic() - begin < 20


def with_sections(count: int, name: bytes, size: int) -> bytes:
    """An ELF file of many sections that share one name."""
    strings = b"\0" + name + b"\0"
    body = strings.ljust(-(-len(strings) // 16) * 16, b"\0") + bytes(count * size)
    table = 64 + len(body)
    header = (
        b"\x7fELF\x02\x01\x01\x33\x07"
        + bytes(7)
        + struct.pack("<HHIQQQIHHHHHH", 2, 190, 128, 0, 0, table, 0x5A0D5A, 64, 56, 0, 64, count + 2, 1)
    )
    start = 64 + len(body) - count * size
    sections = [
        struct.pack("<IIQQQQIIQQ", *[0] * 10),
        struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, len(strings), 0, 0, 1, 0),
    ]
    sections += [
        struct.pack("<IIQQQQIIQQ", 1, 1, 6, 0, start + index * size, size, 0, 0, 1, 0)
        for index in range(count)
    ]
    return header + body + b"".join(sections)


@pytest.mark.parametrize(
    "name", [b".text.k", b".nv.constant0.k", b".nv.info.k", b"x" * 16_000, b"y" * 20_000]
)
def test_many_sections_of_one_name_cost_little(name: bytes) -> None:
    begin = time.monotonic()
    assert not ends_well(with_sections(20_000, name, 16))
    assert time.monotonic() - begin < 5


def test_a_small_file_of_that_shape_is_read() -> None:
    """The shape above is refused for its many sections, not for its form."""
    assert ends_well(with_sections(1, b".text.k", 16))
