"""The reference numbers of the public matmul that live in source, TTIR and TTGIR (Triton 3.6.0)."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlir.mlir_samples import STAGES, artifact, context, facts_of, file_of, summary_of

H200_MATMUL = "DWMAWPWMEBBEU5AANSMDXGI42OVCXDF4RFXK6WANQ3VUCRMMEZTQ"


def _fixture(target: str, suffix: str) -> bytes:
    return file_of("3.6.0", target, "matmul_kernel", suffix, "w4s2").read_bytes()


def _check_passes(source: bytes, ttir: bytes) -> None:
    before = facts_of(summary_of(source, ".source"))["source.ops"]
    after = facts_of(summary_of(ttir, ".ttir"))["ttir.ops"]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    moved = {
        name: (before.get(name, 0), after.get(name, 0))
        for name in ("tt.make_range", "tt.call", "arith.extsi")
    }
    assert moved == {"tt.make_range": (3, 2), "tt.call": (2, 0), "arith.extsi": (24, 0)}


def _check_loop(data: bytes, suffix: str) -> None:
    stage = STAGES[suffix]
    summary = stage.summarize(artifact(data), context())
    (scope,) = summary.scopes
    assert (scope.id, scope.trip_count) == ("loop0", 8)
    (loop,) = facts_of(summary)[f"{stage.id}.loops"]
    assert loop.startswith("scf.for 0..256 step 32, 8 trips, depth 1, ")


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_121"])
def test_ttir_passes_merge_ranges_inline_calls_and_drop_extensions(target: str) -> None:
    _check_passes(_fixture(target, ".source"), _fixture(target, ".ttir"))


@pytest.mark.parametrize("suffix", [".source", ".ttir", ".ttgir"])
def test_the_loop_runs_from_0_to_256_by_32_in_8_trips(suffix: str) -> None:
    _check_loop(_fixture("sm_90", suffix), suffix)


def test_sm121_multiplies_with_version_2_and_pipelines_both_operands() -> None:
    facts = facts_of(summary_of(_fixture("sm_121", ".ttgir")))
    (mma,) = facts["ttgir.mma"]
    assert mma.startswith(
        "dot nvidia_mma version 2.0 instrShape [16, 8] warpsPerCTA [2, 2], f16 * f16 -> f32"
    )
    assert "A registers" in mma
    assert any(
        layout.startswith("#ttg.nvidia_mma<{versionMajor = 2, ")
        and "warpsPerCTA = [2, 2]" in layout
        and "instrShape = [16, 8]" in layout
        for layout in facts["ttgir.layouts"]
    )
    assert sum(facts["ttgir.shared_allocs"].values()) == 2
    assert sum(facts["ttgir.async_copies"].values()) == 4
    assert sum(facts["ttgir.convert_layouts"].values()) == 1
    assert facts["ttgir.shared_alloc_bytes"] == 8192
    assert facts["ttgir.target"] == "cuda:121"


def test_sm90_multiplies_with_warp_groups_from_shared_memory() -> None:
    facts = facts_of(summary_of(_fixture("sm_90", ".ttgir")))
    (mma,) = facts["ttgir.mma"]
    assert mma.startswith("warp_group_dot nvidia_mma version 3.0 instrShape [16, 64, 16] warpsPerCTA [4, 1]")
    assert "A shared, B shared" in mma
    assert facts["ttgir.pipeline_depth"] == {"2": 4}
    assert facts["ttgir.shared_alloc_bytes"] == 16384


def test_sm100_accumulates_in_tensor_memory() -> None:
    facts = facts_of(summary_of(_fixture("sm_100", ".ttgir")))
    (mma,) = facts["ttgir.mma"]
    assert mma.startswith("tc_gen5_mma tensor_memory_encoding ")
    (allocation,) = facts["ttgir.tmem_allocs"]
    assert allocation.startswith("64x64xf32 #ttng.tensor_memory_encoding<")


def test_every_target_has_the_same_dots() -> None:
    for target in ("sm_80", "sm_90", "sm_100", "sm_121"):
        facts = facts_of(summary_of(_fixture(target, ".ttir"), ".ttir"), "loop0")
        assert facts["ttir.dots"] == {"64x32xf16 * 32x64xf16 -> 64x64xf32, tf32": 1}


@pytest.mark.data
def test_the_h200_matmul_has_the_same_numbers(h200: Path) -> None:
    entry = h200 / H200_MATMUL
    files = {
        suffix: (entry / f"matmul_kernel{suffix}").read_bytes() for suffix in (".source", ".ttir", ".ttgir")
    }
    _check_passes(files[".source"], files[".ttir"])
    for suffix, data in files.items():
        _check_loop(data, suffix)


@pytest.mark.data
def test_all_h200_kernels_are_understood_and_none_has_an_issue(h200: Path) -> None:
    understood = total = 0
    for suffix in STAGES:
        for path in sorted(h200.glob(f"*/*{suffix}")):
            summary = summary_of(path.read_bytes(), suffix)
            assert not [issue for issue in summary.issues if issue.severity != "note"], path
            understood += summary.coverage.understood
            total += summary.coverage.total
    assert understood / total >= 0.995
