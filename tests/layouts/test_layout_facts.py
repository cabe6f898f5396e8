"""What TTGIR's facts say that layouts do, held against the PTX and the shared memory that the kernels got."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

import corpus
from irdiff.model.facts import Value
from irdiff_layouts import access
from irdiff_mlir import types
from irdiff_ptx.plugin import irdiff_stages as ptx_stages
from irdiff_ttgir import layouts, uses
from layouts.asking import layout_of, resolved
from mlir.mlir_samples import artifact, context, fact_of, facts_of, file_of, kernel, summary_of

(PTX,) = ptx_stages()

NARROWER = {
    # The mask `columns < n` may end inside a vector: n is a number of no known divisibility.
    "softmax_kernel": {"load", "store"},
    # The pair `divisibility`: after the change the stride is not known to be a multiple of 16, so that only the
    # contiguous store keeps its width.
    "strided_copy_kernel": {"load"},
}
"""Fixture kernels some of whose accesses are narrower than their layout allows, and which."""

NARROWER_H200 = {
    # Per-channel values: the index is `x // size` or `x % channels`, the same or not in order inside a vector.
    "triton_poi_fused__native_batch_norm_legit_functional_relu_3",
    "triton_poi_fused_convolution_0",
    "triton_poi_fused_add_clone_permute_select_backward_transpose_view_8",
    # Windows of a pooling: each element has a mask and an address of its own.
    "triton_poi_fused_max_pool2d_with_indices_4",
    "triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_native_batch_norm_backward_threshold_backward_4",
    "triton_poi_fused_max_pool2d_with_indices_max_pool2d_with_indices_backward_native_batch_norm_backward_threshold_backward_7",
    # One value for each row of a reduction.
    "triton_per_fused_add_native_layer_norm_native_layer_norm_backward_view_5",
    "triton_per_fused_add_native_layer_norm_native_layer_norm_backward_view_13",
    "triton_per_fused_native_batch_norm_backward_6",
}
"""Inductor's kernels some of whose loads or stores are narrower than their layout allows."""

REUSED = {
    # The tile that is stored takes the place of those that were loaded.
    "triton-3.6.0 sm_90 tma_matmul_kernel",
    "triton-3.6.0 sm_90 tma_device_matmul_kernel",
    "triton-3.6.0 sm_100 tma_matmul_kernel",
    "triton-3.9.0 sm_90 tma_matmul_kernel",
    "triton-3.9.0 sm_100 tma_matmul_kernel",
    # Without pipelining A is read before B is written.
    "triton-3.1.0 gfx942 matmul_kernel",
}
"""Fixture kernels whose buffers are not all alive at once."""

SCRATCH = ("tt.atomic_rmw", "tt.atomic_cas", "tt.scan", "tt.histogram", "ttng.tensormap_create")
"""Operations that pass a value on through shared memory."""


def _ptx_of(path: Path) -> dict[str, Value]:
    (ptx,) = path.parent.glob("*.ptx")
    return facts_of(PTX.summarize(artifact(ptx.read_bytes()), context()))


def _allowed(path: Path) -> dict[str, set[int]]:
    """Bytes per thread that the layouts give loads, stores and copies; scalars with the size of their element."""
    program = resolved(path)
    found: dict[str, set[int]] = defaultdict(set)
    for operation in program.module.operations:
        for use, text in uses.of(program, operation):
            if use not in ("load", "store", "async copy") or operation.name.startswith("tt.descriptor"):
                continue
            if not types.layout(text):
                bits = types.element_bits(types.pointee(text) or text)
                assert bits is not None, text
                found[use].add(access.bytes_each(bits))
                continue
            layout, element = layouts.linear(text), types.shaped(text)
            assert layout is not None, text
            assert element is not None, text
            bits = types.element_bits(types.pointee(element.element) or element.element)
            assert bits is not None, text
            found[use].add(access.thread_bytes(layout, bits))
    return found


def _emitted(facts: dict[str, Value]) -> dict[str, set[int]]:
    loads, stores, copies = (
        facts[f"ptx.{name}"] for name in ("global_loads", "global_stores", "async_copies")
    )
    assert isinstance(loads, dict)
    assert isinstance(stores, dict)
    assert isinstance(copies, dict)
    return {
        "load": {int(key) for key in loads},
        "store": {int(key) for key in stores},
        "async copy": {
            int(key.split()[1]) for key in copies if key.startswith(("cp.async.ca ", "cp.async.cg "))
        },
    }


def _ttgirs(root: Path) -> list[Path]:
    return [path for path in sorted(root.rglob("*.ttgir")) if list(path.parent.glob("*.ptx"))]


