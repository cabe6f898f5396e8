"""Which tile is mine, which addresses, how accumulated, where stored: as a person reads it off the Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irdiff_mlir import expressions
from mlir.mlir_samples import fact_of, facts_of, file_of, kernel, summary_of

MATMUL: dict[str, Any] = {
    # fixtures/kernels/matmul.py with 4 tiles in a row: tile_m = program // 4, tile_n = program % 4.
    # a_ptr + rows[:, None] * 256 + depth[None, :], and 32 further each time.
    "addresses": (
        "load 64x32xf16 a_ptr + 16384*(pid.x // 4) + 256*dim0[0:64] + dim1[0:32] + 32*trip(loop0)",
        "load 32x64xf16 b_ptr + 64*(pid.x % 4) + 256*dim0[0:32] + dim1[0:64] + 8192*trip(loop0)",
        "store 64x64xf16 c_ptr + 64*(pid.x % 4) + 16384*(pid.x // 4) + 256*dim0[0:64] + dim1[0:64]",
    ),
    "masks": (
        "load 64x32xf16: 64*(pid.x // 4) + dim0[0:64] < 256 and dim1[0:32] + 32*trip(loop0) < 256, other 0.0",
        "load 32x64xf16: 64*(pid.x % 4) + dim1[0:64] < 256 and dim0[0:32] + 32*trip(loop0) < 256, other 0.0",
        "store 64x64xf16: 64*(pid.x % 4) + dim1[0:64] < 256 and 64*(pid.x // 4) + dim0[0:64] < 256",
    ),
    "dots": {"64x32xf16 * 32x64xf16 -> 64x64xf32, tf32": 1},
    "store_casts": {"f32 -> f16": 1},
    "loops": ("scf.for 0..256 step 32, 8 trips, depth 1, 3 carried",),
    "program_ids": {"x": 1},
}
VECTOR_ADD: dict[str, Any] = {
    "addresses": (
        "load 1024xf32 x_ptr + 1024*pid.x + dim0[0:1024]",
        "load 1024xf32 y_ptr + 1024*pid.x + dim0[0:1024]",
        "store 1024xf32 out_ptr + 1024*pid.x + dim0[0:1024]",
    ),
    "masks": (
        "load 1024xf32: 1024*pid.x + dim0[0:1024] < n",
        "load 1024xf32: 1024*pid.x + dim0[0:1024] < n",
        "store 1024xf32: 1024*pid.x + dim0[0:1024] < n",
    ),
    "loops": (),
    "store_casts": {},
}
SOFTMAX: dict[str, Any] = {
    "addresses": (
        "load 1024xf32 x_ptr + pid.x*stride_x + dim0[0:1024]",
        "store 1024xf32 out_ptr + pid.x*stride_out + dim0[0:1024]",
    ),
    "masks": (
        "load 1024xf32: dim0[0:1024] < n_cols, other -inf",
        "store 1024xf32: dim0[0:1024] < n_cols",
    ),
    "program_ids": {"x": 1},
}
LAYER_NORM: dict[str, Any] = {
    # A program has 8 rows: row 8*pid.x + trip.
    "addresses": (
        "load 1024xbf16 w_ptr + dim0[0:1024]",
        "load 1024xbf16 x_ptr + 8*pid.x*stride + dim0[0:1024] + stride*trip(loop0)",
        "load 1024xbf16 dy_ptr + 8*pid.x*stride + dim0[0:1024] + stride*trip(loop0)",
        "load f32 rstd_ptr + 8*pid.x + trip(loop0)",
        "load f32 mean_ptr + 8*pid.x + trip(loop0)",
        "store 1024xbf16 dx_ptr + 8*pid.x*stride + dim0[0:1024] + stride*trip(loop0)",
        "store 1024xf32 dw_ptr + n_cols*pid.x + dim0[0:1024]",
        "store 1024xf32 db_ptr + n_cols*pid.x + dim0[0:1024]",
    ),
    "masks": (
        *("load 1024xbf16: dim0[0:1024] < n_cols, other 0.0",) * 3,
        *("load f32: all",) * 2,
        "store 1024xbf16: dim0[0:1024] < n_cols",
        *("store 1024xf32: dim0[0:1024] < n_cols",) * 2,
    ),
    "store_casts": {"f32 -> bf16": 1},
}
KERNELS = {
    "matmul_kernel": ("w4s2", MATMUL),
    "vector_add_kernel": ("n16", VECTOR_ADD),
    "softmax_kernel": ("f32", SOFTMAX),
    "layer_norm_bwd_kernel": ("bwd", LAYER_NORM),
}


@pytest.mark.parametrize("stage", ["source", "ttir"])
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_the_four_questions_are_answered_as_the_python_says(name: str, stage: str) -> None:
    specialization, expected = KERNELS[name]
    summary = summary_of(
        file_of("3.6.0", "sm_90", name, f".{stage}", specialization).read_bytes(), f".{stage}"
    )
    found = facts_of(summary)
    inlined = {"dots", "loops", "addresses", "masks", "store_casts", "program_ids"}
    for fact, value in expected.items():
        assert fact in inlined
        assert found[f"{stage}.{fact}"] == value, fact


@pytest.mark.parametrize("release", ["3.1.0", "3.3.1", "3.9.0"])
def test_addresses_of_other_releases_are_the_same_but_for_names_of_arguments(release: str) -> None:
    names = {"a_ptr": "arg0", "b_ptr": "arg1", "c_ptr": "arg2"} if release < "3.6" else {}
    found = facts_of(
        summary_of(file_of(release, "sm_90", "matmul_kernel", ".ttir", "w4s2").read_bytes(), ".ttir")
    )
    expected = tuple(
        re.sub(r"\b[abc]_ptr\b", lambda m: names.get(m[0], m[0]), line) for line in MATMUL["addresses"]
    )
    assert found["ttir.addresses"] == expected
    assert found["ttir.masks"] == MATMUL["masks"]


def test_a_pipelined_loop_reads_ahead_by_one_tile_less_than_it_has_stages() -> None:
    start = "async_copy_global_to_local 64x32xf16 a_ptr + 16384*(pid.x // 4) + 256*dim0[0:64] + dim1[0:32]"
    expected = {
        "w4s2": [start, f"{start} + 32*trip(loop0) + 32"],
        "w8s3": [start, f"{start} + 32", f"{start} + 32*trip(loop0) + 64"],
    }
    for specialization, addresses in expected.items():
        text = file_of("3.6.0", "sm_90", "matmul_kernel", ".ttgir", specialization).read_text()
        lines = facts_of(summary_of(text))["ttgir.addresses"]
        assert isinstance(lines, tuple)
        assert [line for line in lines if "a_ptr" in line] == addresses


def test_descriptors_are_read_at_coordinates() -> None:
    source = file_of("3.6.0", "sm_90", "tma_device_matmul_kernel", ".ttir", "device").read_bytes()
    assert facts_of(summary_of(source, ".ttir"))["ttir.addresses"] == (
        "descriptor_load 64x64xf16 descriptor(a_ptr, [M, K], [K, 1])[64*pid.x, 64*trip(loop0)]",
        "descriptor_load 32x64xf16 descriptor(b_ptr, [N, K], [K, 1])[32*pid.y, 64*trip(loop0)]",
        "descriptor_store 64x32xf16 descriptor(c_ptr, [M, N], [N, 1])[64*pid.x, 32*pid.y]",
    )


def test_a_loop_s_scope_holds_its_own_accesses_with_their_lines() -> None:
    text = file_of("3.6.0", "sm_90", "matmul_kernel", ".ttir", "w4s2").read_text()
    fact = fact_of(summary_of(text, ".ttir"), "ttir.addresses", "loop0")
    assert fact.value == MATMUL["addresses"][:2]
    lines = text.splitlines()
    assert all("tt.load" in lines[place - 1] for place in fact.evidence[""])


def test_source_and_ttir_of_every_recorded_kernel_access_the_same(h200: Path) -> None:
    """The passes in between inline, fold and merge; what is read and written, and when, stays."""
    compared = opaque = total = 0
    for path in sorted(h200.rglob("*.ttir")):
        before = facts_of(summary_of(path.with_suffix(".source").read_bytes(), ".source"))
        after = facts_of(summary_of(path.read_bytes(), ".ttir"))
        for name in ("addresses", "masks"):
            assert before[f"source.{name}"] == after[f"ttir.{name}"], path.name
            lines = after[f"ttir.{name}"]
            assert isinstance(lines, tuple)
            total += len(lines)
            opaque += sum("?" in line for line in lines)
        compared += 1
    assert compared == 141
    assert total > 1000
    assert opaque <= 4, "accesses that are not said in words"


def access(body: str) -> tuple[object, object]:
    found = facts_of(summary_of(kernel(body), ".ttir"))
    return found["ttir.addresses"], found["ttir.masks"]


RANGE = "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>"
POINTERS = "%s = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>"


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 64))
@settings(max_examples=25, deadline=None)
def test_a_chain_of_sums_and_products_is_one_sum(first: int, second: int, factor: int) -> None:
    addresses, _ = access(
        f"""
