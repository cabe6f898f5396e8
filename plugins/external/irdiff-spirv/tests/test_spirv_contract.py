"""The SPIR-V stage keeps the promises that every stage keeps, with its disassembler and without."""

from __future__ import annotations

import random
import re
from pathlib import Path

import msgspec
from irdiff.testing import (
    DeterminismContract,
    Edit,
    EditContract,
    GoldenContract,
    StageContract,
    TruncationContract,
    inserted,
    replaced,
    replaced_everywhere,
)

from irdiff_spirv.plugin import STAGE
from spirv_samples import BINARIES, SAMPLES, TEXTS, TOOLS, assembled, run

SMALL = (SAMPLES / "vector_add.spv", SAMPLES / "row_sum.spv")


class TestBinary(StageContract, TruncationContract):
    stage = STAGE
    samples = SMALL
    tools = TOOLS
    damaged = 40
    prefixes = 10


class TestWithoutTool(StageContract, TruncationContract, DeterminismContract):
    stage = STAGE
    samples = BINARIES
    plugin = "irdiff_spirv.plugin"
    damaged = 200


class TestText(StageContract, TruncationContract, DeterminismContract):
    stage = msgspec.structs.replace(STAGE, suffixes=(".spvasm",))
    samples = TEXTS
    plugin = "irdiff_spirv.plugin"


class TestGolden(GoldenContract):
    stage = STAGE
    samples = (SAMPLES / "vector_add.spv", SAMPLES / "matmul.spv", *TEXTS)
    tools = TOOLS
    goldens = Path(__file__).parent / "golden/with-tool"


class TestGoldenWithoutTool(GoldenContract):
    stage = STAGE
    samples = SMALL
    goldens = Path(__file__).parent / "golden/without-tool"


def renamed(data: bytes, chance: random.Random) -> bytes:
    """A random bijection of ids."""
    names = sorted(set(re.findall(rb"%\w+", data)))
    new = dict(zip(names, chance.sample(names, len(names)), strict=True))
    return re.sub(rb"%\w+", lambda found: new[found[0]], data)


class TestEdits(EditContract):
    stage = STAGE
    samples = TEXTS
    edits = (
        Edit(name="a sum", apply=replaced("OpIAdd", "OpISub"), facts=("spirv.opcodes",)),
        Edit(name="an atomic", apply=replaced("OpAtomicIAdd", "OpAtomicSMax"), facts=("spirv.atomics",)),
        Edit(
            name="a barrier gone", apply=replaced(r"^ *OpControlBarrier .*\n", ""), facts=("spirv.barriers",)
        ),
        Edit(
            name="subgroups", apply=replaced("(?<=SubgroupSize )16", "32"), facts=("spirv.execution_modes",)
        ),
        Edit(name="local size", apply=replaced("64 1 1", "128 1 1"), facts=("spirv.execution_modes",)),
        Edit(name="capability", apply=replaced("Int64", "Int16"), facts=("spirv.capabilities",)),
        Edit(
            name="width",
            apply=replaced("(?<=%v4uint = OpTypeVector %uint )4", "2"),
            facts=("spirv.global_loads",),
        ),
        Edit(
            name="storage class",
            apply=replaced_everywhere(r"Workgroup(?= %uint$)|(?<=local_uint )Workgroup", "CrossWorkgroup"),
            facts=("spirv.shared_stores",),
        ),
        Edit(name="memory model", apply=replaced("Physical64", "Physical32"), facts=("spirv.memory_model",)),
        Edit(
            name="entry name",
            apply=replaced('(?<=Kernel %main )"atomic_sum"', '"other"'),
            facts=("spirv.entry_points",),
        ),
        Edit(name="constant", apply=replaced(r"(?<=OpConstant %uint )16$", "17")),
        Edit(name="operands", apply=replaced("%i %uint_1", "%uint_1 %i")),
        Edit(name="alignment", apply=replaced("Aligned 16", "Aligned 4")),
        Edit(
            name="extension",
            apply=inserted('OpExtension "SPV_KHR_x"', ".*OpMemoryModel"),
            facts=("spirv.extensions",),
        ),
    )
    respellings = (
        Edit(name="ids renamed", apply=renamed),
        Edit(name="comments", apply=inserted("; OpIAdd %uint %1 %2", " +%sum")),
        Edit(name="source", apply=replaced("OpSource OpenCL_C 200000", "OpSource OpenCL_C 100000")),
        Edit(name="a name more", apply=inserted('OpName %i "i"', " +OpName")),
        Edit(name="a module processed", apply=inserted('OpModuleProcessed "by; \\"x\\""', " +OpDecorate")),
        Edit(name="blanks", apply=replaced_everywhere("^ +", "")),
    )


def reassembled(data: bytes, chance: random.Random) -> bytes:
    """The module through its text with friendly names: ids get other numbers, the header another generator."""
    return assembled(run("spirv-dis", data), data)


def without_lines(data: bytes, chance: random.Random) -> bytes:
    """The module without its line information and names."""
    text = run("spirv-dis", data, "--raw-id")
    return assembled(
        re.sub(rb"(?m)^ *(?:OpLine|OpNoLine|OpName|OpModuleProcessed|OpSource).*\n", b"", text), data
    )


def another_constant(data: bytes, chance: random.Random) -> bytes:
    """One constant of the module plus one."""
    text = run("spirv-dis", data, "--raw-id")
    places = list(re.finditer(rb"(?<=OpConstant %)(\d+ )(\d{1,5})\b", text))
    found = chance.choice(places)
    return assembled(text[: found.start(2)] + str(int(found[2]) + 1).encode() + text[found.end(2) :], data)


class TestEditsOfBinaries(EditContract):
    """By way of SPIRV-Tools, which write modules that nobody of ours wrote."""

    stage = STAGE
    samples = BINARIES
    tools = TOOLS
    draws = len(BINARIES)
    edits = (Edit(name="another constant", apply=another_constant),)
    respellings = (
        Edit(name="reassembled", apply=reassembled),
        Edit(name="without lines", apply=without_lines),
    )
