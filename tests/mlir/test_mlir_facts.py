"""What the facts say of small kernels."""

from __future__ import annotations

import pytest

from irdiff.api import EntryInfo
from irdiff_mlir import locations, reader
from irdiff_mlir.vocabulary import KNOWN
from mlir.mlir_samples import STAGES, fact_of, facts_of, file_of, kernel, summary_of


def _tally(body: str, fact: str, *, scope: str = "", suffix: str = ".ttir", **options: str) -> dict[str, int]:
    value = fact_of(summary_of(kernel(body, **options), suffix), fact, scope).value
    assert isinstance(value, dict)
    return value  # type: ignore[return-value]  # a tally


def test_a_load_says_mask_other_cache_and_eviction() -> None:
    tensor = "tensor<64x32x!tt.ptr<f16>>"
    assert _tally(
        f"""
        %a = tt.load %p : !tt.ptr<f32>
        %b = tt.load %q, %m : {tensor}
        %d = tt.load %q, %m, %o cacheModifier = cg evictionPolicy = evict_last {{isVolatile = true}} : {tensor}
        """,
        "ttir.loads",
        head=f"%p: !tt.ptr<f32>, %q: {tensor}, %m: tensor<64x32xi1>, %o: tensor<64x32xf16>",
    ) == {"f32": 1, "64x32xf16, masked": 1, "64x32xf16, masked, other, cache cg, evict_last, volatile": 1}


def test_the_cache_policy_of_release_3_9_is_told_like_the_older_spelling() -> None:
    newer = "{cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>}"
    older = "cacheModifier = cg evictionPolicy = evict_last"
    first, second = (
        _tally(f"%a = tt.load %p {words} : !tt.ptr<f32>", "ttir.loads") for words in (newer, older)
    )
    assert first == second == {"f32, cache cg, evict_last": 1}


def test_a_store_tells_its_mask_and_the_conversion_before_it() -> None:
    body = """
        %h = arith.truncf %v : tensor<64xf32> to tensor<64xf16>
        %w = tt.reshape %h : tensor<64xf16> -> tensor<64xf16>
        tt.store %q, %w, %m : tensor<64x!tt.ptr<f16>>
        tt.store %q, %w : tensor<64x!tt.ptr<f16>>
    """
    head = "%q: tensor<64x!tt.ptr<f16>>, %m: tensor<64xi1>, %v: tensor<64xf32>"
    assert _tally(body, "ttir.stores", head=head) == {"64xf16, masked": 1, "64xf16": 1}
    assert _tally(body, "ttir.store_casts", head=head) == {"f32 -> f16": 2}


def test_atomics_say_operation_order_scope_and_shape() -> None:
    summary = summary_of(file_of("3.6.0", "sm_90", "locked_sum_kernel", ".ttir").read_bytes(), ".ttir")
    atomics = facts_of(summary)["ttir.atomics"]
    assert isinstance(atomics, dict)
    assert atomics["atomic_cas acq_rel, gpu, i32"] == 1
    assert facts_of(summary, "loop0")["ttir.atomics"] == {"atomic_cas acq_rel, gpu, i32": 1}


def test_a_reduction_says_axis_shape_and_combiner() -> None:
    body = """
        %r = "tt.reduce"(%v) <{axis = 1 : i32}> ({
        ^bb0(%x: f32, %y: f32):
          %s = arith.addf %x, %y : f32
          tt.reduce.return %s : f32
        }) : (tensor<64x32xf32>) -> tensor<64xf32>
    """
    assert _tally(body, "ttir.reduces", head="%v: tensor<64x32xf32>") == {"axis 1, 64x32xf32, arith.addf": 1}


def test_counts_are_split_by_loop_and_a_loop_holds_its_inner_loops() -> None:
    body = """
        %c0 = arith.constant 0 : i32
        %c2 = arith.constant 2 : i32
        %c9 = arith.constant 9 : i32
        scf.for %i = %c0 to %c9 step %c2  : i32 {
          %a = tt.load %p : !tt.ptr<f32>
          scf.for %j = %i to %n step %c2  : i32 {
            %b = tt.load %p : !tt.ptr<f32>
          }
        }
        scf.for %i = %c9 to %c0 step %c2  : i32 {
        }
        %z = tt.load %p : !tt.ptr<f32>
    """
    summary = summary_of(kernel(body), ".ttir")
    loads = {
        scope: fact_of(summary, "ttir.loads", scope).value for scope in ("", "loop0", "loop0/loop1", "loop2")
    }
    assert loads == {"": {"f32": 3}, "loop0": {"f32": 2}, "loop0/loop1": {"f32": 1}, "loop2": {}}
    assert [(scope.id, scope.trip_count) for scope in summary.scopes] == [
        ("loop0", 5),
        ("loop0/loop1", None),
        ("loop2", 0),
    ]
    assert facts_of(summary)["ttir.loops"] == (
        "scf.for 0..9 step 2, 5 trips, depth 1, 0 carried",
        "scf.for ?..n step 2, depth 2, 0 carried",
        "scf.for 9..0 step 2, 0 trips, depth 1, 0 carried",
    )
    assert summary.scopes[0].first == 6
    assert summary.scopes[0].last == 11