%a = arith.constant {first} : i32
%b = arith.constant {second} : i32
%f = arith.constant {factor} : i32
%x = arith.addi %n, %a : i32
%y = arith.muli %x, %f : i32
%z = arith.subi %y, %b : i32
%q = tt.addptr %p, %z : !tt.ptr<f32>, i32
%v = tt.load %q : !tt.ptr<f32>
"""
    )
    constant = first * factor - second
    scaled = "n" if factor == 1 else f"{factor}*n"
    tail = "" if constant == 0 else f" {'-' if constant < 0 else '+'} {abs(constant)}"
    assert addresses == (f"load f32 p + {scaled}{tail}",)


def test_what_is_no_sum_is_a_token_and_not_left_out() -> None:
    addresses, masks = access(
        f"""
{RANGE}
{POINTERS}
%h = "tt.histogram"(%r) : (tensor<8xi32>) -> tensor<8xi32>
%q = tt.addptr %s, %h : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
%m = tt.splat %c : i1 -> tensor<8xi1>
%v = tt.load %q, %m : tensor<8x!tt.ptr<f32>>
"""
    )
    assert addresses == ("load 8xf32 p + ?tt.histogram",)
    assert masks == ("load 8xf32: c",)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("%m = arith.cmpi slt, %r, %k : tensor<8xi32>", "%m = arith.cmpi sgt, %k, %r : tensor<8xi32>"),
        (
            (
                "%z = arith.subi %r, %k : tensor<8xi32>\n%o = arith.constant dense<0> : tensor<8xi32>\n"
                "%m = arith.cmpi slt, %z, %o : tensor<8xi32>"
            ),
            "%m = arith.cmpi slt, %r, %k : tensor<8xi32>",
        ),
        (
            "%o = arith.constant dense<7> : tensor<8xi32>\n%m = arith.cmpi sle, %k, %o : tensor<8xi32>",
            "%o = arith.constant dense<8> : tensor<8xi32>\n%m = arith.cmpi slt, %k, %o : tensor<8xi32>",
        ),
    ],
)
def test_equal_conditions_have_equal_text(first: str, second: str) -> None:
    def masked(condition: str) -> object:
        return access(
            f"{RANGE}\n{POINTERS}\n%k = tt.splat %n : i32 -> tensor<8xi32>\n{condition}\n"
            "%q = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>\n"
            "%v = tt.load %q, %m : tensor<8x!tt.ptr<f32>>"
        )[1]

    assert masked(first) == masked(second)


def test_another_stride_another_bound_and_another_step_are_other_facts() -> None:
    text = file_of("3.6.0", "sm_90", "matmul_kernel", ".ttir", "w4s2").read_text()
    before = facts_of(summary_of(text, ".ttir"))
    edits = {
        "dense<256> : tensor<64x1xi32>": ("dense<255> : tensor<64x1xi32>", {"addresses", "masks"}),
        "dense<8192> : tensor<32x64xi32>": ("dense<8191> : tensor<32x64xi32>", {"addresses"}),
        "dense<256> : tensor<1x64xi32>": ("dense<250> : tensor<1x64xi32>", {"masks"}),
        "get_program_id x": ("get_program_id y", {"addresses", "masks"}),
    }
    for old, (new, moved) in edits.items():
        assert text.count(old) == 1
        after = facts_of(summary_of(text.replace(old, new), ".ttir"))
        assert {
            name for name in ("addresses", "masks") if before[f"ttir.{name}"] != after[f"ttir.{name}"]
        } == moved


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9)), max_size=6),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9)), max_size=6),
    st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9)),
)
def test_expressions_compute_what_integers_do(
    first: list[tuple[str, int]], second: list[tuple[str, int]], point: tuple[int, int, int]
) -> None:
    at = dict(zip("abc", point, strict=True))

    def made(terms: list[tuple[str, int]]) -> expressions.Expression:
        total = expressions.number(0)
        for name, factor in terms:
            total = expressions.add(
                total, expressions.multiply(expressions.atom(name), expressions.number(factor))
            )
        return total

    def value(expression: expressions.Expression) -> int:
        return int(eval(expressions.text(expression).replace("*", " * "), {}, at))

    x, y = made(first), made(second)
    assert value(expressions.add(x, y)) == value(x) + value(y)
    assert value(expressions.multiply(x, y)) == value(x) * value(y)
    for symbol in ("<", "<=", "==", "!=", ">", ">="):
        shown = (
            expressions.text(expressions.compare(symbol, x, y))
            .replace("true", "True")
            .replace("false", "False")
        )
        holds = eval(f"{value(x)} {symbol} {value(y)}")
        assert eval(shown, {}, at) == holds


def test_hostile_arithmetic_stays_small() -> None:
    squares = "\n".join(f"%x{i + 1} = arith.muli %x{i}, %x{i} : i32" for i in range(400))
    sums = "\n".join(f"%y{i + 1} = arith.xori %y{i}, %y{i} : i32" for i in range(400))
    addresses, _ = access(
        f"%x0 = arith.addi %n, %n : i32\n{squares}\n%y0 = arith.addi %n, %n : i32\n{sums}\n"
        "%q = tt.addptr %p, %x400 : !tt.ptr<f32>, i32\n%u = tt.addptr %q, %y400 : !tt.ptr<f32>, i32\n"
        "%v = tt.load %u : !tt.ptr<f32>"
    )
    assert isinstance(addresses, tuple)
    assert len(addresses[0]) < 2000
