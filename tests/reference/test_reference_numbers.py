"""Every reference number of the public matmul (256 cubed, f16, tile 64x64x32), as ``irdiff show`` prints them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import corpus
from command import irdiff_json

FLOPS = 2 * 64 * 64 * 256


@cache
def matmul(target: str) -> dict[str, Any]:
    shown = irdiff_json("show", corpus.entry("3.6.0", target, "matmul_kernel", "w4s2"))
    (kernel,) = shown["kernels"]
    assert kernel["name"] == "matmul_kernel"
    return kernel


def facts(target: str) -> dict[str, Any]:
    return matmul(target)["facts"]


def keyed(tally: dict[str, int], *beginnings: str) -> int:
    """Sum of the counts whose key begins with one of the words."""
    return sum(count for key, count in tally.items() if key.startswith(beginnings))


def test_sm121_ptx_header_and_registers() -> None:
    found = facts("sm_121")
    assert found["ptx.header"] == {"version": "8.8", "target": "sm_121a", "address_size": 64}
    assert found["ptx.launch_bounds"]["reqntid"] in {128, "128"}
    # `%p<4>` declares %p0..%p3; the tally holds what the directive says
    assert found["ptx.virtual_registers"] == {"pred": 4, "b32": 196, "b64": 32}


def test_sm121_ptx_instructions() -> None:
    found = facts("sm_121")
    assert found["ptx.mma"] == {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": 16}
    assert keyed(found["ptx.async_copies"], "cp.async.cg 16") == 8
    moves = found["ptx.matrix_moves"]
    assert sum(n for key, n in moves.items() if key.startswith("ldmatrix") and ".trans" in key) == 4
    assert sum(n for key, n in moves.items() if key.startswith("ldmatrix") and ".trans" not in key) == 4
    assert keyed(moves, "stmatrix") == 4
    assert keyed(found["ptx.barriers"], "bar.sync") == 6
    assert keyed(found["ptx.global_stores"], "16") == 4
    assert keyed(found["ptx.opcodes"], "st.global.v4.b32") == 4


def test_sm121_shared_memory_and_machine_code() -> None:
    found = facts("sm_121")
    assert found["meta.shared"] == 8192
    assert "4096" in found["llir.shared_offsets"]
    assert found["sass.registers"] == 80
    assert (found["sass.spill_store_bytes"], found["sass.spill_load_bytes"]) == (0, 0)
    assert found["sass.named_barriers"] == 1


def test_loop_of_256_by_32_has_8_trips() -> None:
    kernel = matmul("sm_121")
    (loop,) = kernel["facts"]["ttir.loops"]
    assert loop.startswith("scf.for 0..256 step 32, 8 trips")
    assert kernel["stages"]["ttir"]["loops"]["loop0"]["trip_count"] == 8


def test_front_end_to_ttir_folds_inlines_and_merges() -> None:
    found = facts("sm_121")
    before, after = found["source.ops"], found["ttir.ops"]
    for op, counts in {"tt.make_range": (3, 2), "tt.call": (2, 0), "arith.extsi": (24, 0)}.items():
        assert (before.get(op, 0), after.get(op, 0)) == counts, op


def test_sm121_ttgir_layouts_copies_and_conversions() -> None:
    found = facts("sm_121")
    (mma,) = [layout for layout in found["ttgir.layouts"] if layout.startswith("#ttg.nvidia_mma")]
    for word in ("versionMajor = 2", "instrShape = [16, 8]", "warpsPerCTA = [2, 2]"):
        assert word in mma
    assert found["ttgir.ops"]["ttg.local_alloc"] == 2
    assert sum(found["ttgir.async_copies"].values()) == 4
    assert sum(found["ttgir.convert_layouts"].values()) == 1


def test_sm90_uses_wgmma() -> None:
    found = facts("sm_90")
    assert keyed(found["ptx.mma"], "wgmma.mma_async") == 2
    assert found["sass.registers"] == 58
    assert found["meta.shared"] == 16384
    assert found["kernel.mma_class"] == "wgmma"


def test_sm80_uses_mma_sync() -> None:
    found = facts("sm_80")
    assert keyed(found["ptx.mma"], "mma.sync") == 16
    assert found["sass.registers"] == 80
    assert found["meta.shared"] == 8192
    assert found["kernel.mma_class"] == "mma.sync"


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_121"])
def test_tensor_work_is_the_same_on_every_architecture(target: str) -> None:
    found = facts(target)
    assert found["kernel.tensor_flops"] == FLOPS == 2_097_152
    assert found["kernel.tensor_flops_per_iteration"] == FLOPS // 8 == 262_144
