"""Loops of machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from irdiff.api import Artifact, Canonical, Context, Summary
from irdiff.tools import LocalToolbox
from irdiff_sass.decoded import code_text
from irdiff_sass.instructions import NO_CONTROL, Instruction
from irdiff_sass.loops import Loop, find_loops
from irdiff_sass.plugin import STAGE

Read = Callable[[Path], tuple[Summary, Canonical]]


def loops(*lines: str) -> tuple[Loop, ...]:
    return find_loops(code_text(lines, [NO_CONTROL] * len(lines)))


def test_a_branch_back_is_a_loop() -> None:
    (loop,) = loops("MOV R0, 0x1", "IADD3 R0, R0, 0x1, RZ", "@P0 BRA 0x10", "EXIT")
    assert (loop.header, loop.members, loop.parent) == (1, {1, 2}, None)


def test_loops_nest() -> None:
    outer, inner = loops("NOP", "NOP", "NOP", "@P0 BRA 0x20", "@P1 BRA 0x10", "EXIT")
    assert (outer.members, inner.members, inner.parent) == ({1, 2, 3, 4}, {2, 3}, 0)


def test_a_slow_path_behind_the_end_that_branches_back_is_no_loop() -> None:
    """What ptxas makes of a barrier wait: a retry loop behind EXIT, and a branch back."""
    found = loops("SYNCS R0", "@!P0 BRA 0x40", "MOV R0, R1", "EXIT", "SYNCS R0", "@!P0 BRA 0x40", "BRA 0x20")
    assert [(loop.header, loop.members) for loop in found] == [(4, {4, 5})]


def test_the_guard_behind_the_end_is_no_loop() -> None:
    assert loops("MOV R0, R1", "EXIT", "BRA 0x20") == ()


def test_a_path_that_leaves_the_loop_body_in_place_and_returns_to_it_is_part_of_it() -> None:
    (loop,) = loops("NOP", "@P1 BRA 0x50", "NOP", "@P0 BRA 0x0", "EXIT", "NOP", "BRA 0x20")
    assert loop.members == {0, 1, 2, 3, 5, 6}


def test_a_function_in_the_same_section_has_its_own_loops() -> None:
    found = loops("CALL.REL.NOINC 0x20", "EXIT", "NOP", "@P0 BRA 0x20", "RET.REL.NODEC R2 0x0")
    assert [loop.members for loop in found] == [{2, 3}]


def test_a_branch_that_never_executes_makes_no_loop() -> None:
    assert loops("NOP", "@!PT BRA 0x0", "EXIT") == ()


LINES = st.lists(
    st.one_of(
        st.sampled_from(["NOP", "EXIT", "@P0 EXIT", "RET.REL.NODEC R2 0x0"]),
        st.builds(
            lambda head, place: f"{head} {place * 16:#x}",
            st.sampled_from(["BRA", "@P0 BRA", "CALL.REL.NOINC"]),
            st.integers(0, 30),
        ),
    ),
    min_size=1,
    max_size=30,
)  # fmt: skip


def reachable(code: Sequence[Instruction], without: int | None, start: int) -> set[int]:
    """Instructions that some path from ``start`` reaches without passing one of them: the slow definition."""
    seen: set[int] = set()
    stack = [start]
    while stack:
        index = stack.pop()
        if index in seen or index == without or index >= len(code):
            continue
        seen.add(index)
        line = code[index]
        if line.family == "BRA" and line.target is not None and line.target // 16 < len(code):
            stack.append(line.target // 16)
        jump = line.family == "BRA" and not line.predicate
        if not jump and not (line.family in ("EXIT", "RET") and not line.predicate):
            stack.append(index + 1)
    return seen


@given(LINES)
def test_headers_dominate_their_loops_and_members_reach_back(lines: list[str]) -> None:
    decoded = code_text(lines, [NO_CONTROL] * len(lines))
    code = decoded.instructions
    roots = {0} | {each.target // 16 for each in code if each.family == "CALL" and each.target is not None}
    for loop in find_loops(decoded):
        around = set().union(*(reachable(code, loop.header, root) for root in roots if root < len(code)))
        assert not around & loop.members
        for member in loop.members:
            assert loop.header in reachable(code, None, member)


@pytest.mark.parametrize("target", ["sm_90", "sm_100"])
def test_loop_facts_are_a_part_of_the_kernels(target: str, read: Read) -> None:
    (path,) = corpus.entry("3.6.0", target, "tma_matmul_kernel").glob("*.cubin")
    summary, _ = read(path)
    assert summary.scopes
    whole = {fact.id: fact for fact in summary.facts if not fact.scope}
    for scope in summary.scopes:
        for fact in (each for each in summary.facts if each.scope == scope.id):
            if isinstance(fact.value, dict):
                for key, places in fact.evidence.items():
                    assert set(places) <= set(whole[fact.id].evidence[key])
                    assert all(scope.first <= place <= scope.last for place in places)


def test_an_access_in_a_loop_is_counted_in_it_and_padding_loads_are_not_counted(
    toolbox: LocalToolbox,
) -> None:
    text = """Function:k
--:-:-:-:1\tMOV R0, 0x1;
LBB0:
--:-:0:-:4\tLDG.E.128 R4, desc[UR4][R2.64];
--:-:-:-:2\t@!PT LDS RZ, [RZ];
--:-:-:-:2\tSTL.64 [R1], R4;
--:-:-:Y:5\t@P0 BRA LBB0;
--:-:-:-:5\tEXIT;
LBB1:
--:-:-:Y:0\tBRA LBB1;
--:-:-:Y:0\tNOP;
"""
    summary = STAGE.summarize(Artifact.of_bytes(text.encode(), suffix=".sass"), Context(tools=toolbox))
    found = {(fact.scope, fact.id): fact for fact in summary.facts}
    assert [(scope.id, scope.first, scope.last) for scope in summary.scopes] == [("loop0", 16, 64)]
    assert found["loop0", "sass.global_loads"].value == {"16": 1}
    assert found["loop0", "sass.global_loads"].evidence == {"16": (16,)}
    assert found["loop0", "sass.local_accesses"].value == {"store 8": 1}
    assert found["", "sass.shared_loads"].value == {}
    assert found["loop0", "sass.stalls"].value == 13
    assert found["", "sass.instructions"].value == 7
    assert found["", "sass.loops"].value == ("depth 1: 4 instructions",)
