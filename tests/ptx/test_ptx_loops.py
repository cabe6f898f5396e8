"""Loops: strongly connected parts of the control flow, nested, whatever the order of the blocks."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from irdiff.api import find_loops
from ptx.ptx_samples import facts_of, fixture, kernel, summary_of

GRAPHS = st.integers(1, 9).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size)
)


def reachable(successors: list[list[int]], start: int) -> set[int]:
    found: set[int] = set()
    work = list(successors[start])
    while work:
        block = work.pop()
        if block not in found:
            found.add(block)
            work.extend(successors[block])
    return found


@settings(max_examples=200, deadline=None)
@given(GRAPHS)
def test_outer_loops_are_the_blocks_that_reach_each_other(successors: list[list[int]]) -> None:
    reach = [reachable(successors, block) for block in range(len(successors))]
    expected = {
        frozenset(other for other in reach[block] if block in reach[other])
        for block in range(len(successors))
        if block in reach[block]
    }
    loops = find_loops(successors)
    assert {loop.blocks for loop in loops if "/" not in loop.id} == expected


@settings(max_examples=200, deadline=None)
@given(GRAPHS)
def test_inner_loops_lie_in_their_outer_loop_without_its_header(successors: list[list[int]]) -> None:
    loops = {loop.id: loop for loop in find_loops(successors)}
    headers = [loop.header for loop in loops.values()]
    assert headers == sorted(headers)
    assert len({loop_id.rpartition("/")[2] for loop_id in loops}) == len(loops)
    for loop in loops.values():
        assert loop.header in loop.blocks
        outer = loops.get(loop.id.rpartition("/")[0])
        if outer is not None:
            assert loop.blocks < outer.blocks
            assert outer.header not in loop.blocks


def test_counts_of_a_loop_hold_those_of_its_inner_loops() -> None:
    body = """
	bar.sync 	0;
$L__BB0_1:
	add.f32 	%r1, %r1, %r2;
$L__BB0_2:
	mul.f32 	%r1, %r1, %r2;
	@%p1 bra 	$L__BB0_2;
	bar.sync 	0;
	@%p2 bra 	$L__BB0_1;
$L__BB0_3:
	bar.sync 	0;
	@%p3 bra 	$L__BB0_3;
	"""
    summary = summary_of(kernel(body))
    assert [scope.id for scope in summary.scopes] == ["loop0", "loop0/loop1", "loop2"]
    assert facts_of(summary, "loop0")["ptx.fp"] == {"add.f32": 1, "mul.f32": 1}
    assert facts_of(summary, "loop0/loop1")["ptx.fp"] == {"mul.f32": 1}
    assert [facts_of(summary, scope)["ptx.barriers"] for scope in ("", "loop0", "loop0/loop1", "loop2")] == [
        {"bar.sync": 3},
        {"bar.sync": 1},
        {},
        {"bar.sync": 1},
    ]


def test_a_latch_that_stands_before_the_header_belongs_to_the_loop() -> None:
    body = """
	bra.uni 	$L__BB0_2;
$L__BB0_1:
	bar.sync 	0;
$L__BB0_2:
	@%p1 bra 	$L__BB0_4;
	bra.uni 	$L__BB0_1;
$L__BB0_3:
	trap;
$L__BB0_4:
	bar.sync 	0;
	"""
    summary = summary_of(kernel(body))
    assert [scope.id for scope in summary.scopes] == ["loop0"]
    assert facts_of(summary, "loop0")["ptx.opcodes"] == {"bar.sync": 1, "bra": 1, "bra.uni": 1}


def test_code_between_the_lines_of_a_loop_that_leaves_it_is_not_in_it() -> None:
    body = """
$L__BB0_1:
	@%p1 bra 	$L__BB0_3;
	trap;
$L__BB0_3:
	@%p2 bra 	$L__BB0_1;
	"""
    summary = summary_of(kernel(body))
    assert facts_of(summary, "loop0")["ptx.opcodes"] == {"bra": 2}


def test_a_wait_that_spins_inside_inline_assembly_is_no_loop() -> None:
    text = fixture("3.9.0", "sm_100", "tma_matmul_kernel")
    summary = summary_of(text)
    waits = facts_of(summary)["ptx.async_waits"]
    assert isinstance(waits, dict)
    assert waits["mbarrier.try_wait.parity.shared::cta.b64"] > 1  # type: ignore[operator]
    assert [scope.id for scope in summary.scopes] == ["loop0"]


def test_a_jump_table_is_followed() -> None:
    body = """
$L__BB0_1:
$L_brx_0: .branchtargets
	$L__BB0_1, $L__BB0_2;
	brx.idx 	%r1, $L_brx_0;
$L__BB0_2:
	bar.sync 	0;
	"""
    summary = summary_of(kernel(body))
    assert summary.coverage.ratio == 1.0
    assert [scope.id for scope in summary.scopes] == ["loop0"]


def test_an_empty_body_is_no_loop() -> None:
    empty = ".version 8.7\n.target sm_90a\n.address_size 64\n.func nothing()\n{\n}\n"
    looping = f"{empty}.entry f()\n{{\n$L__BB0_1:\n\tadd.s32 \t%r1, %r1, 1;\n\tbra.uni \t$L__BB0_1;\n}}\n"
    assert summary_of(empty).scopes == ()
    (loop,) = summary_of(looping).scopes
    assert (loop.first, loop.last) == (9, 11)
