"""What the facts of TTGIR mean."""

from __future__ import annotations

from irdiff.api import FactSpec

_GPU_OPS = "`include/triton/Dialect/TritonGPU/IR/TritonGPUOps.td`"
_NVIDIA_OPS = "`include/triton/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUOps.td`"
_ATTRIBUTES = "`include/triton/Dialect/TritonGPU/IR/TritonGPUAttrDefs.td`"

MODULE = (
    FactSpec(
        id="ttgir.target",
        title="target",
        kind="token",
        role="target",
        group="module",
        doc="The module's `ttg.target`: `cuda:90`, `hip:gfx942`. It names the target of entries without JSON.",
    ),
    FactSpec(
        id="ttgir.module",
        title="module attributes",
        kind="record",
        group="module",
        doc="Attributes of the module, `ttg.` left out: `num-warps`, `threads-per-warp`, `num-ctas`, `target`. "
        "An attribute that a newer release writes with its default (`ttng.two-ctas = false`) is not listed.",
    ),
    FactSpec(
        id="ttgir.warp_specialization",
        title="warp specialization",
        kind="record",
        group="module",
        doc="For each `ttg.warp_specialize`: its partitions, their warps and the registers asked for; empty where "
        f"the kernel has none. {_GPU_OPS} (Triton 3.6).",
    ),
)
"""Facts of the module as a whole."""

GPU = (
    FactSpec(
        id="ttgir.layouts",
        title="layouts",
        kind="tally",
        unit="values",
        group="layouts",
        doc="Results of operations (tensors and memory descriptors) by layout, aliases resolved and names folded to "
        f"the newest release's. {_ATTRIBUTES} (Triton 3.6).",
    ),
    FactSpec(
        id="ttgir.layout_by_use",
        title="layouts by use",
        kind="tally",
        unit="operands",
        group="layouts",
        doc="Layout of what is loaded, stored, updated atomically, copied asynchronously, multiplied (A, B, result), "
        "reduced, scanned, and moved from or to shared and tensor memory: the use, then the layout. What the layouts "
        "do is in `ttgir.vector_bytes`, `ttgir.warp_bytes`, `ttgir.reduce_reach` and `ttgir.bank_conflicts`.",
    ),
    FactSpec(
        id="ttgir.convert_layouts",
        title="layout conversions",
        kind="tally",
        unit="operations",
        better="lower",
        role="layout_conversions",
        group="layouts",
        doc=f"`ttg.convert_layout` by shape, element type, source and destination layout. {_GPU_OPS} (Triton 3.6).",
    ),
    FactSpec(
        id="ttgir.shared_allocs",
        title="shared-memory buffers",
        kind="tally",
        unit="buffers",
        role="shared_buffers",
        group="shared memory",
        doc=f"`ttg.local_alloc` by shape, element type and layout. {_GPU_OPS} (Triton 3.6).",
    ),
    FactSpec(
        id="ttgir.shared_alloc_bytes",
        title="bytes of shared-memory buffers",
        kind="quantity",
        unit="B",
        better="lower",
        group="shared memory",
        doc="Sum of the sizes of all `ttg.local_alloc`, as shape times element: before buffers share memory, and "
        "without the padding of a layout or scratch space of conversions. What the kernel gets is `meta.shared`.",
    ),
    FactSpec(
        id="ttgir.async_copies",
        title="asynchronous copies",
        kind="tally",
        unit="operations",
        group="pipelining",
        doc="Copies from global to shared memory that do not wait (`ttg.async_copy_global_to_local`, "
        "`amdg.buffer_load_to_local`): shape, element type, mask, `other`, and the other attributes; for TMA see "
        f"`ttgir.tma`. {_GPU_OPS} (Triton 3.6).",
    ),
    FactSpec(
        id="ttgir.sync_loads_in_loop",
        title="loads in loops that wait",
        kind="count",
        unit="operations",
        better="lower",
        role="unpipelined_loads",
        group="pipelining",
        doc="Loads (`tt.load`, `tt.descriptor_load`, `amdg.buffer_load`) in a loop: the pipeliner did not make "
        "them asynchronous. Loads of scalars count too.",
    ),
    FactSpec(
        id="ttgir.pipeline_depth",
        title="buffers per asynchronous copy",
        kind="tally",
        unit="operations",
        better="higher",
        measure="key",
        role="pipeline_depth",
        group="pipelining",
        doc="Number of buffers of the shared allocation that an asynchronous or TMA copy writes to, to the number of "
        "such copies; `?` where the destination cannot be traced to its allocation.",
    ),
    FactSpec(
        id="ttgir.async_waits",
        title="waits for asynchronous work",
        kind="tally",
        unit="operations",
        role="async_waits",
        group="pipelining",
        doc="`num = N` of `ttg.async_wait`: N copies may still be under way. `pendings = N` of "
        "`ttng.warp_group_dot_wait` and `ttng.async_tma_store_wait` with their names. A smaller N is stricter.",
    ),
    FactSpec(
        id="ttgir.mma",
        title="matrix operations",
        kind="tally",
        unit="operations",
        role="mma_operands",
        group="matrix units",
        doc="Operation, the unit's layout with version, instruction shape and warps, element types of A, B and the "
        f"result, where A and B come from. {_ATTRIBUTES} and {_NVIDIA_OPS} (Triton 3.6).",
    ),
    FactSpec(
        id="ttgir.mma_types",
        title="types of matrix operands and results",
        kind="tally",
        unit="operations",
        role="mma_types",
        group="matrix units",
        doc="Element types of A, B and the result of what is multiplied, and the precision where one is asked for: "
        f"`f16 * f16 -> f32`, `f32 * f32 -> f32, tf32`. {_GPU_OPS} (Triton 3.6).",
    ),
    FactSpec(
        id="ttgir.tma",
        title="tensor memory accelerator operations",
        kind="tally",
        unit="operations",
        group="matrix units",
        doc=f"`ttng.async_tma_*` and `ttng.tensormap_create` by block. {_NVIDIA_OPS} (Triton 3.6).",
    ),
    FactSpec(
        id="ttgir.tmem_allocs",
        title="tensor-memory buffers",
        kind="tally",
        unit="buffers",
        group="matrix units",
        doc=f"`ttng.tmem_alloc` by shape, element type and layout (cc 10). {_NVIDIA_OPS} (Triton 3.6).",
    ),
)
"""Facts of what the GPU dialect adds."""

TALLY_IDS = tuple(spec.id for spec in GPU if spec.kind == "tally")
"""The tallies that :mod:`irdiff_ttgir.gpu` fills."""
