"""Registers the facts ``kernel.*``."""

from __future__ import annotations

from collections.abc import Iterator

from irdiff.api import DerivedSpec, Fact, FactSpec, FactView, hookimpl
from irdiff_kernel.mma_class import RANKS, mma_class
from irdiff_kernel.occupancy import WARP, next_step, occupancy, sm_of, static_without_reserve
from irdiff_kernel.tensor import tensor_work

irdiff_api_version = 1

_HEADER = "the model of `cuda_occupancy.h`, CUDA 13.5"

FACTS = (
    FactSpec(
        id="kernel.ctas_per_sm",
        title="CTAs per multiprocessor",
        kind="count",
        unit="CTAs",
        better="higher",
        role="occupancy",
        limited_by="kernel.occupancy_limiter",
        comparable_when=("target.arch", "meta.num_warps"),
        group="occupancy",
        doc=(
            "CTAs that fit on one multiprocessor at once, from registers, shared memory, warps, CTA slots and named "
            "barriers; clusters, tensor memory and setmaxnreg are not in the model; 0 where it cannot be launched. "
            f"Source: {_HEADER}."
        ),
    ),
    FactSpec(
        id="kernel.occupancy",
        title="occupancy",
        kind="quantity",
        unit="%",
        better="higher",
        comparable_when=("target.arch",),
        group="occupancy",
        doc=f"Warps that run at once on one multiprocessor, of those it can hold. Source: {_HEADER}.",
    ),
    FactSpec(
        id="kernel.occupancy_limiter",
        title="what limits occupancy",
        kind="token",
        group="occupancy",
        doc=f"Every resource that keeps one more CTA from fitting. Source: {_HEADER}.",
    ),
    FactSpec(
        id="kernel.next_step",
        title="what one more CTA would need",
        kind="record",
        comparable_when=("target.arch",),
        group="occupancy",
        doc=(
            "What a CTA must give up, all of it together, so that one more fits on a multiprocessor: `registers` per "
            "thread, `shared memory` in bytes, `barriers`. Not there where the number of warps or of CTA slots is the "
            f"limit. Source: {_HEADER}."
        ),
    ),
    FactSpec(
        id="kernel.shared_total",
        title="shared memory per CTA",
        kind="quantity",
        unit="B",
        better="lower",
        comparable_when=("target.arch",),
        group="memory",
        doc=(
            "Static and dynamic shared memory of one CTA, without the 1,024 bytes that the driver reserves from "
            "compute capability 8.0 on. Source: `shared` of the entry's JSON and the cubin's `.nv.shared`."
        ),
    ),
    FactSpec(
        id="kernel.shared_limit_share",
        title="share of the shared memory a CTA may have",
        kind="quantity",
        unit="%",
        better="lower",
        role="shared_limit",
        comparable_when=("target.arch",),
        group="memory",
        doc=(
            "kernel.shared_total of the target's opt-in limit; above 100 the kernel cannot be launched. Source: CUDA "
            'Programming Guide, "Technical Specifications per Compute Capability".'
        ),
    ),
    FactSpec(
        id="kernel.mma_class",
        title="class of MMA instructions",
        kind="token",
        better="higher",
        order=RANKS,
        role="mma_class",
        comparable_when=("target.arch",),
        group="tensor work",
        doc=(
            "fma, mma.sync, wgmma or tcgen05, all that occur. Source: opcodes of the PTX, of the SASS where there is "
            "no PTX (PTX ISA 9.7.14 to 9.7.16)."
        ),
    ),
    FactSpec(
        id="kernel.tensor_flops",
        title="tensor work per CTA",
        kind="quantity",
        unit="FLOP",
        role="tensor_flops",
        group="tensor work",
        doc=(
            "2·M·N·K of each dot of the TTIR times the trip counts of its loops; no value where one is not constant. "
            "TTIR is before software pipelining, so peeled iterations change nothing, and neither does the kind of "
            "MMA instruction."
        ),
    ),
    FactSpec(
        id="kernel.tensor_flops_per_iteration",
        title="tensor work per iteration",
        kind="quantity",
        unit="FLOP",
        group="tensor work",
        doc=(
            "2·M·N·K of the dots of one iteration of the TTIR loop that does most of them (where trip counts are not "
            "constant: of the innermost one)."
        ),
    ),
    FactSpec(
        id="kernel.code",
        title="machine code",
        kind="token",
        role="fingerprint",
        group="machine code",
        doc="Fingerprint of everything the GPU executes, sass.fingerprint: equal where the machine code is equal.",
    ),
)


def derive(view: FactView) -> Iterator[Fact]:
    """Facts of one kernel; each is left out where what it needs is not known."""
    yield from _occupancy(view)
    yield from _shared(view)
    used = mma_class(view)
    if used is not None:
        yield Fact(id="kernel.mma_class", value=used)
    work = tensor_work(view)
    if work is not None and work.total is not None:
        yield Fact(id="kernel.tensor_flops", value=work.total)
    if work is not None and work.per_iteration is not None:
        yield Fact(id="kernel.tensor_flops_per_iteration", value=work.per_iteration)
    code = view.value("sass.fingerprint")
    if isinstance(code, str):
        yield Fact(id="kernel.code", value=code)


def _number(view: FactView, fact_id: str) -> int | None:
    value = view.value(fact_id)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _occupancy(view: FactView) -> Iterator[Fact]:
    sm = sm_of(view.arch or "") if view.backend == "cuda" else None
    warps = _number(view, "meta.num_warps")
    registers = _number(view, "sass.registers")
    static = _number(view, "sass.static_shared")
    dynamic = _number(view, "meta.shared")
    barriers = _number(view, "sass.named_barriers")
    if sm is None or not warps or registers is None or static is None or dynamic is None or barriers is None:
        return
    needs = {
        "warps": warps,
        "registers": registers,
        "static": static_without_reserve(sm, static),
        "dynamic": dynamic,
        "barriers": barriers,
    }
    found = occupancy(sm, **needs)
    yield Fact(id="kernel.ctas_per_sm", value=found.ctas)
    yield Fact(id="kernel.occupancy", value=round(100 * found.ctas * warps * WARP / sm.threads, 2))
    yield Fact(id="kernel.occupancy_limiter", value=", ".join(found.limits))
    step = next_step(sm, **needs)
    if step is not None:
        yield Fact(id="kernel.next_step", value={name: step[name] for name in sorted(step)})


def _shared(view: FactView) -> Iterator[Fact]:
    dynamic = _number(view, "meta.shared")
    if dynamic is None:
        return
    if view.backend == "hip":  # LDS of a Triton kernel is all dynamic: group_segment_fixed_size is 0
        yield Fact(id="kernel.shared_total", value=dynamic)
        return
    sm = sm_of(view.arch or "") if view.backend == "cuda" else None
    static = _number(view, "sass.static_shared")
    if sm is None or static is None:
        return
    total = dynamic + static_without_reserve(sm, static)
    yield Fact(id="kernel.shared_total", value=total)
    yield Fact(id="kernel.shared_limit_share", value=round(100 * total / sm.shared_per_cta, 2))


@hookimpl
def irdiff_derived_facts() -> tuple[DerivedSpec, ...]:
    """Facts over several stages."""
    return (DerivedSpec(id="kernel", facts=FACTS, derive=derive),)