def test_bytes_per_thread_are_the_widths_of_the_ptx_accesses() -> None:
    paths = [path for root in (corpus.BUNDLES, corpus.PAIRS) for path in _ttgirs(root)]
    assert len(paths) > 40
    narrower: dict[str, set[str]] = defaultdict(set)
    widths: set[int] = set()
    for path in paths:
        allowed, emitted = _allowed(path), _emitted(_ptx_of(path))
        for use, found in emitted.items():
            widths |= found
            if found == allowed[use]:
                continue
            narrower[path.stem].add(use)
            assert max(found, default=0) <= max(allowed[use], default=0), (path, use)
    assert narrower == NARROWER
    assert widths >= {4, 8, 16}


@pytest.mark.data
def test_bytes_per_thread_are_the_widths_of_the_ptx_accesses_of_the_h200_kernels(h200: Path) -> None:
    narrower: set[str] = set()
    agree = 0
    for path in _ttgirs(h200):
        allowed, emitted = _allowed(path), _emitted(_ptx_of(path))
        for use, found in emitted.items():
            if found != allowed[use]:
                narrower.add(path.stem)
                assert max(found, default=0) <= max(allowed[use], default=0), (path, use)
            else:
                agree += 1
    assert narrower == NARROWER_H200
    assert agree > 400


def _shared(path: Path) -> int | None:
    record = path.with_suffix(".json")
    found = json.loads(record.read_text()).get("shared") if record.exists() else None
    return found if isinstance(found, int) else None


def _scratch(facts: dict[str, Value]) -> bool:
    """Whether something passes values through shared memory beside the allocations."""
    names = ("ttgir.reduce_reach", "ttgir.conversion_reach", "ttgir.ops")
    reduced, converted, counted = (facts[name] for name in names)
    assert isinstance(reduced, dict)
    assert isinstance(converted, dict)
    assert isinstance(counted, dict)
    return "across warps" in {**reduced, **converted} or any(name in counted for name in SCRATCH)


def test_shared_buffers_are_the_shared_memory_of_the_kernel_where_nothing_else_needs_it() -> None:
    agree: set[str] = set()
    reused: set[str] = set()
    for path in sorted(corpus.BUNDLES.rglob("*.ttgir")):
        facts, shared = facts_of(summary_of(path.read_bytes())), _shared(path)
        if shared is None:
            continue
        release, target = path.relative_to(corpus.BUNDLES).parts[:2]
        allocated = facts["ttgir.shared_alloc_bytes"]
        assert isinstance(allocated, int)
        if allocated == shared:  # scratch, if any, found room in buffers that are done with
            agree.add(f"{release} {target} {path.stem}")
        elif allocated < shared:
            assert _scratch(facts), path
        else:
            reused.add(f"{release} {target} {path.stem}")
    assert len(agree) >= 25
    assert any("matmul" in name for name in agree)
    assert reused == REUSED


@pytest.mark.data
def test_a_kernel_without_buffers_has_shared_memory_exactly_where_something_crosses_warps(h200: Path) -> None:
    with_it = without = 0
    for path in _ttgirs(h200):
        facts, shared = facts_of(summary_of(path.read_bytes())), _shared(path)
        assert shared is not None
        allocated = facts["ttgir.shared_alloc_bytes"]
        if allocated == 0:
            assert (shared > 0) == _scratch(facts), path
            with_it += shared > 0
            without += shared == 0
        elif not _scratch(facts):
            assert allocated == shared, path
    assert with_it > 30
    assert without > 30


def _reduction(layout: str) -> str:
    return f"#l = {layout}\n" + kernel(
        """
        %0 = arith.constant dense<1.0> : tensor<32x128xf32, #l>
        %1 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
        ^bb0(%x: f32, %y: f32):
          %2 = arith.maxnumf %x, %y : f32
          tt.reduce.return %2 : f32
        }) : (tensor<32x128xf32, #l>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #l}>>
        """
    )


BEFORE = (
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>"
)
AFTER = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>"
)


def test_the_reduction_of_a_descriptor_load_crosses_lanes_and_warps_from_36_on() -> None:
    """The case `descriptor-load-reduce`: 32x128, axis 0; the layout that 3.5.1 gives the load, then 3.6.0's."""
    before, after = (facts_of(summary_of(_reduction(layout))) for layout in (BEFORE, AFTER))
    assert before["ttgir.reduce_reach"] == {"inside a thread": 1}
    assert after["ttgir.reduce_reach"] == {"across lanes": 1, "across warps": 1}


def _moved(before: str, after: str) -> Value:
    text = f"#a = {before}\n#b = {after}\n" + kernel(
        """
        %0 = arith.constant dense<1.0> : tensor<32x128xf32, #a>
        %1 = ttg.convert_layout %0 : tensor<32x128xf32, #a> -> tensor<32x128xf32, #b>
        """
    )
    return facts_of(summary_of(text))["ttgir.conversion_reach"]


