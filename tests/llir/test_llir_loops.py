"""Trip counts against running the loop, and against what TTGIR says; lines of Python against PTX's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from llir.llir_samples import every_fixture, fixture, kernel, summary_of
from mlir.mlir_samples import summary_of as mlir_summary_of

HOLDS = {
    "slt": lambda x, y: x < y,
    "sle": lambda x, y: x <= y,
    "sgt": lambda x, y: x > y,
    "sge": lambda x, y: x >= y,
    "ult": lambda x, y: x % 2**32 < y % 2**32,
    "ugt": lambda x, y: x % 2**32 > y % 2**32,
    "ne": lambda x, y: x != y,
    "eq": lambda x, y: x == y,
}
MOST = 200


def bottom_tested(start: int, step: int, relation: str, bound: int, *, stepped: bool, leaves: bool) -> str:
    """A loop of one block that compares before or after stepping, and goes on or leaves where it holds."""
    compared = "%next" if stepped else "%i"
    targets = ("%out", "%loop") if leaves else ("%loop", "%out")
    return kernel(
        f"  br label %loop\n\nloop:\n  %i = phi i32 [ {start}, %3 ], [ %next, %loop ]\n"
        f"  %next = add nsw i32 %i, {step}\n  %c = icmp {relation} i32 {compared}, {bound}\n"
        f"  br i1 %c, label {targets[0]}, label {targets[1]}\n\nout:"
    )


def top_tested(start: int, step: int, relation: str, bound: int) -> str:
    return kernel(
        f"  br label %head\n\nhead:\n  %i = phi i32 [ {start}, %3 ], [ %next, %body ]\n"
        f"  %c = icmp {relation} i32 %i, {bound}\n  br i1 %c, label %body, label %out\n\n"
        f"body:\n  %next = add i32 %i, {step}\n  br label %head\n\nout:"
    )


def simulated(start: int, step: int, holds: object, *, top: bool, stepped: bool, leaves: bool) -> int | None:
    """Passes by running it; None where it runs too long to say."""
    value = start
    for passes in range(MOST):
        if top and not holds(value):  # type: ignore[operator]
            return passes
        after = value + step
        if not top and bool(holds(after if stepped else value)) == leaves:  # type: ignore[operator]
            return passes + 1
        value = after
    return None


small = st.integers(-20, 20)


@given(
    small,
    small.filter(bool),
    st.sampled_from(sorted(HOLDS)),
    small,
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_a_proven_trip_count_is_what_running_the_loop_gives(
    start: int,
    step: int,
    relation: str,
    bound: int,
    top: bool,
    stepped: bool,
    leaves: bool,
) -> None:
    text = (
        top_tested(start, step, relation, bound)
        if top
        else bottom_tested(start, step, relation, bound, stepped=stepped, leaves=leaves)
    )
    (scope,) = summary_of(text).scopes
    expected = simulated(
        start, step, lambda value: HOLDS[relation](value, bound), top=top, stepped=stepped, leaves=leaves
    )
    if scope.trip_count is not None and expected is not None:
        assert scope.trip_count == expected
    elif scope.trip_count is not None:
        assert scope.trip_count >= MOST


def test_the_loops_that_triton_emits_are_proven() -> None:
    assert summary_of(bottom_tested(0, 32, "ult", 224, stepped=False, leaves=False)).scopes[0].trip_count == 8
    assert summary_of(top_tested(0, 32, "slt", 256)).scopes[0].trip_count == 8


@pytest.mark.parametrize(
    "body",
    [
        "%next = add i32 %i, %1",
        "%next = mul i32 %i, 2",
        "%next = add i32 %j, 1",
    ],
)
def test_a_counter_that_is_not_one_has_no_trip_count(body: str) -> None:
    text = bottom_tested(0, 1, "slt", 8, stepped=True, leaves=False).replace(
        "%next = add nsw i32 %i, 1", body
    )
    assert body in text
    assert summary_of(text).scopes[0].trip_count is None


def test_a_loop_with_two_ways_out_has_no_trip_count() -> None:
    text = kernel(
        "  br label %loop\n\nloop:\n  %i = phi i32 [ 0, %3 ], [ %next, %more ]\n  %next = add i32 %i, 1\n"
        "  %c = icmp slt i32 %1, 8\n  br i1 %c, label %more, label %out\n\n"
        "more:\n  %d = icmp slt i32 %next, 8\n  br i1 %d, label %loop, label %out\n\nout:"
    )
    assert summary_of(text).scopes[0].trip_count is None


def trips(llir: Path) -> tuple[list[int | None], list[int | None]]:
    ttgir = mlir_summary_of(llir.with_suffix(".ttgir").read_bytes())
    return (
        [scope.trip_count for scope in ttgir.scopes],
        [scope.trip_count for scope in summary_of(llir.read_bytes()).scopes],
    )


def test_trip_counts_agree_with_ttgir_on_every_fixture() -> None:
    """Lowering may unroll or peel a loop away; a loop that is there on both sides runs as often."""
    compared = 0
    for path in every_fixture():
        if not path.with_suffix(".ttgir").exists():
            continue
        before, after = trips(path)
        if len(before) == len(after):
            for expected, found in zip(before, after, strict=True):
                if found is not None and expected is not None:
                    assert found == expected, path
                    compared += 1
    assert compared >= 15


def test_trip_counts_agree_with_ttgir_on_the_recorded_kernels(h200: Path) -> None:
    proven = loops = 0
    for path in sorted(h200.rglob("*.llir")):
        before, after = trips(path)
        loops += len(after)
        proven += sum(found is not None for found in after)
        # LLVM peels the last pass off a loop whose exit it can then decide, and names the block so.
        peeled = int("\n.peel.begin:" in path.read_text())
        if len(before) == len(after):
            assert after == [count - peeled if count is not None else None for count in before], path
    assert loops == 51
    assert proven == 51


def test_lines_of_python_are_those_of_the_ttgir(h200: Path) -> None:
    for path in sorted(h200.rglob("*.llir"))[:20]:
        mine = set(summary_of(path.read_bytes()).source_lines.values())
        theirs = set(mlir_summary_of(path.with_suffix(".ttgir").read_bytes()).source_lines.values())
        assert mine
        assert mine <= theirs, path


def test_the_line_of_a_load_is_the_user_s_line() -> None:
    text = fixture("3.6.0", "sm_90", "vector_add_kernel", "n16")
    found = summary_of(text).source_lines
    lines = text.splitlines()
    source = (corpus.FIXTURES / "kernels/vector_add.py").read_text().splitlines()
    loads = [where for place, where in found.items() if "ld.global" in lines[place - 1]]
    assert loads
    for where in loads:
        path, _, line = where.rpartition(":")
        assert path.endswith("vector_add.py")
        assert "tl.load" in source[int(line) - 1]
