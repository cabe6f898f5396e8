"""SPIR-V as the specification has it: SPIRV-Tools agree with what is read without them."""

from __future__ import annotations

import re
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from irdiff.api import Artifact, Context, EntryInfo, ParseError
from irdiff.testing import NoTools, local_tools

from irdiff_spirv.binary import walk
from irdiff_spirv.names import names
from irdiff_spirv.plugin import DISASSEMBLER, STAGE, expected
from spirv_samples import (
    BINARIES,
    SAMPLES,
    TEXTS,
    assembled,
    canonical_of,
    facts_of,
    program,
    summary_of,
    without_tool,
)

ROW_SUM = (SAMPLES / "row_sum.spv").read_bytes()
VECTOR_ADD = (SAMPLES / "vector_add.spv").read_bytes()
ATOMIC = (SAMPLES / "atomic_sum.spvasm").read_bytes()
OPERANDS = {"spirv.calls", "spirv.matrix"}
"""Facts that rest on operands which are not read without the disassembler."""


def listed(path: Path) -> list[str]:
    """The lines of spirv-dis, each an instruction."""
    done = subprocess.run(
        [program("spirv-dis"), "--raw-id", "--no-header", path], capture_output=True, text=True, check=True
    )
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


@pytest.mark.parametrize("path", BINARIES, ids=lambda path: path.name)
def test_the_walk_finds_the_instructions_that_the_disassembler_prints(path: Path) -> None:
    found = walk(path.read_bytes()).instructions
    lines = listed(path)
    assert [each.opcode for each in found] == [re.match(r"(?:%\d+ = )?(Op\w+)", line)[1] for line in lines]  # type: ignore[index]  # every line is one
    results = [re.match(r"(%\d+) = ", line) for line in lines]
    assert [each.result for each in found] == [each[1] if each else None for each in results]


@pytest.mark.parametrize("path", BINARIES, ids=lambda path: path.name)
def test_without_the_tool_the_same_facts_are_read(path: Path) -> None:
    """But for those that need operands; and it is told."""
    summary = without_tool(path.read_bytes())
    told = {fact.id: fact.value for fact in summary.facts if not fact.scope}
    known = facts_of(path.read_bytes())
    for fact in known.keys() - OPERANDS - {"spirv.execution_modes", "spirv.opcodes"}:
        assert told[fact] == known[fact], fact
    assert told["spirv.execution_modes"].keys() == known["spirv.execution_modes"].keys()  # type: ignore[union-attr, attr-defined]  # records
    assert (
        summary.degraded
        == "spirv-dis was not found: instructions are counted, most of their operands are not read"
    )
    assert [(issue.severity, issue.code) for issue in summary.issues] == [("warning", "not-disassembled")]
    assert summary_of(path.read_bytes()).degraded is None


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_text_and_the_module_assembled_from_it_are_the_same(path: Path) -> None:
    text, module = path.read_bytes(), assembled(path.read_bytes())
    version = {"spirv.version", "spirv.generator"}
    assert {name: value for name, value in facts_of(text).items() if name not in version} == {
        name: value for name, value in facts_of(module).items() if name not in version
    }
    assert canonical_of(text).lines[1:] == canonical_of(module).lines[1:]


def test_a_loop_is_counted_by_itself() -> None:
    whole, loop = facts_of(ATOMIC), facts_of(ATOMIC, "loop0")
    assert whole["spirv.barriers"] == {"OpControlBarrier": 2}
    assert loop["spirv.barriers"] == {}
    assert loop["spirv.global_loads"] == whole["spirv.global_loads"] == {"16": 1}
    assert loop["spirv.atomics"] == {"OpAtomicIAdd": 1}
    assert whole["spirv.shared_loads"] == {"4": 1}
    assert [scope.id for scope in summary_of(ROW_SUM).scopes] == ["loop0"]