def test_a_conversion_to_a_linear_layout_that_does_the_same_moves_nothing() -> None:
    layout = layout_of(AFTER, [32, 128])
    bases = ", ".join(
        f"{name} = {[list(basis) for basis in layout.bases(name)]}"
        for name in ("register", "lane", "warp", "block")
    )
    assert _moved(AFTER, f"#ttg.linear<{{{bases}}}>") == {"nothing moves": 1}
    assert _moved(AFTER, BEFORE) == {"across warps": 1}
    assert _moved(AFTER, AFTER.replace("[1, 8]", "[1, 4]")) == {"across lanes": 1}
    assert _moved(AFTER, "#ttg.mystery<{order = [1, 0]}>") == {"?": 1}


def test_an_unknown_layout_is_counted_and_named() -> None:
    text = "#m = #ttg.mystery<{order = [0]}>\n" + kernel(
        """
        %0 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #m>
        %1 = tt.load %0 : tensor<128x!tt.ptr<f32>, #m>
        tt.store %0, %1 : tensor<128x!tt.ptr<f32>, #m>
        """
    )
    summary = summary_of(text)
    facts = facts_of(summary)
    assert facts["ttgir.unknown_layouts"] == {"#ttg.mystery": 2}
    assert facts["ttgir.vector_bytes"] == {"?": 2}
    assert facts["ttgir.warp_bytes"] == {"?": 2}
    assert facts["ttgir.layouts"] == {"#ttg.mystery<{order = [0]}>": 2}
    (note,) = (issue for issue in summary.issues if issue.code == "unknown-layout")
    assert "#ttg.mystery" in note.message


def test_layouts_of_the_matmul_do_what_is_known_of_it() -> None:
    """`facts.md`: 16-byte copies of 64x32 tiles of f16, a row of 64 bytes at a time; swizzles free of conflicts."""
    summary = summary_of(file_of("3.6.0", "sm_121", "matmul_kernel", ".ttgir").read_bytes())
    facts = facts_of(summary)
    assert facts["ttgir.vector_bytes"] == {"16": 5}
    assert facts["ttgir.warp_bytes"] == {"64": 2, "128": 3}
    assert facts["ttgir.bank_conflicts"] == {"1": 2}
    assert facts["ttgir.conversion_reach"] == {"across warps": 1}
    assert facts["ttgir.unknown_layouts"] == {}
    looped = fact_of(summary, "ttgir.vector_bytes", "loop0")
    assert looped.value == {"16": 2}
    assert len(looped.evidence["16"]) == 2


@pytest.mark.parametrize("release", ["3.1.0", "3.3.1", "3.9.0"])
def test_parts_of_a_buffer_are_read_without_conflicts_in_every_release(release: str) -> None:
    """Views of 64x16 in a buffer of 64x32: 3.1.0 does not record the buffer's shape on the view's type."""
    facts = facts_of(summary_of(file_of(release, "sm_80", "matmul_kernel", ".ttgir").read_bytes()))
    conflicts = facts["ttgir.bank_conflicts"]
    assert isinstance(conflicts, dict)
    assert set(conflicts) == {"1"}


def test_a_part_of_an_unswizzled_buffer_conflicts_as_the_buffer_does() -> None:
    """Rows of 16 f16 are 32 bytes apart in a buffer of their own (2 rows share a bank), 64 bytes in a wider one (4)."""
    text = "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
    text += "#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>\n"
    operand = "tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #m, kWidth = 2}>>"
    part = "!ttg.memdesc<64x16xf16, #s, #ttg.shared_memory, mutable"
    text += kernel(
        f"""
        %0 = ttg.local_alloc : () -> {part}>
        %1 = ttg.local_load %0 : {part}> -> {operand}
        %2 = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #s, #ttg.shared_memory, mutable>
        %3 = ttg.memdesc_subslice %2[0, 16] : !ttg.memdesc<64x32xf16, #s, #ttg.shared_memory, mutable> -> {part}, 64x32>
        %4 = ttg.local_load %3 : {part}, 64x32> -> {operand}
        """
    )
    assert facts_of(summary_of(text))["ttgir.bank_conflicts"] == {"2": 1, "4": 1}


def test_every_layout_of_the_corpus_is_understood() -> None:
    unknown = {
        path.stem: value
        for path in corpus.artifacts(".ttgir")
        if (value := facts_of(summary_of(path.read_bytes()))["ttgir.unknown_layouts"])
    }
    assert unknown == {}


def test_the_committed_case_descriptor_load_reduce_moves_the_reach_of_its_reduction() -> None:
    folder = corpus.FIXTURES / "cases" / "descriptor-load-reduce"
    reach = [
        facts_of(summary_of(next((folder / side).rglob("*.ttgir")).read_bytes()))
        for side in ("before", "after")
    ]
    assert reach[0]["ttgir.reduce_reach"] == {"inside a thread": 1}
    assert reach[1]["ttgir.reduce_reach"] == {"across lanes": 1, "across warps": 1}
    assert reach[0]["ttgir.unknown_layouts"] == reach[1]["ttgir.unknown_layouts"] == {}
