"""What public reports were about, in the IR stages: the values that were measured, from committed artifacts alone."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import msgspec
import pytest

import corpus
from command import irdiff_json
from irdiff.cli.session import session
from irdiff_mlir import drift

SAME = {"identical", "equivalent"}
IR = ("source", "ttir", "ttgir", "llir")


@cache
def report(name: str) -> dict[str, Any]:
    (kernel,) = irdiff_json("compare", *corpus.case(name))["kernels"]
    return kernel  # type: ignore[no-any-return]


@cache
def facts(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Whole-kernel facts of both sides; the stages of the machine are left out, which takes tools and time."""
    with session(external=False) as run:
        reader = run.reader(canonical=False)
        sides = []
        for side in corpus.case(name):
            (bundle,) = run.load(str(side)).bundles
            read = {stage: bundle.artifacts[stage] for stage in ("meta", *IR) if stage in bundle.artifacts}
            (kernel,) = reader.read((msgspec.structs.replace(bundle, artifacts=read),))
            sides.append({fact.id: fact.value for fact in kernel.facts() if not fact.scope})
    return sides[0], sides[1]


def same(name: str) -> list[str]:
    return [stage for stage in IR if report(name)["stages"][stage]["sameness"] in SAME]


def moved(name: str, stage: str) -> set[str]:
    return {change["fact"] for change in report(name)["changes"] if change["fact"].startswith(f"{stage}.")}


def tally(name: str, fact: str, key: str) -> tuple[int, int]:
    """The counts of the keys that hold these words, before and after."""
    before, after = (
        sum(count for found, count in side[fact].items() if key in found) for side in facts(name)
    )
    return before, after


def value(name: str, fact: str) -> tuple[Any, Any]:
    before, after = facts(name)
    return before[fact], after[fact]


@pytest.mark.parametrize(
    ("name", "shared", "allocations"),
    [
        ("tf32x3-shared-doubles", (1536, 3584), (2, 4)),
        ("tf32x3-shared-doubles-back", (3584, 1536), (4, 2)),
        ("tf32x3-shared-doubles-64", (24576, 57344), (2, 4)),
    ],
)
def test_three_pass_tf32_doubled_its_shared_memory_in_triton_3_8(
    name: str, shared: tuple[int, int], allocations: tuple[int, int]
) -> None:
    assert value(name, "meta.shared") == value(name, "ttgir.shared_alloc_bytes") == shared
    assert tally(name, "ttgir.ops", "ttg.local_alloc") == allocations
    assert "ttir" in same(name)
    assert report(name)["first_divergence"]["stage"] == "ttgir"
    assert "TTGIR passes" in report(name)["first_divergence"]["cause"]


def test_layer_norm_s_mixed_additions_begin_in_llvm() -> None:
    name = "layernorm-mixed-precision-add"
    assert {"source", "ttir", "ttgir"} <= set(same(name))
    assert report(name)["first_divergence"]["stage"] == "llir"
    before, after = facts(name)
    assert before["llir.intrinsics"] == after["llir.intrinsics"]


def test_a_stride_that_is_no_longer_divisible_narrows_the_loads() -> None:
    name = "stride-not-multiple-of-16"
    assert report(name)["first_divergence"]["cause"] == "argument stride: i32, tt.divisibility = 16 -> i32"
    assert moved(name, "ttir") == {"ttir.arguments"}
    assert tally(name, "llir.inline_asm", "ld.global.v4.b32") == (2, 0)
    assert tally(name, "llir.inline_asm", "ld.global.b16") == (0, 16)


def test_an_unused_argument_changes_an_attribute_and_no_code() -> None:
    name = "unused-arg-splits-cache"
    for stage in ("source", "ttir", "ttgir"):
        assert moved(name, stage) == {f"{stage}.arguments"}
    assert report(name)["stages"]["llir"]["sameness"] == "identical"
    assert report(name)["machine_code"] == "identical"
    assert "argument heads" in report(name)["first_divergence"]["cause"]


def test_fp_fusion_is_no_matter_of_the_ir() -> None:
    assert same("fp-fusion-off") == list(IR)


