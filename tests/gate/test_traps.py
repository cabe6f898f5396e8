"""Cases in which the obvious number misleads: what fires, and above all what does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.api import Judgement, RuleExample, Value
from irdiff.engine.gate.examples import judge_example
from irdiff.plugins import load_plugins

REGISTRY = load_plugins(external=False)


def judged(before: Mapping[str, Value], after: Mapping[str, Value], **more: Any) -> Judgement:
    report = judge_example(RuleExample(fires=True, before=before, after=after, **more), REGISTRY)
    assert isinstance(report.judgement, Judgement)
    return report.judgement


def fired(before: Mapping[str, Value], after: Mapping[str, Value], **more: Any) -> set[str]:
    return {finding.rule for finding in judged(before, after, **more).findings}


def spilled(stores: int, loads: int, *, registers: int = 255, stack: int = 0) -> dict[str, Value]:
    return {
        "sass.registers": registers,
        "sass.stack": stack,
        "sass.spill_store_bytes": stores,
        "sass.spill_load_bytes": loads,
    }


def test_registers_at_their_limit_hide_spills() -> None:
    assert fired(spilled(0, 0), spilled(288, 288, stack=288)) == {"RES101"}


def test_a_stack_that_is_a_local_array_is_no_spill() -> None:
    assert fired(spilled(0, 0, registers=32), spilled(0, 0, registers=32, stack=2304)) == {"RES106"}


def test_a_local_array_beside_spills_is_told_as_well() -> None:
    assert fired(spilled(0, 0), spilled(16, 16, stack=2304)) == {"RES101", "RES106"}


def test_spills_that_moved_from_loads_to_stores_and_are_fewer_in_all_are_quiet() -> None:
    assert fired(spilled(100, 400), spilled(120, 200)) == set()


def test_fewer_instructions_and_no_spill_may_be_slower() -> None:
    before = spilled(0, 0, registers=64) | {"sass.instructions": 496, "kernel.ctas_per_sm": 2}
    after = spilled(0, 0, registers=72) | {"sass.instructions": 464, "kernel.ctas_per_sm": 1}
    assert fired(before, after) == {"RES102", "RES103"}


def test_counters_that_all_got_worse_fail_nothing_where_atomics_were_coalesced() -> None:
    before: dict[str, Value] = {
        "sass.instructions": 180,
        "sass.code_bytes": 4096,
        "sass.registers": 24,
        "sass.global_loads": {"16": 2},
        "ptx.atomics": {"atom.global.add.f32": 32},
        "ptx.barriers": {},
        "meta.shared": 1024,
    }
    after: dict[str, Value] = {
        "sass.instructions": 320,
        "sass.code_bytes": 6144,
        "sass.registers": 32,
        "sass.global_loads": {"16": 2},
        "ptx.atomics": {"atom.global.add.f32": 8},
        "ptx.barriers": {"bar.sync": 2},
        "meta.shared": 2048,
    }
    found = judged(before, after)
    assert not found.failed
    assert {each.rule for each in found.findings} == {"RES102", "RES104", "SIZE101"}


def test_equal_operation_counts_with_another_layout_are_told_by_reach() -> None:
    reduces: dict[str, Value] = {"ttgir.reduces": {"axis 1": 1}, "ttgir.ops": {"tt.reduce": 1}}
    before = reduces | {"ttgir.reduce_reach": {"inside a thread": 1}}
    after = reduces | {"ttgir.reduce_reach": {"across warps": 1}}
    assert fired(before, after) == {"LAY103"}


def looped(fact: str, inside: Value, whole: Value | None = None, loop: str = "loop0") -> dict[str, Value]:
    return {fact: inside if whole is None else whole, f"{fact} @ {loop}": inside}


CONVERT = "ttgir.convert_layouts"


def test_a_conversion_that_moves_nothing_is_none() -> None:
    before = looped(CONVERT, {}) | looped("ttgir.conversion_reach", {})
    after = looped(CONVERT, {"a -> b": 1}) | looped("ttgir.conversion_reach", {"nothing moves": 1})
    assert fired(before, after) == set()
    after |= looped("ttgir.conversion_reach", {"across warps": 1})
    assert fired(before, after) == {"LAY101"}


def test_a_loop_under_another_name_is_the_same_loop() -> None:
    before = looped(CONVERT, {"a -> b": 1}, loop="loop0")
    after = looped(CONVERT, {"a -> b": 1}, loop="loop1")
    assert fired(before | {"ttgir.ops": {"x": 1}}, after | {"ttgir.ops": {"x": 2}}) == set()


def test_a_conversion_in_a_loop_that_is_there_on_one_side_only() -> None:
    before: dict[str, Value] = {CONVERT: {}}
    assert fired(before, looped(CONVERT, {"a -> b": 1})) == {"LAY101"}


def test_code_that_became_a_loop_adds_no_conversion() -> None:
    """An unrolled loop (`tl.static_range`) that is none any more: 4 conversions became 1, four times."""
    assert fired({CONVERT: {"a -> b": 4}}, looped(CONVERT, {"a -> b": 1})) == set()


@pytest.mark.parametrize("known", [True, False])
def test_an_unrolled_loop_adds_no_conversion(known: bool) -> None:
    before = looped(CONVERT, {"a -> b": 1}) | looped("ttgir.ops", {"arith.addf": 20})
    after = looped(CONVERT, {"a -> b": 2}) | looped("ttgir.ops", {"arith.addf": 39})
    trips = {"loop0": (8, 4) if known else (None, None)}
    assert fired(before, after, trips=trips) == set()


def test_a_second_conversion_in_a_loop_of_the_same_size_is_one() -> None:
    before = looped(CONVERT, {"a -> b": 1}) | looped("ttgir.ops", {"arith.addf": 20})
    after = looped(CONVERT, {"a -> b": 2}) | looped("ttgir.ops", {"arith.addf": 21})
    assert fired(before, after) == {"LAY101"}


def test_a_conversion_that_moved_into_the_loop_is_added_there() -> None:
    before = looped(CONVERT, {}, {"a -> b": 1})
    assert fired(before, looped(CONVERT, {"a -> b": 1})) == {"LAY101"}


def test_an_inner_loop_counts_once() -> None:
    def nested(count: int) -> dict[str, Value]:
        value: Value = {"a -> b": count}
        return {CONVERT: value, f"{CONVERT} @ loop0": value, f"{CONVERT} @ loop0/loop1": value}

    found = judged(nested(1), nested(2))
    (finding,) = found.findings
    assert (finding.rule, finding.before, finding.after, finding.scope) == ("LAY101", 1, 2, "loop0/loop1")


def test_a_wait_for_fewer_copies_is_not_stricter_where_fewer_are_made() -> None:
    before = looped("ttgir.async_waits", {"num = 2": 1}) | looped("ttgir.pipeline_depth", {"2": 2})
    after = looped("ttgir.async_waits", {"num = 1": 1}) | looped("ttgir.pipeline_depth", {"2": 1})
    assert "PIPE103" not in fired(before, after)
    after |= looped("ttgir.pipeline_depth", {"2": 2})
    assert fired(before, after) == {"PIPE103"}


def test_another_generation_of_matrix_instructions_with_the_same_work_is_quiet() -> None:
    tile: dict[str, Value] = {
        "ttir.dots": {"64x32xf16 * 32x64xf16 -> 64x64xf32": 1},
        "kernel.tensor_flops": 2097152,
    }
    before = tile | {"kernel.mma_class": "mma.sync", "ptx.mma": {"mma.sync.aligned.m16n8k16": 16}}
    after = tile | {"kernel.mma_class": "wgmma", "ptx.mma": {"wgmma.mma_async.sync.aligned.m64n64k16": 2}}
    assert fired(before, after) == set()


def test_another_constant_is_another_kernel_and_its_work_is_not_compared() -> None:
    tile: dict[str, Value] = {"ttir.dots": {"64x32xf16 * 32x64xf16 -> 64x64xf32": 1}}
    before = tile | {"kernel.tensor_flops": 2097152, "meta.specialization": {"K": "constexpr 256"}}
    after = tile | {"kernel.tensor_flops": 4194304, "meta.specialization": {"K": "constexpr 512"}}
    assert fired(before, after) == set()
    after |= {"meta.specialization": {"K": "constexpr 256"}}
    assert fired(before, after) == {"MMA102"}


def test_more_than_half_the_bytes_of_a_smaller_type_are_no_narrower_access() -> None:
    """f16 instead of f32 in the same layout: half the bytes in as many accesses."""
    assert fired({"sass.global_loads": {"16": 2}}, {"sass.global_loads": {"8": 2}}) == set()


def test_with_equal_tiles_the_width_alone_decides() -> None:
    tiles: dict[str, Value] = {"ttir.loads": {"64x64xf16": 1}}
    before = tiles | {"sass.global_loads": {"16": 8}}
    after = tiles | {"sass.global_loads": {"2": 16}}  # the loop that was unrolled is none any more
    assert fired(before, after) == {"MEM101"}
    assert fired({"sass.global_loads": {"16": 8}}, {"sass.global_loads": {"2": 16}}) == set()


def test_a_stage_that_cannot_be_read_lets_the_one_above_judge() -> None:
    before: dict[str, Value] = {"sass.global_loads": {"16": 2}, "ptx.global_loads": {"16": 2}}
    after: dict[str, Value] = {"ptx.global_loads": {"2": 16}}
    found = judged(before, after, unreadable=("sass",))
    assert ([each.fact for each in found.findings], found.unsure) == (["ptx.global_loads"], True)


WIDTHS = st.dictionaries(st.sampled_from(["1", "2", "4", "8", "16", "32"]), st.integers(1, 64), max_size=4)


@given(before=WIDTHS, after=WIDTHS)
def test_accesses_that_are_no_narrower_anywhere_never_fire(
    before: dict[str, int], after: dict[str, int]
) -> None:
    """Where at least as many bytes are moved in accesses of each width or more, nothing fell."""

    def moved(tally: dict[str, int], least: int) -> int:
        return sum(int(width) * count for width, count in tally.items() if int(width) >= least)

    better = all(moved(after, least) >= moved(before, least) for least in (1, 2, 4, 8, 16, 32))
    found = fired({"sass.global_loads": dict(before)}, {"sass.global_loads": dict(after)})
    assert found == set() or not better


@given(pieces=st.sampled_from([1, 2, 4, 8]), count=st.integers(1, 64))
def test_the_same_bytes_in_narrower_pieces_always_fire(pieces: int, count: int) -> None:
    before: dict[str, Value] = {"sass.global_loads": {"16": count}}
    after: dict[str, Value] = {"sass.global_loads": {str(16 // pieces): count * pieces}}
    assert fired(before, after) == ({"MEM101"} if pieces > 1 else set())