@pytest.mark.parametrize(
    ("lower", "upper", "step"),
    [(lower, upper, step) for lower in (-7, 0, 3) for upper in (-9, 0, 3, 10, 256) for step in (1, 3, 32)],
)
def test_trip_counts_are_those_of_a_range(lower: int, upper: int, step: int) -> None:
    body = f"""
        %a = arith.constant {lower} : i32
        %b = arith.constant {upper} : i32
        %s = arith.constant {step} : i32
        scf.for %i = %a to %b step %s  : i32 {{
        }}
    """
    (scope,) = summary_of(kernel(body), ".ttir").scopes
    assert scope.trip_count == len(range(lower, upper, step))


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("addi", 45), ("subi", 35), ("muli", 200), ("divsi", 8), ("remsi", 0), ("minsi", 5), ("maxsi", 40)],
)
def test_bounds_made_of_constants_are_computed(operation: str, expected: int) -> None:
    body = f"""
        %a = arith.constant 40 : i32
        %b = arith.constant 5 : i32
        %e = arith.constant 0 : i32
        %s = arith.constant 1 : i32
        %u = arith.{operation} %a, %b : i32
        scf.for %i = %e to %u step %s  : i32 {{
        }}
    """
    (scope,) = summary_of(kernel(body), ".ttir").scopes
    assert scope.trip_count == expected


def test_a_bound_that_would_overflow_is_not_guessed() -> None:
    body = """
        %a = arith.constant 2000000000 : i32
        %s = arith.constant 1 : i32
        %u = arith.addi %a, %a : i32
        scf.for %i = %s to %u step %s  : i32 {
        }
    """
    (scope,) = summary_of(kernel(body), ".ttir").scopes
    assert scope.trip_count is None


def test_a_name_used_again_in_another_region_is_another_value() -> None:
    body = """
        %a = arith.constant 0 : i32
        %s = arith.constant 1 : i32
        scf.if %c {
          %u = arith.constant 10 : i32
        }
        scf.if %c {
          %u = arith.addi %n, %n : i32
          scf.for %i = %a to %u step %s  : i32 {
          }
        }
    """
    (scope,) = summary_of(kernel(body), ".ttir").scopes
    assert scope.trip_count is None


def test_arguments_tell_type_and_attributes() -> None:
    summary = summary_of(file_of("3.6.0", "sm_90", "vector_add_kernel", ".ttir").read_bytes(), ".ttir")
    arguments = facts_of(summary)["ttir.arguments"]
    assert isinstance(arguments, dict)
    assert arguments["x_ptr"] == "!tt.ptr<f32>, tt.divisibility = 16"
    assert list(arguments) == ["x_ptr", "y_ptr", "out_ptr", "n"]


def test_shared_memory_of_other_sizes_and_depths_is_told() -> None:
    kind = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory, mutable"
    part = f"!ttg.memdesc<64x32xf16, {kind}>"
    body = f"""
        %z = arith.constant 0 : i32
        %a = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16, {kind}>
        %b = ttg.local_alloc : () -> !ttg.memdesc<64x32xf8E4M3FN, {kind}>
        %v = ttg.memdesc_index %a[%z] : !ttg.memdesc<3x64x32xf16, {kind}> -> {part}
        %t = ttg.async_copy_global_to_local %q, %v : tensor<64x32x!tt.ptr<f16>> -> <64x32xf16, {kind}>
    """
    facts = facts_of(summary_of(kernel(body, head="%q: tensor<64x32x!tt.ptr<f16>>")))
    assert facts["ttgir.shared_alloc_bytes"] == 3 * 64 * 32 * 2 + 64 * 32
    assert facts["ttgir.pipeline_depth"] == {"3": 1}
    assert facts["ttgir.async_copies"] == {"64x32xf16": 1}


