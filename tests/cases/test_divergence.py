"""What public reports were about: where each begins, why, and the facts a rule rests on, through the command line."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

import corpus
from command import irdiff, irdiff_json

SAME = {"identical", "equivalent"}
COMPARISONS = sorted(json.loads((corpus.CASES / "manifest.json").read_text()))
PAIRS = sorted(path.name for path in corpus.PAIRS.iterdir())


def sides(name: str) -> tuple[Path, Path]:
    """Before and after of a case, or of one of the pairs."""
    return (
        (corpus.PAIRS / name / "before", corpus.PAIRS / name / "after")
        if name in PAIRS
        else corpus.case(name)
    )


@cache
def report(name: str) -> dict[str, Any]:
    return irdiff_json("compare", *sides(name))  # type: ignore[no-any-return]


def kernel(name: str) -> dict[str, Any]:
    (found,) = report(name)["kernels"]
    return found  # type: ignore[no-any-return]


def begins(name: str) -> tuple[str, str | None, str | None]:
    found = kernel(name)["first_divergence"]
    return found["stage"], found["fact_stage"], found["cause"]


def same(name: str) -> set[str]:
    return {stage for stage, told in kernel(name)["stages"].items() if told["sameness"] in SAME}


def change(name: str, fact: str) -> dict[str, Any]:
    """The change of a whole-kernel fact."""
    (found,) = [
        each
        for each in kernel(name)["changes"]
        if each["fact"] == fact and each["scope"] == kernel(name)["name"]
    ]
    return found  # type: ignore[no-any-return]


def moved(name: str, fact: str) -> tuple[Any, Any, str]:
    found = change(name, fact)
    return found["before"], found["after"], found["effect"]


def deltas(name: str, fact: str) -> dict[str, int]:
    return change(name, fact)["delta"]  # type: ignore[no-any-return]


def screen(name: str) -> str:
    return " ".join(irdiff("compare", *sides(name)).out.split())


@pytest.mark.parametrize(
    ("name", "shared", "effect", "versions"),
    [
        ("tf32x3-shared-doubles", (1536, 3584), "worse", "3.7.1 -> 3.8.0"),
        ("tf32x3-shared-doubles-back", (3584, 1536), "better", "3.8.0 -> 3.9.0"),
        ("tf32x3-shared-doubles-64", (24576, 57344), "worse", "3.7.1 -> 3.8.0"),
    ],
)
def test_three_pass_tf32_begins_in_ttgir(
    name: str, shared: tuple[int, int], effect: str, versions: str
) -> None:
    assert "ttir" in same(name)
    assert begins(name) == ("ttgir", "ttgir", f"TTGIR passes ({versions})")
    assert moved(name, "meta.shared") == (*shared, effect)
    assert sum(deltas(name, "ttgir.shared_allocs").values()) == (2 if effect == "worse" else -2)


def test_three_pass_tf32_at_64_loses_a_cta_to_shared_memory() -> None:
    name = "tf32x3-shared-doubles-64"
    assert moved(name, "kernel.ctas_per_sm") == (2, 1, "worse")
    assert change(name, "kernel.ctas_per_sm")["limits"] == ["registers", "shared memory"]
    assert "shared-memory buffers rose 2 → 4" in screen(name)
    assert "CTAs per multiprocessor fell 2 → 1 (limited by shared memory)" in screen(name)


def test_layer_norm_begins_in_llvm_and_loses_a_cta_to_registers() -> None:
    name = "layernorm-mixed-precision-add"
    assert begins(name) == ("llir", "llir", "lowering and LLVM's optimizer (3.6.0 -> 3.7.1)")
    assert {"ttir", "ttgir"} <= same(name)
    assert moved(name, "sass.registers") == (64, 72, "worse")
    assert moved(name, "kernel.ctas_per_sm") == (2, 1, "worse")
    assert change(name, "kernel.ctas_per_sm")["limits"] == ["registers", "registers"]
    assert deltas(name, "ptx.fp") == {
        "add.f32": -31,
        "add.rn.f32.f16": 31,
        "sub.f32": -32,
        "sub.rn.f32.f16": 32,
    }
    assert change(name, "sass.code_bytes")["delta"] == (464 - 496) * 16
    assert not [each for each in kernel(name)["changes"] if each["fact"].startswith("sass.spill")]
    assert kernel(name)["direction"] == "mixed"
    story = screen(name)
    for told in ("registers per thread rose 64 → 72", "fell 2 → 1 (limited by registers)", "-32 sub.f32"):
        assert told in story


def test_divisibility_is_the_cause_of_narrow_loads() -> None:
    name = "stride-not-multiple-of-16"
    assert begins(name) == ("ttir", "ttir", "argument stride: i32, tt.divisibility = 16 -> i32")
    assert moved(name, "sass.global_loads") == ({"16": 2}, {"2": 16}, "worse")
    assert moved(name, "ptx.global_loads") == ({"16": 2}, {"2": 16}, "worse")
    assert moved(name, "sass.registers") == (18, 28, "worse")
    assert "global loads went from 2 of 16 B to 16 of 2 B" in screen(name)


def test_an_unused_argument_s_attribute_buys_nothing() -> None:
    name = "unused-arg-splits-cache"
    found = kernel(name)
    assert begins(name) == ("ttir", "ttir", "argument heads: i32, tt.divisibility = 16 -> i32")
    assert {stage: told["sameness"] for stage, told in found["stages"].items() if stage != "meta"} == {
        "source": "changed",
        "ttir": "changed",
        "ttgir": "changed",
        "llir": "identical",
        "ptx": "identical",
        "sass": "identical",
    }
    assert (found["status"], found["direction"], found["machine_code"]) == ("changed", "neutral", "identical")
    assert {each["fact"] for each in found["changes"]} == {
        "source.arguments",
        "ttir.arguments",
        "ttgir.arguments",
    }
    story = screen(name).partition("neutral ")[2]
    assert story.startswith("The machine code is identical: LLIR, PTX and SASS are the same again.")


def test_the_option_is_the_cause_of_products_no_longer_fused() -> None:
    name = "fp-fusion-off"
    assert begins(name) == ("ptx", "ptx", "option enable_fp_fusion: true -> false")
    assert {"ttir", "ttgir", "llir"} <= same(name)
    assert deltas(name, "ptx.fp") == {"add.rn.f32": 8, "fma.rn.f32": -8, "mul.rn.f32": 8}
    assert deltas(name, "sass.opcodes").items() >= {"FFMA": -8, "FMUL": 8, "FADD": 8}.items()


@pytest.mark.parametrize(
    ("name", "before", "stack"),
    [
        ("mma-generation-fallback", "wgmma", 1152),
        ("mma-generation-fallback-sm_100", "tcgen05", 1184),
    ],
)
def test_too_few_warps_are_the_cause_of_older_products_and_spills(name: str, before: str, stack: int) -> None:
    assert begins(name) == ("ttgir", "ttgir", "option num_warps: 4 -> 2")
    assert moved(name, "kernel.mma_class") == (before, "mma.sync", "worse")
    assert moved(name, "sass.stack") == (0, stack, "worse")
    assert moved(name, "sass.registers")[1:] == (255, "worse")
    for way in ("store", "load"):
        old, new, effect = moved(name, f"sass.spill_{way}_bytes")
        assert (old, effect) == (0, "worse")
        assert new > 1000
    assert f"class of MMA instructions went {before} → mma.sync" in screen(name)


def test_fp8_products_are_an_improvement() -> None:
    name = "mma-generation-fallback-fp8"
    assert begins(name) == ("ttgir", "ttgir", "TTGIR passes (3.4.0 -> 3.6.0)")
    assert deltas(name, "ptx.mma") == {
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": -128,
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32": 64,
    }
    assert kernel(name)["direction"] == "better"


def test_a_reduction_crosses_lanes_by_layout_alone() -> None:
    name = "descriptor-load-reduce"
    assert begins(name) == ("ttgir", "ttgir", "TTGIR passes (3.5.1 -> 3.6.0)")
    assert not [each for each in kernel(name)["changes"] if each["fact"] == "ttgir.ops"]
    assert deltas(name, "ttgir.reduce_reach") == {"across lanes": 1, "across warps": 1, "inside a thread": -1}
    assert deltas(name, "ptx.barriers") == {"bar.sync": 5}
    assert "There reach of reductions: +1 across lanes, +1 across warps, -1 inside a thread" in screen(name)


def test_a_stride_that_is_no_constant_one_is_the_cause() -> None:
    name = "stride-one-specialisation"
    assert begins(name) == ("ttir", "ttir", "argument s1: compiled in -> i32")
    assert moved(name, "ptx.global_loads") == ({"16": 2}, {"2": 16}, "worse")
    assert moved(name, "meta.shared") == (0, 4096, "worse")
    assert moved(name, "sass.registers") == (18, 32, "worse")
    assert sum(deltas(name, "ttgir.convert_layouts").values()) == 1
    assert deltas(name, "ptx.barriers") == {"bar.sync": 1}


def test_the_assembler_is_the_cause_and_both_versions_are_named() -> None:
    name = "same-ptx-other-ptxas"
    assert begins(name) == ("sass", "sass", "assembler (12.8 -> 12.9)")
    assert kernel(name)["stages"]["ptx"]["sameness"] == "identical"
    assert moved(name, "sass.registers") == (77, 40, "better")


@pytest.mark.parametrize("edit", ["folder", "touch", "comment"])
def test_nothing_changed_and_why_the_bytes_differ(edit: str) -> None:
    name = f"path-touch-comment-{edit}"
    found = kernel(name)
    assert (found["status"], found["machine_code"], found["direction"]) == ("equivalent", "equivalent", None)
    assert found["first_divergence"] is None
    assert not found["changes"]
    told = [stage for stage in found["stages"].values() if stage["sameness"] == "equivalent"]
    assert told
    assert all(stage["reasons"] and stage["reasons"] != ["spelling"] for stage in told)


EFFECTS = {"better": "worse", "worse": "better"}
DIRECTIONS = {"better": "worse", "worse": "better", "mixed": "mixed", "neutral": "neutral", None: None}


@pytest.mark.parametrize("name", [*COMPARISONS, *PAIRS])
def test_a_comparison_mirrors_its_reverse(name: str) -> None:
    there, back = report(name), irdiff_json("compare", *reversed(sides(name)))
    assert back["verdict"] == there["verdict"]
    assert back["direction"] == DIRECTIONS[there["direction"]]
    (first,), (second,) = there["kernels"], back["kernels"]
    for field in ("status", "machine_code", "target"):
        assert first[field] == second[field]
    assert second["direction"] == DIRECTIONS[first["direction"]]
    assert {stage: told["sameness"] for stage, told in first["stages"].items()} == {
        stage: told["sameness"] for stage, told in second["stages"].items()
    }
    assert [(c["fact"], c["scope"], c["before"], c["after"], c["effect"]) for c in first["changes"]] == [
        (c["fact"], c["scope"], c["after"], c["before"], EFFECTS.get(c["effect"], c["effect"]))
        for c in second["changes"]
    ]
    if first["first_divergence"] is None:
        assert second["first_divergence"] is None
    else:
        for field in ("stage", "fact_stage"):
            assert first["first_divergence"][field] == second["first_divergence"][field]


@pytest.mark.parametrize("name", [*COMPARISONS, *PAIRS])
def test_a_kernel_is_identical_to_itself(name: str) -> None:
    side = sides(name)[1]
    found = irdiff_json("compare", side, side)
    (only,) = found["kernels"]
    assert (only["first_divergence"], only["changes"], only["direction"]) == (None, [], None)
    assert only["machine_code"] == "identical"
    whole = name != "same-ptx-other-ptxas"  # a dump of two stages: nobody knows that there were no others
    assert only["status"] == found["verdict"] == ("identical" if whole else "incomplete")
    assert {told["sameness"] for told in only["stages"].values()} <= {"identical"} | (
        set() if whole else {"missing"}
    )


def copied(name: str, into: Path) -> tuple[Path, Path]:
    """The entry folders of a pair, as copies that a test may edit."""
    found = []
    for place, side in zip(("before", "after"), sides(name), strict=True):
        shutil.copytree(side, into / place)
        found.append(next(path for path in (into / place).iterdir() if path.is_dir()))
    return found[0], found[1]


def recorded(folder: Path, stride: dict[str, int], block: int) -> None:
    told = {
        "schema": "irdiff-entry/1",
        "signature": {"src_ptr": "*fp16", "dst_ptr": "*fp16", "stride": "i32", "BLOCK": "constexpr"},
        "constexprs": {"BLOCK": block},
        "attributes": {"stride": stride} if stride else {},
    }
    (folder / "irdiff.json").write_text(json.dumps(told))


def divergence(before: Path, after: Path) -> dict[str, Any]:
    (found,) = irdiff_json("compare", before, after)["kernels"]
    return found["first_divergence"]  # type: ignore[no-any-return]


def test_a_recorded_constexpr_is_named_beside_the_argument(tmp_path: Path) -> None:
    before, after = copied("divisibility", tmp_path)
    recorded(before, {"tt.divisibility": 16}, 32)
    recorded(after, {}, 64)
    assert divergence(before, after)["cause"] == (
        "argument stride: i32, tt.divisibility = 16 -> i32; constexpr BLOCK: 32 -> 64"
    )


def test_without_a_record_the_front_end_is_named_where_an_attribute_cannot_be_all(tmp_path: Path) -> None:
    before, after = copied("divisibility", tmp_path)
    for suffix in ("source", "ttir"):
        (path,) = after.glob(f"*.{suffix}")
        text = path.read_text()
        assert "tt.make_range {end = 32" in text
        path.write_text(text.replace("tt.make_range {end = 32", "tt.make_range {end = 16"))
    assert divergence(before, after)["cause"] == (
        "argument stride: i32, tt.divisibility = 16 -> i32; front end"
    )


def test_an_option_that_led_to_nothing_is_neutral_and_the_machine_code_comes_first(tmp_path: Path) -> None:
    before, after = copied("moved", tmp_path)
    (path,) = (each for each in after.glob("*.json") if not each.name.startswith("__grp__"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "num_stages": 7}))
    (found,) = irdiff_json("compare", before, after)["kernels"]
    assert (found["status"], found["direction"], found["machine_code"]) == (
        "changed",
        "neutral",
        "equivalent",
    )
    assert found["first_divergence"] is None
    assert {each["fact"] for each in found["changes"]} == {"meta.num_stages", "meta.options"}
    shown = " ".join(irdiff("compare", before, after).out.split())
    assert "The machine code is equivalent. No stage of the compiler differs" in shown


def test_more_shared_memory_for_the_same_machine_code_is_still_worse(tmp_path: Path) -> None:
    before, after = copied("moved", tmp_path)
    (path,) = (each for each in after.glob("*.json") if not each.name.startswith("__grp__"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "shared": 200_000}))
    (found,) = irdiff_json("compare", before, after)["kernels"]
    assert (found["direction"], found["machine_code"]) == ("worse", "equivalent")


def test_an_option_that_follows_the_target_is_no_cause_beside_it() -> None:
    before, after = (corpus.entry("3.6.0", target, "matmul_kernel") for target in ("sm_80", "sm_90"))
    assert divergence(before, after)["cause"] == "target cuda:80 -> cuda:90"


def test_another_assembler_may_change_control_words_only() -> None:
    before, after = (corpus.entry(release, "sm_90", "vector_add_kernel") for release in ("3.6.0", "3.9.0"))
    assert divergence(before, after) == {
        "stage": "sass",
        "fact_stage": None,
        "cause": "assembler (12.8 -> 13.4.59): control words only",
    }


def test_an_environment_variable_is_named_and_one_that_only_prints_is_not(tmp_path: Path) -> None:
    before, after = copied("ptxas_unstable", tmp_path)
    (path,) = (each for each in after.glob("*.json") if not each.name.startswith("__grp__"))
    described = json.loads(path.read_text())
    path.write_text(json.dumps({**described, "DISABLE_PTXAS_OPT": "1", "MLIR_ENABLE_DUMP": "1"}))
    assert divergence(before, after)["cause"] == "environment variable DISABLE_PTXAS_OPT: unset -> 1"
    path.write_text(json.dumps({**described, "MLIR_ENABLE_DUMP": "1"}))
    assert divergence(before, after)["cause"] == "assembler"


def test_a_stall_count_alone_is_said_to_be_control_words_only(tmp_path: Path) -> None:
    before, after = copied("moved", tmp_path)
    shutil.rmtree(after)
    shutil.copytree(before, after)
    (path,) = after.glob("*.cubin")
    with path.open("rb") as stream:
        sections = [each for each in ELFFile(stream).iter_sections() if each.name.startswith(".text.")]
        start = sections[0]["sh_offset"]
    data = bytearray(path.read_bytes())
    word = int.from_bytes(data[start : start + 16], "little")
    stall = word >> 105 & 15
    changed = word ^ ((stall ^ (stall + 1) % 16) << 105)
    data[start : start + 16] = changed.to_bytes(16, "little")
    path.write_bytes(bytes(data))
    assert divergence(before, after) == {
        "stage": "sass",
        "fact_stage": "sass",
        "cause": "assembler: control words only",
    }
