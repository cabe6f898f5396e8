"""What the facts about the effect of layouts mean."""

from __future__ import annotations

from irdiff.api import FactSpec

_LINEAR = "From the layout as a linear map over bits (`LinearLayoutConversions.cpp`, Triton 3.6)"

LAYOUTS = (
    FactSpec(
        id="ttgir.vector_bytes",
        title="contiguous bytes per thread and access",
        kind="tally",
        unit="operations",
        better="higher",
        measure="key",
        group="layouts",
        doc="Loads, stores and asynchronous copies of tensors (TMA and atomics are not counted), by the bytes that "
        "follow each other in one thread along the dimension that its registers walk first; at most 16, the widest "
        f"access of one thread. {_LINEAR}. It is what the layout allows: instructions are narrower where pointers "
        "are not known to be contiguous or aligned (a stride that is no multiple of 16, an argument without "
        "`tt.divisibility`), where a mask changes inside the vector, and where an asynchronous copy falls back to "
        "4 or 8 bytes; what was emitted is in `ptx.global_loads`, `ptx.global_stores` and `ptx.async_copies`. `?` "
        "where the layout is not understood.",
    ),
    FactSpec(
        id="ttgir.warp_bytes",
        title="contiguous bytes per warp and access",
        kind="tally",
        unit="operations",
        better="higher",
        measure="key",
        group="layouts",
        doc="The same operations, by the bytes that the lanes of a warp touch side by side when each makes one access "
        "of `ttgir.vector_bytes`: how well accesses coalesce. Along one dimension: whether the next row follows in "
        f"memory is the pointers' to say. {_LINEAR}.",
    ),
    FactSpec(
        id="ttgir.reduce_reach",
        title="reach of reductions",
        kind="tally",
        unit="operations",
        role="reduce_reach",
        group="layouts",
        doc="`tt.reduce` by what it has to cross: `across lanes` (shuffles), `across warps` (shared memory and a "
        "barrier), `across blocks`, or `inside a thread`. One that crosses lanes and warps counts under both. "
        f"{_LINEAR}: which index moves along the reduced axis.",
    ),
    FactSpec(
        id="ttgir.conversion_reach",
        title="reach of layout conversions",
        kind="tally",
        unit="operations",
        role="conversion_reach",
        group="layouts",
        doc="`ttg.convert_layout` by how far data moves at most: `nothing moves` (both layouts do the same, whatever "
        "they are called), `inside a thread`, `across lanes`, `across warps` (through shared memory) or `across "
        f"blocks`. {_LINEAR}.",
    ),
    FactSpec(
        id="ttgir.bank_conflicts",
        title="ways of bank conflicts",
        kind="tally",
        unit="operations",
        better="lower",
        measure="key",
        exactness="estimate",
        group="shared memory",
        doc="`ttg.local_load`, `ttg.local_store` and `ttg.local_alloc` with a first value, by the turns that shared "
        "memory (32 banks of 4 bytes) needs for each wavefront of an access; 1 is free of conflicts. From the layouts "
        "of registers and buffer, with the widest vector that both allow; operands of 16-bit `mma.sync` as `ldmatrix` "
        "reads them. An estimate: which instruction is chosen is not recorded, and LDS of AMD is taken to serve 128 "
        "bytes at once as well.",
    ),
    FactSpec(
        id="ttgir.unknown_layouts",
        title="layouts that are not understood",
        kind="tally",
        unit="values",
        group="layouts",
        doc="Results of operations whose layout is kept as text alone, by the layout's name: it is not known, or has "
        "parameters that are not. The facts above say `?` where they need one of these.",
    ),
)
"""Facts of :mod:`irdiff_ttgir.layouts`."""

TALLY_IDS = tuple(spec.id for spec in LAYOUTS)
