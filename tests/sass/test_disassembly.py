"""Decoding many cubins with one process, against nvdisasm on one file at a time."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import corpus
from irdiff.api import Artifact, Canonical, Context, Summary, Tool, ToolError, ToolResult
from irdiff.tools import LocalToolbox
from irdiff_sass.cubin import read_cubin
from irdiff_sass.decoded import Listing, Undecoded
from irdiff_sass.disassembly import prepare
from irdiff_sass.families import TABLE, UNCLASSIFIED, class_of
from irdiff_sass.instructions import read_statement
from irdiff_sass.plugin import STAGE

Read = Callable[[Path], tuple[Summary, Canonical]]
LINE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*);", re.MULTILINE)
SINGLY = (
    ("3.6.0", "sm_80", "matmul_kernel"),
    ("3.6.0", "sm_90", "flash_attention_fwd_kernel"),
    ("3.6.0", "sm_90", "tma_matmul_kernel"),
    ("3.9.0", "sm_100", "matmul_kernel"),
    ("3.6.0", "sm_121", "matmul_kernel"),
)


def artifact(path: Path) -> Artifact:
    return Artifact(stage="sass", suffix=path.suffix, location=str(path), read=path.read_bytes)


def value(summary: Summary, name: str, scope: str = "") -> object:
    (found,) = (fact.value for fact in summary.facts if fact.id == name and fact.scope == scope)
    return found


@pytest.mark.parametrize(("release", "target", "kernel"), SINGLY)
def test_a_batch_decodes_as_one_file_at_a_time(
    release: str, target: str, kernel: str, read: Read, toolbox: LocalToolbox
) -> None:
    (path,) = corpus.entry(release, target, kernel).glob("*.cubin")
    tool = toolbox.find("nvdisasm")[0]
    ran = subprocess.run([tool.path, "-c", path], capture_output=True, text=True, check=True, timeout=60)
    opcodes = [found[2] for found in LINE.finditer(ran.stdout)]
    while opcodes[-1] == "NOP":
        opcodes.pop()
    summary, _ = read(path)
    assert value(summary, "sass.instructions") == len(opcodes)
    assert value(summary, "sass.opcodes") == Counter(opcodes)


def test_branch_targets_do_not_depend_on_the_place_in_a_batch(
    cubins: tuple[Path, ...], toolbox: LocalToolbox
) -> None:
    same = [path for path in cubins if "3.6.0/sm_90" in str(path)][:6]
    alone = [prepare([artifact(path)], toolbox) for path in same]
    together = prepare([artifact(path) for path in same], toolbox)
    assert together == {key: listing for each in alone for key, listing in each.items()}
    assert sum(isinstance(each, Listing) for each in together.values()) == len(together) > 3


def test_every_instruction_of_the_fixtures_is_understood_and_classified(
    cubins: tuple[Path, ...], read: Read
) -> None:
    for path in cubins:
        summary, _ = read(path)
        assert summary.degraded is None
        assert summary.coverage.ratio == 1.0, summary.coverage.unknown
        assert UNCLASSIFIED not in value(summary, "sass.classes")  # type: ignore[operator]
        assert sum(value(summary, "sass.classes").values()) == value(summary, "sass.instructions")  # type: ignore[attr-defined]


def test_the_recorded_cache_is_decoded_in_one_process(h200: Path, toolbox: LocalToolbox) -> None:
    box = Counting(toolbox)
    artifacts = [artifact(path) for path in sorted(h200.rglob("*.cubin"))]
    prepared = prepare(artifacts, box)
    assert len(artifacts) == 141
    assert box.runs == 1
    understood = total = 0
    for each in artifacts:
        summary = STAGE.summarize(each, Context(tools=toolbox, prepared=prepared[each.sha256]))
        understood, total = understood + summary.coverage.understood, total + summary.coverage.total
    assert understood == total > 70_000


class Counting:
    """A toolbox that counts runs, and can pretend that there are other copies."""

    def __init__(self, inner: LocalToolbox, copies: Sequence[Tool] | None = None) -> None:
        self.inner = inner
        self.copies = copies
        self.runs = 0

    def find(self, tool_id: str) -> tuple[Tool, ...]:
        return self.inner.find(tool_id) if self.copies is None else tuple(self.copies)

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:
        self.runs += 1
        return self.inner.run(tool, arguments, timeout=timeout)


def tool(toolbox: LocalToolbox, version: str, *supports: str) -> Tool:
    found = toolbox.find("nvdisasm")[0]
    return Tool(id=found.id, path=found.path, origin="test", version=version, supports=supports)


SM121 = ("3.6.0", "sm_121", "matmul_kernel")


def test_without_a_disassembler_the_rest_is_read_and_it_says_how_to_get_one(no_tools: LocalToolbox) -> None:
    (path,) = corpus.entry(*SM121).glob("*.cubin")
    summary = STAGE.summarize(artifact(path), Context(tools=no_tools))
    assert summary.degraded == (
        "SASS not decoded: no nvdisasm was found; registers, spills and fingerprint were read without it. "
        "pip install 'irdiff[sass]' brings one."
    )
    assert value(summary, "sass.registers") == 80
    assert not [fact for fact in summary.facts if fact.id == "sass.opcodes"]
    assert summary.coverage.understood == summary.coverage.total > 0


def test_a_disassembler_too_old_for_the_target_is_named(toolbox: LocalToolbox) -> None:
    (path,) = corpus.entry(*SM121).glob("*.cubin")
    box = Counting(toolbox, [tool(toolbox, "12.8.93", "SM90", "SM90a", "SM100a", "SM120a")])
    prepared = prepare([artifact(path)], box)
    summary = STAGE.summarize(artifact(path), Context(tools=box, prepared=prepared[artifact(path).sha256]))
    assert summary.degraded == (
        "SASS not decoded: nvdisasm 12.8 does not know sm_121; registers, spills and fingerprint were read without "
        "it. pip install 'irdiff[sass]' brings one that does."
    )
    assert box.runs == 0


def test_the_first_copy_that_knows_the_target_decodes_it(toolbox: LocalToolbox) -> None:
    (path,) = corpus.entry(*SM121).glob("*.cubin")
    box = Counting(toolbox, [tool(toolbox, "12.8.93", "SM90a"), tool(toolbox, "13.5.37", "SM90a", "SM121a")])
    (listing,) = prepare([artifact(path)], box).values()
    assert isinstance(listing, Listing)


def test_one_bad_cubin_does_not_spoil_the_batch(cubins: tuple[Path, ...], toolbox: LocalToolbox) -> None:
    good = [path for path in cubins if "3.6.0/sm_90" in str(path)][:5]
    data = bytearray(good[0].read_bytes())
    start = read_cubin(bytes(data)).codes[0].section.offset
    data[start + 64 : start + 80] = b"\xff" * 16
    bad = Artifact.of_bytes(bytes(data), suffix=".cubin")
    prepared = prepare([*(artifact(path) for path in good), bad], toolbox)
    assert all(isinstance(prepared[artifact(path).sha256], Listing) for path in good)
    refused = prepared[bad.sha256]
    assert isinstance(refused, Undecoded)
    assert "nvdisasm 13" in refused.reason
    summary = STAGE.summarize(bad, Context(tools=toolbox, prepared=refused))
    assert summary.degraded == refused.reason
    assert value(summary, "sass.registers") is not None


class Hanging(Counting):
    """A disassembler that never ends."""

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:
        self.runs += 1
        raise ToolError("did not end within 30 s", where=tool.path)


def test_a_disassembler_that_hangs_is_given_up_soon(cubins: tuple[Path, ...], toolbox: LocalToolbox) -> None:
    box = Hanging(toolbox)
    some = [path for path in cubins if "sm_90" in str(path)]
    prepared = prepare([artifact(path) for path in some], box)
    assert box.runs <= 4
    assert all(isinstance(each, Undecoded) for each in prepared.values())


class Short(Counting):
    """A disassembler that leaves the last instruction out."""

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:
        result = super().run(tool, arguments, timeout=timeout)
        cut = result.stdout.rstrip().rpartition(b"\n")[0]
        return ToolResult(returncode=0, stdout=cut, stderr=b"")


def test_an_incomplete_listing_is_not_taken_for_the_code(toolbox: LocalToolbox) -> None:
    (path,) = corpus.entry(*SM121).glob("*.cubin")
    (found,) = prepare([artifact(path)], Short(toolbox)).values()
    assert isinstance(found, Undecoded)
    assert "instructions were decoded" in found.reason


@pytest.mark.parametrize(
    ("text", "opcode", "operands"),
    [
        ("LDC R1, c[0x0][0x37c]   ?trans1", "LDC", ("R1", "c[0x0][0x37c]")),
        ("LDG.E R2, desc[UR4][R2.64] &req={1,2} &wr=0x1 ?trans2", "LDG.E", ("R2", "desc[UR4][R2.64]")),
        ('STL [R1+0x4], R5 (*"SpillRefill"*)', "STL", ("[R1+0x4]", "R5")),
        ("DEPBAR {5,4,3,2,1,0} ", "DEPBAR", ("{5,4,3,2,1,0}",)),
        ("RET.REL.NODEC R2 0x0", "RET.REL.NODEC", ("R2 0x0",)),
        ("EXIT", "EXIT", ()),
    ],
)
def test_quirks_of_disassemblers_are_taken_away(text: str, opcode: str, operands: tuple[str, ...]) -> None:
    found = read_statement(text, address=0)
    assert found is not None
    assert (found.opcode, found.operands) == (opcode, operands)


def test_an_unknown_opcode_is_classified_by_prefix_and_lowers_coverage(toolbox: LocalToolbox) -> None:
    assert "UTCXMMA" not in TABLE
    assert class_of("UTCXMMA") == "tensor"
    assert class_of("FROBNICATE") == UNCLASSIFIED
    known = "Function:k\n--:-:-:-:1\tMOV R0, 0x1;\n"
    text = known + "--:-:-:-:1\tUTCXMMA R0;\n--:-:-:-:1\tFROBNICATE R0;\n--:-:-:-:1\tMOV R0, <odd>;\n"
    summary = STAGE.summarize(Artifact.of_bytes(text.encode(), suffix=".sass"), Context(tools=toolbox))
    assert (summary.coverage.understood, summary.coverage.total) == (1, 4)
    assert value(summary, "sass.classes") == {"integer": 2, "tensor": 1, UNCLASSIFIED: 1}
    assert [place for place, _ in summary.coverage.unknown] == [16, 32, 48]


def test_the_text_of_a_dump_says_what_the_cubin_decodes_to(
    toolbox: LocalToolbox,
) -> None:
    (text,) = corpus.FIXTURES.glob("dumps/triton-3.6.0/*/*.sass")
    from_text = STAGE.summarize(artifact(text), Context(tools=toolbox))
    cubin = artifact(text.with_suffix(".cubin"))
    from_code = STAGE.summarize(cubin, Context(tools=toolbox))
    counted = [fact for fact in from_code.facts if fact.id in {each.id for each in from_text.facts}]
    assert list(from_text.facts) == counted
    assert from_text.scopes == from_code.scopes
    assert from_text.degraded is not None
    lines = STAGE.canonical(artifact(text), Context(tools=toolbox)).lines
    code = STAGE.canonical(cubin, Context(tools=toolbox)).lines
    assert lines == code[code.index("entry0:") :]


def test_every_counted_fact_rests_on_addresses_of_the_code(
    cubins: tuple[Path, ...], prepared: Mapping[str, object], read: Read
) -> None:
    specs = {spec.id: spec for spec in STAGE.facts}
    for path in cubins[::5]:
        listing = prepared[artifact(path).sha256]
        assert isinstance(listing, Listing)
        addresses = {each.address for code in listing.codes for each in code.instructions}
        summary, _ = read(path)
        for fact in summary.facts:
            if specs[fact.id].place == "address":
                for key, places in fact.evidence.items():
                    assert set(places) <= addresses
                    if isinstance(fact.value, dict):
                        assert fact.value[key] == len(places)