@pytest.mark.parametrize(
    ("name", "kind", "instruction", "count"),
    [
        ("mma-generation-fallback", "warp_group_dot nvidia_mma version 3.0", "wgmma.mma_async", 8),
        ("mma-generation-fallback-sm_100", "tc_gen5_mma", "tcgen05.mma", 8),
    ],
)
def test_two_warps_fall_back_to_the_mma_of_ampere(name: str, kind: str, instruction: str, count: int) -> None:
    assert "ttir" in same(name)
    assert report(name)["first_divergence"] == {
        "stage": "ttgir",
        "fact_stage": "ttgir",
        "cause": "option num_warps: 4 -> 2",
    }
    before, after = tally(name, "ttgir.mma", kind)
    assert before > 0
    assert after == 0
    assert tally(name, "ttgir.mma", "dot nvidia_mma version 2.0 instrShape [16, 8]") == (0, 1)
    assert tally(name, "llir.inline_asm", instruction) == (count, 0)
    assert tally(name, "llir.inline_asm", "mma.sync.aligned.m16n8k16") == (0, 256)
    assert report(name)["direction"] in {"worse", "mixed"}


def test_fp8_products_no_longer_go_through_f16() -> None:
    name = "mma-generation-fallback-fp8"
    assert "ttir" in same(name)
    assert tally(name, "ttgir.mma", "f16 * f16 -> f32") == (1, 0)
    assert tally(name, "ttgir.mma", "f8E4M3FN * f8E4M3FN -> f32") == (0, 1)
    assert tally(name, "ttgir.ops", "tt.fp_to_fp") == (2, 0)
    assert tally(name, "llir.inline_asm", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == (128, 0)
    assert tally(name, "llir.inline_asm", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32") == (0, 64)


def test_a_reduction_crosses_lanes_and_warps_by_its_layout_alone() -> None:
    name = "descriptor-load-reduce"
    before, after = facts(name)
    assert before["ttgir.ops"] == after["ttgir.ops"]
    assert {"source", "ttir"} <= set(same(name))
    assert report(name)["first_divergence"]["stage"] == "ttgir"
    narrow = "reduce #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4]"
    wide = "reduce #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1]"
    assert tally(name, "ttgir.layout_by_use", narrow) == (1, 0)
    assert tally(name, "ttgir.layout_by_use", wide) == (0, 1)
    assert before["ttgir.reduce_reach"] == {"inside a thread": 1}
    assert after["ttgir.reduce_reach"] == {"across lanes": 1, "across warps": 1}
    assert tally(name, "llir.intrinsics", "llvm.nvvm.shfl.sync.bfly") == (0, 16)
    assert tally(name, "llir.intrinsics", "llvm.nvvm.barrier") == (5, 10)


def test_a_stride_of_one_that_is_no_longer_compiled_in() -> None:
    name = "stride-one-specialisation"
    assert report(name)["first_divergence"]["cause"] == "argument s1: compiled in -> i32"
    before, after = value(name, "ttir.addresses")
    assert before[0] == "load 32x64xf16 src + 32*pid.x*s0 + dim0[0:32]*s0 + dim1[0:64]"
    assert after[0] == "load 32x64xf16 src + 32*pid.x*s0 + dim0[0:32]*s0 + dim1[0:64]*s1"
    assert before[1] == after[1]
    assert tally(name, "ttgir.ops", "ttg.convert_layout") == (0, 1)
    assert value(name, "meta.shared") == (0, 4096)
    assert tally(name, "llir.inline_asm", "ld.global.v4") == (2, 0)
    assert tally(name, "llir.inline_asm", "ld.global.b16") == (0, 16)
    assert tally(name, "llir.intrinsics", "llvm.nvvm.barrier") == (0, 1)


@pytest.mark.parametrize("edit", ["folder", "touch", "comment"])
def test_another_folder_a_touched_file_and_a_comment_change_nothing(edit: str) -> None:
    name = f"path-touch-comment-{edit}"
    assert report(name)["status"] == "equivalent"
    assert same(name) == list(IR)


def test_operations_are_those_that_each_release_s_own_parser_counts() -> None:
    """Triton 3.4.0, 3.5.1, 3.6.0, 3.7.1, 3.8.0 and 3.9.0: the values were recorded when the files were made."""
    recorded = json.loads((corpus.CASES / "mlir-ops.json").read_text())
    compared = 0
    for name in sorted({key.partition("/")[0] for key in recorded}):
        for side, found in zip(("before", "after"), facts(name), strict=True):
            for stage in ("source", "ttir", "ttgir"):
                counts = recorded.get(f"{name}/{side}/{stage}")
                if counts is not None:
                    newest = {drift.operation(operation): n for operation, n in counts.items()}
                    assert found[f"{stage}.ops"] == newest, (name, side, stage)
                    compared += 1
    assert compared == len(recorded) == 84


def test_every_comparison_is_committed_whole() -> None:
    names = json.loads((corpus.CASES / "manifest.json").read_text())
    assert len(names) == 16
    assert all(side.exists() for name in names for side in corpus.case(name))