def test_a_load_left_in_a_loop_is_counted_there() -> None:
    body = """
        %a = arith.constant 0 : i32
        %s = arith.constant 1 : i32
        %x = tt.load %p : !tt.ptr<f32>
        scf.for %i = %a to %n step %s  : i32 {
          %y = tt.load %p : !tt.ptr<f32>
        }
    """
    summary = summary_of(kernel(body))
    fact = fact_of(summary, "ttgir.sync_loads_in_loop")
    assert fact.value == 1
    assert fact.evidence == {"": (7,)}
    assert fact_of(summary, "ttgir.sync_loads_in_loop", "loop0").value == 1


def test_old_names_are_counted_under_the_newest() -> None:
    before = facts_of(summary_of(file_of("3.1.0", "sm_90", "matmul_kernel", ".ttgir").read_bytes()))
    ops = before["ttgir.ops"]
    assert isinstance(ops, dict)
    assert not [
        name for name in ops if name.partition(".")[0] in ("triton_gpu", "triton_nvidia_gpu", "amdgpu")
    ]
    assert {"ttg.memdesc_index", "ttng.warp_group_dot", "ttng.warp_group_dot_wait"} <= set(ops)
    assert before["ttgir.module"] == {
        "num-ctas": 1,
        "num-warps": 4,
        "target": "cuda:90",
        "threads-per-warp": 32,
    }


@pytest.mark.parametrize("planted", [1, 5])
def test_unknown_operations_are_counted_listed_and_lower_coverage(planted: int) -> None:
    known = "    %x = arith.addi %n, %n : i32\n" * 5
    assert "foo.bar" not in KNOWN
    before = summary_of(kernel(known), ".ttir")
    after = summary_of(kernel(known + "    %y = foo.bar %n : i32\n" * planted), ".ttir")
    assert before.coverage.ratio == 1
    assert after.coverage.total - after.coverage.understood == planted
    assert [text.split()[0] for _, text in after.coverage.unknown] == ["foo.bar"] * planted
    ops = facts_of(after)["ttir.ops"]
    assert isinstance(ops, dict)
    assert ops["foo.bar"] == planted
    assert [issue.code for issue in after.issues if "operation" in issue.code] == ["unknown-operation"]


def test_evidence_points_at_the_lines_of_each_key() -> None:
    data = file_of("3.6.0", "sm_90", "matmul_kernel", ".ttgir", "w4s2").read_bytes()
    lines = data.decode().split("\n")
    fact = fact_of(summary_of(data), "ttgir.ops")
    assert isinstance(fact.value, dict)
    for name, count in fact.value.items():
        places = fact.evidence[name]
        assert len(places) == count
        assert all(name.removeprefix("builtin.") in lines[place - 1] for place in places)


def test_a_location_leads_to_the_line_of_python() -> None:
    path = file_of("3.6.0", "sm_90", "vector_add_kernel", ".ttir")
    found = locations.python_lines(reader.parse(path.read_bytes()))
    assert {place.rpartition("/")[2].partition(":")[0] for place in found.values()} == {"vector_add.py"}
    load = next(at for at, text in enumerate(path.read_text().split("\n"), 1) if "tt.load" in text)
    kernel_text = (path.parents[4] / "kernels" / "vector_add.py").read_text().split("\n")
    assert "tl.load" in kernel_text[int(found[load].rpartition(":")[2]) - 1]


def test_a_file_without_line_information_says_so() -> None:
    issues = summary_of(kernel("%x = arith.addi %n, %n : i32")).issues
    assert [issue.code for issue in issues] == ["no-line-information"]


@pytest.mark.parametrize(
    ("layout", "release", "expected"),
    [
        ("cache", (3, 6), {".source", ".ttir", ".ttgir"}),
        ("cache", (3, 3), {".ttir", ".ttgir"}),
        ("cache", None, {".ttir", ".ttgir"}),
        ("dump", (3, 6), {".ttir", ".ttgir"}),
        ("binary-only", (3, 6), set()),
        ("file", (3, 6), set()),
        ("failed", (3, 6), set()),
    ],
)
def test_stages_are_expected_where_triton_writes_them(
    layout: str, release: tuple[int, int] | None, expected: set[str]
) -> None:
    entry = EntryInfo(layout=layout, backend="cuda", release=release, suffixes=frozenset())
    assert {suffix for suffix, stage in STAGES.items() if stage.expected(entry)} == expected