def test_what_is_declared_is_read() -> None:
    facts = facts_of(ROW_SUM)
    assert facts["spirv.entry_points"] == ("Kernel row_sum",)
    assert facts["spirv.memory_model"] == "Physical64 OpenCL"
    assert facts["spirv.generator"] == "Khronos LLVM/SPIR-V Translator; 14"
    modes = facts["spirv.execution_modes"]
    assert modes == {"ContractionOff": True, "MaxWorkgroupSizeINTEL": "128 1 1", "SubgroupSize": 32}
    assert "Kernel" in facts["spirv.capabilities"]  # type: ignore[operator]  # a set


def test_matrix_products_are_calls_by_name() -> None:
    (name,) = facts_of((SAMPLES / "matmul.spv").read_bytes())["spirv.matrix"]  # type: ignore[misc]  # a tally
    assert "matrix_mad_k16" in name


def test_instructions_lead_to_lines_of_python() -> None:
    lines = Counter(where.rpartition("/")[2] for where in summary_of(ROW_SUM).source_lines.values())
    source = (SAMPLES / "make.py").read_text().split("\n")
    loads = [number for number, line in enumerate(source, 1) if "total += tl.load(x + at" in line]
    assert lines[f"make.py:{loads[0]}"] > 4
    assert summary_of((SAMPLES / "row_sum_without_lines.spv").read_bytes()).source_lines == {}


def test_line_information_means_nothing() -> None:
    quiet = (SAMPLES / "row_sum_without_lines.spv").read_bytes()
    assert canonical_of(ROW_SUM).lines == canonical_of(quiet).lines
    assert canonical_of(ROW_SUM).erased["debug-info"] != canonical_of(quiet).erased["debug-info"]


def test_a_cut_module_is_told() -> None:
    for cut in (ROW_SUM[:-4], ROW_SUM[: len(ROW_SUM) // 8 * 4], ROW_SUM[:-2]):
        assert "truncated" in {issue.code for issue in summary_of(cut).issues}
    with pytest.raises(ParseError, match="ends in its header"):
        summary_of(ROW_SUM[:16])


def test_the_other_byte_order_is_read_alike() -> None:
    words = struct.unpack(f"<{len(VECTOR_ADD) // 4}I", VECTOR_ADD)
    other = struct.pack(f">{len(words)}I", *words)
    left, right = walk(VECTOR_ADD), walk(other)
    assert left.instructions == right.instructions
    assert facts_of(other) == facts_of(VECTOR_ADD)


def test_an_opcode_without_a_name_is_counted_and_not_understood() -> None:
    body = struct.pack("<I", 2 << 16 | 60_001) + struct.pack("<I", 7)
    at = VECTOR_ADD.rindex(struct.pack("<I", 1 << 16 | 253))  # OpReturn
    summary = summary_of(VECTOR_ADD[:at] + body + VECTOR_ADD[at:])
    assert summary.coverage.total - summary.coverage.understood == 1
    assert summary.coverage.unknown[0][1] == "Op60001"
    assert summary.degraded is not None
    assert summary.degraded.startswith("spirv-dis ")
    assert "does not read it" in summary.degraded


def test_names_are_those_of_the_specification() -> None:
    assert names().opcodes[61] == ("OpLoad", "tr")
    assert names().opcodes[62] == ("OpStore", "")
    assert names().enumerants["storage"][5] == "CrossWorkgroup"
    assert len(names().opcodes) > 700


def test_strings_keep_semicolons_and_quotes() -> None:
    text = ATOMIC.replace(b'"atomic_sum" %group', b'"a;\\"b" %group')
    assert facts_of(text)["spirv.entry_points"] == ('Kernel a;\\"b',)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"hello world\n", b"; only a comment\n"])
def test_what_is_no_spirv_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError):
        STAGE.summarize(Artifact.of_bytes(data), Context(tools=NoTools()))


def test_the_tool_is_found_and_says_its_version() -> None:
    (first, *_) = local_tools(DISASSEMBLER).find("spirv-dis")
    assert re.fullmatch(r"\d{4}\.\d+", first.version)


def test_an_entry_of_intels_backend_is_expected_to_hold_it() -> None:
    entry = EntryInfo(layout="cache", backend="xpu", release=(3, 3), suffixes=frozenset({".spv"}))
    assert expected(entry)
    assert not expected(EntryInfo(layout="cache", backend="cuda", release=(3, 3), suffixes=frozenset()))
