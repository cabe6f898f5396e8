"""Semantic edits of TTGIR: those of all Triton MLIR, and of its layouts, copies and waits."""

from __future__ import annotations

from mutation.drawing import Kind, changed_number, halved, in_text, inserted, other
from mutation.mlir_kinds import SHARED, layouts, module, named, whole

KINDS = (
    *SHARED,
    Kind(
        name="sizePerThread",
        facts=("layouts",),
        edit=in_text(layouts, r"(?<=sizePerThread = \[)\d+", changed_number),
    ),
    Kind(
        name="threadsPerWarp",
        facts=("layouts",),
        edit=in_text(layouts, r"(?<=threadsPerWarp = \[)\d+", changed_number),
    ),
    Kind(
        name="warpsPerCTA",
        facts=("layouts",),
        edit=in_text(layouts, r"(?<=warpsPerCTA = \[)\d+", changed_number),
    ),
    Kind(
        name="order",
        facts=("layouts", "shared_allocs"),
        edit=in_text(layouts, r"(?<=order = \[)[01], [01]", other("0, 1", "1, 0")),
    ),
    Kind(
        name="MMA version",
        facts=("mma", "layouts"),
        edit=in_text(layouts, r"(?<=versionMajor = )\d", other("2", "3")),
    ),
    Kind(
        name="MMA shape",
        facts=("mma", "layouts"),
        edit=in_text(layouts, r"(?<=instrShape = \[16, )\d+", changed_number),
    ),
    Kind(
        name="width of dot operands",
        facts=("layouts",),
        edit=in_text(named("ttg.local_load", "ttg.convert_layout"), r"(?<=kWidth = )\d", other("1", "4")),
    ),
    Kind(
        name="swizzling of shared memory",
        facts=("shared_allocs", "layouts"),
        edit=in_text(layouts, r"(?<=maxPhase = )\d|(?<=swizzlingByteWidth = )\d+", changed_number),
    ),
    Kind(
        name="shape in shared memory",
        facts=("shared_allocs",),
        edit=in_text(named("ttg.local_alloc"), r"(?<=memdesc<)\d+", changed_number),
    ),
    Kind(
        name="number of warps",
        facts=("module",),
        edit=in_text(module, r"(?<=num-warps\" = )\d+", other("2", "8", "4")),
    ),
    Kind(
        name="number of CTAs",
        facts=("module",),
        edit=in_text(module, r"(?<=num-ctas\" = )\d+", other("2", "4")),
    ),
    Kind(name="target", facts=("target",), edit=in_text(module, r"(?<=cuda:)\d+", other("80", "90", "100"))),
    Kind(
        name="wait count",
        facts=("async_waits", "mma"),
        edit=in_text(named("ttg.async_wait"), r"(?<=num = )\d+", changed_number),
    ),
    Kind(
        name="mask of an async copy dropped",
        facts=("async_copies",),
        edit=in_text(named("ttg.async_copy_global_to_local"), r" mask %\w+(?: other %\w+)?", ""),
    ),
    Kind(
        name="bytes of an async copy",
        facts=("async_copies",),
        edit=in_text(named("ttg.async_copy_global_to_local"), r"(?<=contiguity = )\d+", other("1", "2", "4")),
    ),
    Kind(
        name="bytes of a TMA copy",
        facts=(),
        edit=in_text(named("ttng.barrier_expect"), r"(?<=, )\d+(?=, %)", changed_number),
    ),
    Kind(name="barrier added", facts=("ops",), edit=inserted(whole, "    gpu.barrier")),
    Kind(
        name="layout conversion gone",
        facts=("convert_layouts",),
        edit=halved(named("ttg.convert_layout"), r""),
    ),
)
