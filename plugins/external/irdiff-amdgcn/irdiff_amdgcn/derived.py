"""Facts over several stages: occupancy with its limiter, the class of matrix instructions, tensor work."""

from __future__ import annotations

from collections.abc import Iterator

from irdiff.api import DerivedSpec, Fact, FactSpec, FactView, Value

from irdiff_amdgcn.occupancy import GPUS, occupancy

RANKS = ("fma", "wmma", "mfma")
"""From the least to the most; WMMA is RDNA's, MFMA CDNA's."""
_DOTS = ("ttir.dots", "ttgir.dots")
_MODEL = "the model of LLVM's AMDGPU backend (AMDGPUBaseInfo), with dynamic LDS added"

FACTS = (
    FactSpec(
        id="amdgcn.occupancy",
        title="waves per SIMD",
        kind="quantity",
        unit="waves/SIMD",
        better="higher",
        role="occupancy",
        limited_by="amdgcn.occupancy_limiter",
        comparable_when=("target.arch", "meta.num_warps"),
        group="occupancy",
        doc=(
            "Waves that run at once on one SIMD, whole workgroups only, from vector and scalar "
            "registers, LDS (static and "
            "`meta.shared`), wave and workgroup slots; 0 where the LDS of one workgroup is more than there is. "
            f"Source: {_MODEL}."
        ),
    ),
    FactSpec(
        id="amdgcn.occupancy_limiter",
        title="what limits occupancy",
        kind="token",
        group="occupancy",
        doc=f"Every resource that keeps one more workgroup from fitting. Source: {_MODEL}.",
    ),
    FactSpec(
        id="amdgcn.groups_per_cu",
        title="workgroups per compute unit",
        kind="count",
        unit="workgroups",
        comparable_when=("target.arch", "meta.num_warps"),
        group="occupancy",
        doc=f"On RDNA in workgroup processor mode, of a pair of compute units. Source: {_MODEL}.",
    ),
    FactSpec(
        id="amdgcn.lds_share",
        title="share of the LDS a workgroup may have",
        kind="quantity",
        unit="%",
        better="lower",
        role="shared_limit",
        comparable_when=("target.arch",),
        group="memory",
        doc="Static LDS and `meta.shared` of the LDS that one workgroup can address; above 100 the kernel cannot be "
        "launched. Source: LLVM, AMDGPU.td, FeatureAddressableLocalMemorySize.",
    ),
    FactSpec(
        id="amdgcn.mma_class",
        title="class of matrix instructions",
        kind="token",
        better="higher",
        order=RANKS,
        role="mma_class",
        comparable_when=("target.arch",),
        group="tensor work",
        doc="`mfma` (SMFMAC too) on CDNA, `wmma` (SWMMAC too) on RDNA; `fma` where the tile program has dots and the "
        "assembly no matrix instruction.",
    ),
    FactSpec(
        id="amdgcn.tensor_flops",
        title="tensor work of the machine code per workgroup",
        kind="quantity",
        unit="FLOP",
        group="tensor work",
        doc="`amdgcn.wave_flops` times the waves of a workgroup. Where waves repeat work it is more than "
        "`kernel.tensor_flops`, which is that of the tile program.",
    ),
    FactSpec(
        id="amdgcn.tensor_flops_per_iteration",
        title="tensor work of the machine code per iteration",
        kind="quantity",
        unit="FLOP",
        group="tensor work",
        doc="`amdgcn.wave_flops` of the loop that does most in one pass, times the waves of a workgroup.",
    ),
)


def derive(view: FactView) -> Iterator[Fact]:
    """Facts of one kernel; each is left out where what it needs is not known."""
    if view.backend != "hip":
        return
    yield from _occupancy(view)
    yield from _lds(view)
    tally = view.value("amdgcn.mma")
    if isinstance(tally, dict):
        used = {"mfma" if "mfma" in key or "smfmac" in key else "wmma" for key in tally}
        if used:
            yield Fact(id="amdgcn.mma_class", value=" + ".join(name for name in RANKS if name in used))
        elif any(view.value(dots) for dots in _DOTS):
            yield Fact(id="amdgcn.mma_class", value="fma")
        yield from _tensor_work(view)


def _either(view: FactView, name: str) -> Value | None:
    """Of the assembly, or of the code object where there is no assembly."""
    value = view.value(f"amdgcn.{name}")
    return view.value(f"hsaco.{name}") if value is None else value


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _lds_bytes(view: FactView) -> int | None:
    static, dynamic = _number(_either(view, "static_lds")), _number(view.value("meta.shared"))
    return None if static is None or dynamic is None else static + dynamic


def _waves(view: FactView) -> int | None:
    """Of one workgroup."""
    launch = _either(view, "launch")
    if not isinstance(launch, dict):
        return None
    lanes, wave = _number(launch.get("workgroup size")), _number(launch.get("wavefront size"))
    return -(-lanes // wave) if lanes and wave else None


def _occupancy(view: FactView) -> Iterator[Fact]:
    gpu = GPUS.get(view.arch or "")
    launch = _either(view, "launch")
    waves, lds = _waves(view), _lds_bytes(view)
    registers, scalars = _number(_either(view, "registers")), _number(_either(view, "sgprs"))
    if gpu is None or not isinstance(launch, dict) or waves is None or lds is None:
        return
    if registers is None or scalars is None or launch.get("wavefront size") != gpu.wave:
        return
    pair = launch.get("workgroup processor mode", 1) == 1
    found = occupancy(gpu, waves=waves, registers=registers, scalars=scalars, lds=lds, pair=pair)
    yield Fact(id="amdgcn.occupancy", value=found.waves)
    yield Fact(id="amdgcn.occupancy_limiter", value=", ".join(found.limits))
    yield Fact(id="amdgcn.groups_per_cu", value=found.groups)


def _lds(view: FactView) -> Iterator[Fact]:
    gpu, lds = GPUS.get(view.arch or ""), _lds_bytes(view)
    if gpu is not None and lds is not None:
        yield Fact(id="amdgcn.lds_share", value=round(100 * lds / gpu.lds, 2))


def _tensor_work(view: FactView) -> Iterator[Fact]:
    waves, total = _waves(view), _number(view.value("amdgcn.wave_flops"))
    if waves is None:
        return
    if total:
        yield Fact(id="amdgcn.tensor_flops", value=total * waves)
    hottest = max(
        (_number(view.value("amdgcn.wave_flops", scope)) or 0 for scope in view.scopes("amdgcn")), default=0
    )
    if hottest:
        yield Fact(id="amdgcn.tensor_flops_per_iteration", value=hottest * waves)


DERIVED = DerivedSpec(id="amdgcn", facts=FACTS, derive=derive)
