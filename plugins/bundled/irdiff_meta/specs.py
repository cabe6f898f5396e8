"""The facts of a stage JSON: their meaning, unit, direction and source."""

from __future__ import annotations

from irdiff.api import FactSpec

_FILE = "Triton's `compiler/compiler.py`, the entry's JSON"

FACTS = (
    FactSpec(
        id="meta.target",
        title="target",
        role="target",
        kind="token",
        group="target",
        place="byte",
        doc=f"Backend and architecture it was compiled for, as GPUTarget spells them. Source: {_FILE}.",
    ),
    FactSpec(
        id="meta.num_warps",
        title="warps per CTA",
        kind="count",
        unit="warps",
        group="launch",
        place="byte",
        doc=f"Warps (wavefronts) of one CTA, those of warp specialization included. Source: `num_warps` in {_FILE}.",
    ),
    FactSpec(
        id="meta.num_ctas",
        title="CTAs per cluster",
        kind="count",
        unit="CTAs",
        group="launch",
        place="byte",
        doc=f"Source: `num_ctas` in {_FILE}.",
    ),
    FactSpec(
        id="meta.num_stages",
        title="pipeline stages asked for",
        kind="count",
        unit="stages",
        group="launch",
        place="byte",
        doc=f"What the software pipeliner was asked for, not what it did. Source: `num_stages` in {_FILE}.",
    ),
    FactSpec(
        id="meta.shared",
        title="dynamic shared memory",
        kind="quantity",
        unit="B",
        better="lower",
        role="shared_bytes",
        group="memory",
        place="byte",
        doc=f"Bytes of dynamic shared memory one CTA is launched with. Source: `shared` in {_FILE}.",
    ),
    FactSpec(
        id="meta.tmem",
        title="tensor memory",
        kind="quantity",
        unit="columns",
        better="lower",
        group="memory",
        place="byte",
        doc=(
            "Columns of tensor memory (128 lanes of 32 bits each) that one CTA allocates; 512 are there. "
            f"Source: `tmem_size` in {_FILE}, from Triton 3.3 on."
        ),
    ),
    FactSpec(
        id="meta.scratch",
        title="scratch memory",
        kind="quantity",
        unit="B",
        better="lower",
        group="memory",
        place="byte",
        doc=(
            "Bytes of global memory one CTA is given for descriptors and profiling. Source: "
            f"`global_scratch_size` + `profile_scratch_size` in {_FILE}, from Triton 3.3 and 3.6 on."
        ),
    ),
    FactSpec(
        id="meta.descriptors",
        title="tensor descriptors",
        kind="sequence",
        group="launch",
        place="byte",
        doc=f"Swizzle, element and block of each TMA descriptor argument. Source: `tensordesc_meta` in {_FILE}.",
    ),
    FactSpec(
        id="meta.options",
        title="options",
        kind="record",
        role="options",
        group="options",
        place="byte",
        doc=(
            "Every option of the backend's option class as it was resolved; lists and tables as compact JSON, "
            f"libraries without their folder. Source: `CUDAOptions`, `HIPOptions` in {_FILE}."
        ),
    ),
    FactSpec(
        id="meta.environment",
        title="environment",
        kind="record",
        role="environment",
        group="options",
        place="byte",
        doc=(
            "Environment variables that are part of the cache key and were set. Source: "
            f"`get_cache_invalidating_env_vars` in {_FILE}, from Triton 2.2 on."
        ),
    ),
    FactSpec(
        id="meta.specialization",
        title="specialization",
        kind="record",
        role="specialization",
        group="options",
        place="byte",
        doc=(
            "What each parameter was compiled for: its type and attributes, or its constexpr value. Recorded in the "
            "`irdiff.json` that `irdiff compile` writes beside an entry, and by Triton before 3.0 (`constants`, by "
            "argument index: constexprs, arguments equal to 1, and None). Plain newer caches do not record it, and "
            "nothing is guessed."
        ),
    ),
    FactSpec(
        id="meta.triton",
        title="Triton release",
        kind="token",
        role="release",
        provenance=True,
        group="provenance",
        place="byte",
        doc=f"Source: `triton_version` in {_FILE}, from Triton 3.2 on.",
    ),
    FactSpec(
        id="meta.llvm",
        title="LLVM version",
        kind="token",
        provenance=True,
        group="provenance",
        place="byte",
        doc="As Triton's library names it. Source: `provenance.llvm` in `irdiff.json`.",
    ),
    FactSpec(
        id="meta.ptxas",
        title="ptxas version",
        kind="token",
        provenance=True,
        group="provenance",
        place="byte",
        doc="Source: `provenance.ptxas` in `irdiff.json`.",
    ),
)
