"""The road of a kernel through the stages: what carries a copy, a dot, a store at each of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import corpus
from command import irdiff, irdiff_json
from irdiff.api import ACTIONS

Road = dict[str, dict[str, dict[str, int]]]


@cache
def road(target: str, kernel: str = "matmul_kernel", specialization: str = "w4s2") -> Road:
    (shown,) = irdiff_json("show", corpus.entry("3.6.0", target, kernel, specialization))["kernels"]
    found: Road = shown["road"]
    assert [action for action in ACTIONS if action in found] == list(found)
    return found


@cache
def facts(target: str) -> dict[str, Any]:
    (shown,) = irdiff_json("show", corpus.entry("3.6.0", target, "matmul_kernel", "w4s2"))["kernels"]
    return shown["facts"]


@pytest.mark.parametrize("target", ["sm_80", "sm_121"])
def test_copies_dots_and_fragments_of_the_reference_matmul(target: str) -> None:
    """ptxas unrolls the 8 passes: 16 mma.sync become 128 HMMA, 8 copies 36 (none is left for the last passes)."""
    found = road(target)
    assert found["copy"] == {
        "ttir": {"tt.load": 2},
        "ttgir": {"ttg.async_copy_global_to_local": 4},
        "llir": {"cp.async.cg 16": 8},
        "ptx": {"cp.async.cg 16": 8},
        "sass": {"LDGSTS.E.128": 36},
    }
    assert found["dot"] == {
        "ttir": {"tt.dot": 1},
        "ttgir": {"tt.dot": 1},
        "llir": {"mma.sync": 16},
        "ptx": {"mma.sync": 16},
        "sass": {"HMMA": 16 * 8},
    }
    assert found["fragment load"] == {
        "ttgir": {"ttg.local_load": 2},
        "llir": {"llvm.nvvm.ldmatrix": 8},
        "ptx": {"ldmatrix.x4": 4, "ldmatrix.x4.trans": 4},
        "sass": {"LDSM.16.M88.4": 4 * 8, "LDSM.16.MT88.4": 4 * 8},
    }
    assert found["store"] == {
        "ttir": {"tt.store": 1},
        "ttgir": {"tt.store": 1},
        "llir": {"st.global.v4.b32": 4},
        "ptx": {"st.global 16 B": 4},
        "sass": {"STG.E.128": 4},
    }
    assert "reduction" not in found


def test_wgmma_reads_shared_memory_itself_so_no_fragment_is_loaded() -> None:
    found = road("sm_90")
    assert found["dot"] == {
        "ttir": {"tt.dot": 1},
        "ttgir": {"ttng.warp_group_dot": 1},
        "llir": {"wgmma.mma_async": 2},
        "ptx": {"wgmma.mma_async": 2},
        "sass": {"HGMMA": 2 * 8},
    }
    assert "fragment load" not in found


@pytest.mark.parametrize(
    ("target", "ptx", "sass"),
    [
        ("sm_80", {"ld.shared 8 B": 8, "st.shared 8 B": 8}, {"LDS.64": 8, "STS.64": 8}),
        ("sm_90", {"ldmatrix.x4": 4, "st.shared 16 B": 4}, {"LDSM.16.M88.4": 4, "STS.128": 4}),
        ("sm_121", {"ld.shared 16 B": 4, "stmatrix.x4": 4}, {"LDS.128": 4, "STSM.16.M88.4": 4}),
    ],
)
def test_a_layout_conversion_is_what_stands_on_its_line(
    target: str, ptx: dict[str, int], sass: dict[str, int]
) -> None:
    """ldmatrix is a fragment load on sm_80 and sm_121, and half of a conversion on sm_90."""
    found = road(target)["layout conversion"]
    assert found["ttgir"] == {"ttg.convert_layout": 1}
    assert (found["ptx"], found["sass"]) == (ptx, sass)


def test_reductions_are_shuffles_and_shared_memory_on_their_line() -> None:
    found = road("sm_90", "softmax_kernel", "f32")["reduction"]
    assert found["ttir"] == found["ttgir"] == {"tt.reduce": 2}
    assert found["ptx"] == {"ld.shared 4 B": 4, "shfl.sync.bfly": 14, "st.shared 4 B": 4}
    assert found["sass"] == {"LDS": 4, "SHFL.BFLY": 14, "STS": 4}


def test_tensor_memory_is_read_once_and_products_are_tcgen05() -> None:
    found = road("sm_100")
    assert found["dot"]["sass"] == {"UTCHMMA": 4}
    assert found["dot"]["ttgir"] == {"ttng.tc_gen5_mma": 2}
    assert "reduction" not in found, "REDUX chooses one thread there, it sums nothing"


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_121"])
def test_the_road_counts_what_the_facts_count(target: str) -> None:
    found, known = road(target), facts(target)
    assert sum(found["dot"]["sass"].values()) == sum(known["sass.mma"].values())
    assert sum(found["dot"]["ptx"].values()) == sum(known["ptx.mma"].values())
    assert sum(found["copy"]["ptx"].values()) == sum(known["ptx.async_copies"].values())
    assert sum(found["store"]["sass"].values()) == sum(known["sass.global_stores"].values())


def test_the_terminal_prints_a_table_of_it() -> None:
    done = irdiff("show", corpus.entry("3.6.0", "sm_121", "matmul_kernel", "w4s2"))
    table = done.out.partition("the road through the stages\n")[2].splitlines()
    assert table[0].split() == ["ttir", "ttgir", "llir", "ptx", "sass"]
    assert "4 ttg.async_copy_global_to_local  8 cp.async.cg 16" in table[1]
    assert table[1].rstrip().endswith("36 LDGSTS.E.128")


def test_one_file_has_no_road() -> None:
    (path,) = corpus.entry("3.6.0", "sm_80", "matmul_kernel", "w4s2").glob("*.ptx")
    assert "the road" not in irdiff("show", path).out
