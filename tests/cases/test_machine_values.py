"""What public reports were about, in the machine stages: measured values, from committed artifacts alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import corpus
from command import irdiff_json

MACHINE = ("ptx", "sass")


@cache
def report(name: str) -> dict[str, Any]:
    (kernel,) = irdiff_json("compare", *corpus.case(name))["kernels"]
    return kernel  # type: ignore[no-any-return]


@cache
def facts(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    before, after = (irdiff_json("show", side)["kernels"][0]["facts"] for side in corpus.case(name))
    return before, after


def value(name: str, fact: str) -> tuple[Any, Any]:
    before, after = facts(name)
    return before.get(fact), after.get(fact)


def opcodes(name: str, *beginnings: str, stage: str = "sass") -> tuple[int, int]:
    before, after = (
        sum(count for key, count in side[f"{stage}.opcodes"].items() if key.startswith(beginnings))
        for side in facts(name)
    )
    return before, after


def instructions(name: str) -> tuple[int, int]:
    """With the NOPs that fill a section: the reports count them, `sass.instructions` does not."""
    before, after = (side["sass.code_bytes"] // 16 for side in facts(name))
    return before, after


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("tf32x3-shared-doubles", (1536, 3584)),
        ("tf32x3-shared-doubles-back", (3584, 1536)),
        ("tf32x3-shared-doubles-64", (24576, 57344)),
    ],
)
def test_three_pass_tf32_takes_more_shared_memory(name: str, shared: tuple[int, int]) -> None:
    assert value(name, "meta.shared") == value(name, "kernel.shared_total") == shared


def test_three_pass_tf32_at_64_loses_ctas_to_shared_memory() -> None:
    name = "tf32x3-shared-doubles-64"
    assert value(name, "kernel.occupancy_limiter") == ("registers", "shared memory")
    assert value(name, "kernel.ctas_per_sm") == (2, 1)
    # 100 KB of sm_89: 24,576 bytes and the reserve fit 4 times, 57,344 once
    assert [102400 // (shared + 1024) for shared in value(name, "meta.shared")] == [4, 1]
    assert value(name, "kernel.mma_class") == ("mma.sync", "mma.sync")


def test_layer_norm_steps_down_one_cta_with_no_spill_and_fewer_instructions() -> None:
    name = "layernorm-mixed-precision-add"
    assert value(name, "sass.registers") == (64, 72)
    assert value(name, "sass.spill_store_bytes") == value(name, "sass.spill_load_bytes") == (0, 0)
    before, after = (side["ptx.fp"] for side in facts(name))
    assert (before["add.f32"], after["add.f32"]) == (74, 43)
    assert (before["sub.f32"], after.get("sub.f32", 0)) == (32, 0)
    assert (before.get("add.rn.f32.f16", 0), after["add.rn.f32.f16"]) == (0, 31)
    assert (before.get("sub.rn.f32.f16", 0), after["sub.rn.f32.f16"]) == (0, 32)
    assert instructions(name) == (496, 464)
    assert value(name, "kernel.ctas_per_sm") == (2, 1)
    assert value(name, "kernel.occupancy_limiter") == ("registers", "registers")
    assert value(name, "kernel.next_step")[1] == {"registers": 8}
    assert value(name, "meta.num_warps") == (16, 16)


def test_a_stride_that_16_does_not_divide_narrows_the_loads() -> None:
    name = "stride-not-multiple-of-16"
    assert value(name, "ptx.global_loads") == value(name, "sass.global_loads") == ({"16": 2}, {"2": 16})
    assert opcodes(name, "ld.global.v4.b32", stage="ptx") == (2, 0)
    assert opcodes(name, "ld.global.b16", stage="ptx") == (0, 16)
    assert (opcodes(name, "LDG.E.128"), opcodes(name, "LDG.E.U16")) == ((2, 0), (0, 16))
    assert value(name, "sass.registers") == (18, 28)


def test_an_attribute_of_an_unused_argument_reaches_no_machine_stage() -> None:
    name = "unused-arg-splits-cache"
    assert [report(name)["stages"][stage]["sameness"] for stage in MACHINE] == ["identical", "identical"]
    assert report(name)["machine_code"] == "identical"
    before, after = facts(name)
    assert before["kernel.code"] == after["kernel.code"]


def test_without_fusion_each_fma_is_a_product_and_a_sum() -> None:
    name = "fp-fusion-off"
    before, after = (side["ptx.fp"] for side in facts(name))
    assert before == {"fma.rn.f32": 8}
    assert after == {"add.rn.f32": 8, "mul.rn.f32": 8}
    assert opcodes(name, "FFMA") == (8, 0)
    assert (opcodes(name, "FMUL"), opcodes(name, "FADD")) == ((0, 8), (0, 8))


@pytest.mark.parametrize(
    ("name", "before", "opcode", "registers", "stack"),
    [
        ("mma-generation-fallback", "wgmma", "HGMMA", (168, 255), (0, 1152)),
        ("mma-generation-fallback-sm_100", "tcgen05", "UTCHMMA", (222, 255), (0, 1184)),
    ],
)
def test_too_few_warps_fall_back_to_the_older_products_and_spill(
    name: str, before: str, opcode: str, registers: tuple[int, int], stack: tuple[int, int]
) -> None:
    assert value(name, "kernel.mma_class") == (before, "mma.sync")
    assert [sum(side["ptx.mma"].values()) for side in facts(name)] == [8, 256]
    assert (opcodes(name, opcode), opcodes(name, "HMMA")) == ((8, 0), (0, 256))
    assert value(name, "sass.registers") == registers
    assert value(name, "sass.stack") == stack
    stores, loads = value(name, "sass.spill_store_bytes"), value(name, "sass.spill_load_bytes")
    assert stores[0] == loads[0] == 0
    assert min(stores[1], loads[1]) > 1000


def test_fp8_products_became_native() -> None:
    name = "mma-generation-fallback-fp8"
    assert value(name, "ptx.mma") == (
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": 128},
        {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32": 64},
    )
    assert value(name, "sass.mma") == ({"HMMA.16816.F32": 128}, {"QMMA.16832.F32.E4M3.E4M3": 64})


def test_a_reduction_crosses_lanes_and_warps() -> None:
    name = "descriptor-load-reduce"
    assert (opcodes(name, "SHFL"), opcodes(name, "BAR"), opcodes(name, "LDS.U16")) == (
        (0, 16),
        (5, 10),
        (32, 0),
    )
    before, after = (side["ptx.barriers"] for side in facts(name))
    assert (before["bar.sync"], after["bar.sync"]) == (5, 10)


def test_a_stride_that_may_not_be_one_costs_shared_memory_and_a_barrier() -> None:
    name = "stride-one-specialisation"
    assert value(name, "ptx.global_loads") == ({"16": 2}, {"2": 16})
    assert value(name, "meta.shared") == (0, 4096)
    assert value(name, "ptx.barriers") == ({}, {"bar.sync": 1})
    assert value(name, "sass.registers") == (18, 32)


def test_another_assembler_takes_half_the_registers_for_the_same_ptx() -> None:
    name = "same-ptx-other-ptxas"
    assert report(name)["stages"]["ptx"]["sameness"] == "identical"
    assert value(name, "sass.registers") == (77, 40)
    assert value(name, "sass.ptxas") == ("12.8", "12.9")
    assert report(name)["provenance"]["sass.ptxas"] == "12.8 -> 12.9"


@pytest.mark.parametrize("what", ["comment", "folder", "touch"])
def test_another_path_time_or_comment_changes_no_instruction(what: str) -> None:
    name = f"path-touch-comment-{what}"
    kernel = report(name)
    assert kernel["stages"]["sass"]["sameness"] == "equivalent"
    assert kernel["machine_code"] == "equivalent"
    before, after = facts(name)
    assert before["kernel.code"] == after["kernel.code"]
    assert [before[key] for key in before if key.startswith(("sass.", "ptx.", "kernel."))] == [
        after[key] for key in before if key.startswith(("sass.", "ptx.", "kernel."))
    ]
