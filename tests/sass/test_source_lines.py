"""The user's line of each instruction, and every opcode, against nvdisasm on one file at a time."""

from __future__ import annotations

import re
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import corpus
from irdiff.api import Artifact, Canonical, Context, Summary
from irdiff.tools import LocalToolbox
from irdiff_sass.cubin import read_cubin
from irdiff_sass.decoded import Listing
from irdiff_sass.plugin import STAGE
from irdiff_sass.source_lines import LINES, source_lines

Read = Callable[[Path], tuple[Summary, Canonical]]
FILE = re.compile(r'\s*//## File "([^"]+)", line (\d+)')
ROW = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")


def distinct() -> list[Path]:
    """Every committed cubin with a content of its own, those that were made to spill too."""
    found: dict[bytes, Path] = {}
    for path in [*corpus.artifacts(".cubin"), *sorted((corpus.FIXTURES / "ptxas").glob("*.cubin"))]:
        found.setdefault(path.read_bytes(), path)
    return list(found.values())


def listed(tool: str, path: Path) -> list[tuple[int, str, str | None]]:
    """(address, opcode, line) as nvdisasm prints them."""
    ran = subprocess.run([tool, "-c", "-g", path], capture_output=True, text=True, check=True, timeout=60)
    rows: list[tuple[int, str, str | None]] = []
    line: str | None = None
    for text in ran.stdout.splitlines():
        named, row = FILE.match(text), ROW.match(text)
        if named:
            line = f"{named[1]}:{named[2]}"
        elif row:
            rows.append((int(row[1], 16), row[2], line))
    return rows


@pytest.mark.parametrize("path", distinct(), ids=lambda path: "/".join(path.parts[-4:-2]) + "/" + path.stem)
def test_opcodes_and_lines_are_those_of_one_file_at_a_time(
    path: Path, read: Read, toolbox: LocalToolbox, prepared: Mapping[str, object]
) -> None:
    rows = listed(toolbox.find("nvdisasm")[0].path, path)
    assert rows
    lines = source_lines(read_cubin(path.read_bytes()))
    for address, _, where in rows:
        library = where is not None and "triton/language/" in where
        assert lines.get(address) == (None if library else where)
    while rows[-1][1] == "NOP":
        rows.pop()
    summary, _ = read(path)
    facts = {fact.id: fact.value for fact in summary.facts if not fact.scope}
    assert facts["sass.instructions"] == len(rows)
    assert facts["sass.opcodes"] == Counter(opcode for _, opcode, _ in rows)
    classes = facts["sass.classes"]
    assert isinstance(classes, dict)
    assert classes.get("unclassified", 0) == 0


def test_the_batch_holds_every_cubin_of_the_bundles(prepared: Mapping[str, object]) -> None:
    assert len(prepared) >= 40
    assert all(isinstance(each, Listing) for each in prepared.values())


def lines_of(data: bytes) -> dict[int, str]:
    assert STAGE.source_lines is not None
    return dict(STAGE.source_lines(Artifact.of_bytes(data), Context(tools=LocalToolbox({}, {}))))


def with_table(change: Callable[[bytearray], None]) -> bytes:
    """The reference matmul, its line table changed."""
    (path,) = corpus.entry("3.6.0", "sm_90", "matmul_kernel", "w4s2").glob("*.cubin")
    data = bytearray(path.read_bytes())
    section = read_cubin(bytes(data)).elf.named(LINES)
    assert section is not None
    table = bytearray(data[section.offset : section.offset + section.size])
    change(table)
    data[section.offset : section.offset + section.size] = table
    return bytes(data)


def test_the_matmul_knows_the_line_of_its_dot() -> None:
    found = lines_of(with_table(lambda table: None))
    assert {where.rpartition("/")[2].partition(":")[0] for where in found.values()} == {"matmul.py"}


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.__setitem__(slice(0, 4), struct.pack("<I", 0xFFFFFFF0)),
        lambda table: table.__setitem__(slice(4, 6), struct.pack("<H", 77)),
        lambda table: table.__setitem__(slice(6, 10), struct.pack("<I", 0x7FFFFFFF)),
        lambda table: table.__setitem__(13, 0),
        lambda table: table.__setitem__(slice(0, len(table)), bytes(len(table))),
        lambda table: table.__setitem__(slice(10, len(table)), b"\xff" * (len(table) - 10)),
    ],
)
def test_a_damaged_line_table_gives_no_lines(change: Callable[[bytearray], None]) -> None:
    assert lines_of(with_table(change)) == {}


def test_a_changed_kernel_names_the_line_of_the_user_in_the_machine_code(toolbox: LocalToolbox) -> None:
    from command import irdiff_json

    (kernel,) = irdiff_json("compare", *corpus.case("fp-fusion-off"))["kernels"]
    opcodes = [change for change in kernel["changes"] if change["fact"] == "sass.opcodes"]
    assert opcodes
    assert all(re.fullmatch(r"\w+\.py:\d+", change["source"]) for change in opcodes)


def test_a_place_in_the_file_is_not_taken_for_a_place_in_the_code() -> None:
    """Registers rest on a byte of the file: that number is also an address of an instruction."""
    from command import irdiff_json

    (kernel,) = irdiff_json("compare", *corpus.case("stride-not-multiple-of-16"))["kernels"]
    changes = {change["fact"]: change for change in kernel["changes"]}
    assert changes["sass.registers"]["source"] is None
    assert re.fullmatch(r"\w+\.py:\d+", changes["sass.global_loads"]["source"])
