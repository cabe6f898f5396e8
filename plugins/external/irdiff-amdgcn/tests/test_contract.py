"""Both stages keep the promises that every stage keeps."""

from __future__ import annotations

from pathlib import Path

from irdiff.testing import (
    DeterminismContract,
    Edit,
    EditContract,
    GoldenContract,
    StageContract,
    TruncationContract,
    replaced,
    replaced_everywhere,
)

from amd_fixtures import entry
from irdiff_amdgcn.plugin import AMDGCN, HSACO

SMALL = [
    entry("3.3.1", "gfx90a", "softmax"),
    entry("3.6.0", "gfx942", "locked_sum"),
    entry("3.7.1", "gfx950", "locked_sum"),
    entry("3.8.0", "gfx1100", "locked_sum"),
    entry("3.9.0", "gfx1201", "layer_norm"),
]
MATMULS = [entry("3.6.0", "gfx942", "matmul"), entry("3.9.0", "gfx1201", "matmul")]
GOLDEN = Path(__file__).parent / "golden"


class TestAmdgcn(StageContract, TruncationContract, DeterminismContract):
    stage = AMDGCN
    samples = tuple(each.files[".amdgcn"] for each in SMALL)
    plugin = "irdiff_amdgcn.plugin"


class TestAmdgcnEdits(EditContract):
    stage = AMDGCN
    samples = tuple(each.files[".amdgcn"] for each in MATMULS)
    edits = (
        Edit(
            name="a narrower load",
            apply=replaced(r"global_load_(?:dwordx4|b128) v\[(\d+):\d+\]", r"global_load_dword v\1"),
            facts=("amdgcn.global_loads",),
        ),
        Edit(
            name="another matrix instruction",
            apply=replaced(r"(v_mfma_f32|v_wmma_f32)(_\d+x\d+x\d+)_?f16", r"\1\2_bf16"),
            facts=("amdgcn.mma",),
        ),
        Edit(name="a barrier less", apply=replaced(r"\n\ts_barrier\w*.*", ""), facts=("amdgcn.barriers",)),
        Edit(
            name="a stricter wait",
            apply=replaced(r"(\ts_waitcnt vmcnt|\ts_wait_loadcnt )(?:\([1-9]\)|0x[1-9])", r"\g<1>(0)"),
            facts=("amdgcn.async_waits",),
        ),
        Edit(name="another literal", apply=replaced(r", 0x100\b", ", 0x140"), facts=("amdgcn.immediates",)),
        Edit(
            name="more registers",
            apply=replaced(r"(\.vgpr_count: +)\d+", r"\g<1>200"),
            facts=("amdgcn.registers",),
        ),
        Edit(
            name="a spill",
            apply=replaced(r"(\.vgpr_spill_count: +)0", r"\g<1>4"),
            facts=("amdgcn.vgpr_spills",),
        ),
        Edit(
            name="a fused product",
            apply=replaced(r"v_cvt_f16_f32_e32", "v_cvt_f32_f16_e32"),
            facts=("amdgcn.conversions",),
        ),
    )
    respellings = (
        Edit(name="other labels", apply=replaced_everywhere(r"\.LBB0_(?=\d)", ".LBB3_1")),
        Edit(name="other lines", apply=replaced_everywhere(r"(\.loc\t\d+) ", r"\1 1")),
        Edit(name="another path", apply=replaced_everywhere(r'"/tmp/', '"/home/user/')),
        Edit(name="no comments on blocks", apply=replaced_everywhere(r"; %bb\.\d+:", "; a block")),
        Edit(name="no symbols", apply=replaced_everywhere(r"\n\t\.set .*", "")),
    )


class TestAmdgcnGolden(GoldenContract):
    stage = AMDGCN
    samples = (SMALL[1].files[".amdgcn"],)
    goldens = GOLDEN / "amdgcn"


class TestHsaco(StageContract, TruncationContract, DeterminismContract):
    stage = HSACO
    samples = tuple(each.files[".hsaco"] for each in SMALL)
    damaged = 200
    plugin = "irdiff_amdgcn.plugin"


class TestHsacoGolden(GoldenContract):
    stage = HSACO
    samples = (SMALL[1].files[".hsaco"],)
    goldens = GOLDEN / "hsaco"
