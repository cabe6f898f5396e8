"""The facts of the stage ``amdgcn``: their meaning, unit, direction and source."""

from __future__ import annotations

from irdiff.api import FactSpec

ARCH = ("target.arch",)
GUIDE = "LLVM's AMDGPU usage guide"
SCOPES = " A loop counts what its inner loops hold too."
_METADATA = f"the code object's metadata ({GUIDE}, code object metadata)"
_WIDTH = (
    "Keys are bytes that one lane moves in one access, from the opcode, however it is spelled "
    "(`dwordx4` and `b128` are "
    "both 16; an access of two places counts both)."
)
_UNITS = (
    "Counted in 32-bit registers, not bytes: one for each register that an inserted instruction stores, once for each "
    "such instruction in the code (LLVM, SIRegisterInfo, SI_SPILL_*_SAVE)."
)


def resource(
    name: str,
    title: str,
    unit: str,
    doc: str,
    *,
    kind: str = "quantity",
    better: bool = True,
    role: str | None = None,
    comparable_when: tuple[str, ...] = (),
    repeats: str | None = None,
) -> FactSpec:
    """A number of the whole kernel; lower is better unless ``better`` is False."""
    return FactSpec(
        id=f"amdgcn.{name}",
        title=title,
        kind=kind,
        unit=unit,
        better="lower" if better else "neutral",
        role=role,
        comparable_when=comparable_when,
        repeats=repeats,
        exactness="exact" if repeats is None else "estimate",
        group="resources",
        doc=doc,
    )


def _tally(
    name: str,
    title: str,
    doc: str,
    *,
    unit: str = "instructions",
    role: str | None = None,
    group: str,
    by_key: bool = False,
    fewer: bool = False,
    comparable_when: tuple[str, ...] = (),
) -> FactSpec:
    return FactSpec(
        id=f"amdgcn.{name}",
        title=title,
        kind="tally",
        unit=unit,
        better="higher" if by_key else "lower" if fewer else "neutral",
        measure="key" if by_key else "total",
        key_unit="B" if by_key else "",
        role=role,
        group=group,
        comparable_when=comparable_when,
        doc=doc + SCOPES,
    )


RESOURCES = (
    resource(
        "registers",
        "vector registers per lane",
        "registers",
        f"`.vgpr_count` of {_METADATA}: on CDNA the sum of VGPRs and AGPRs, which share one file of "
        "512, with the VGPRs "
        "rounded up to 4 where there are AGPRs; the largest where a file holds several kernels.",
        role="registers",
    ),
    resource(
        "vgprs",
        "architectural vector registers per lane",
        "registers",
        "`NumVgprs` of LLVM's comments behind the kernel: VGPRs without AGPRs.",
        better=False,
        comparable_when=ARCH,
    ),
    resource(
        "agprs",
        "accumulator registers per lane",
        "registers",
        f"`.agpr_count` of {_METADATA}; CDNA alone has them. They hold accumulators, and values for which no VGPR is "
        "left.",
        better=False,
        comparable_when=ARCH,
    ),
    resource(
        "sgprs",
        "scalar registers per wave",
        "registers",
        f"`.sgpr_count` of {_METADATA}, VCC and what the hardware reserves included. They seldom "
        "limit anything: no direction is better.",
        better=False,
        comparable_when=ARCH,
    ),
    resource(
        "vgpr_spills",
        "spilled vector registers",
        "registers",
        f"`.vgpr_spill_count` of {_METADATA}. {_UNITS} In a loop: from the instructions that LLVM marks "
        "`Folded Spill`, or all scratch stores to a fixed place, whichever add up to the recorded number; an estimate "
        "where neither do.",
        role="spills",
    ),
    resource(
        "sgpr_spills",
        "spilled scalar registers",
        "registers",
        f"`.sgpr_spill_count` of {_METADATA}. {_UNITS} They go to lanes of vector registers where some are free.",
        role="spills",
    ),
    resource(
        "spill_loads",
        "reloaded vector registers",
        "registers",
        "Registers that the instructions which LLVM marks `Folded Reload` bring back; found as in "
        "`amdgcn.vgpr_spills`, once for each instruction in the code.",
    ),
    resource(
        "private_segment",
        "private segment per lane",
        "B",
        f"`.private_segment_fixed_size` of {_METADATA}: scratch memory for spilled registers and local arrays.",
        role="stack",
    ),
    resource(
        "static_lds",
        "static LDS",
        "B",
        f"`.group_segment_fixed_size` of {_METADATA}. Triton's LDS is dynamic and 0 here: see `meta.shared`.",
        better=False,
        comparable_when=ARCH,
    ),
    resource(
        "code_bytes",
        "code size",
        "B",
        "`codeLenInByte` of LLVM's comments behind the kernel, which LLVM adds up before it chooses "
        "the last encodings: "
        "measured up to 28 bytes beside the truth, which is `hsaco.code_bytes`.",
        role="code_bytes",
        comparable_when=ARCH,
        repeats="hsaco.code_bytes",
    ),
    resource(
        "compiler_occupancy",
        "occupancy that the compiler counts on",
        "waves/SIMD",
        "`Occupancy` of LLVM's comments behind the kernel: waves per SIMD that registers, workgroup "
        "size and static LDS "
        "allow, and no more than were asked for (`waves_per_eu`). Dynamic LDS is not in it: see `amdgcn.occupancy`.",
        kind="count",
        better=False,
        comparable_when=ARCH,
    ),
    resource(
        "kernarg_bytes",
        "kernel argument segment",
        "B",
        f"`.kernarg_segment_size` of {_METADATA}.",
        better=False,
    ),
)

HEADER = (
    FactSpec(
        id="amdgcn.target",
        title="target",
        kind="token",
        role="target",
        group="header",
        doc="The GPU of `.amdgcn_target`, as `hip:gfx942`. It names the target of a file that lies alone.",
    ),
    FactSpec(
        id="amdgcn.code_object",
        title="code object version",
        kind="token",
        provenance=True,
        group="header",
        doc=f"`.amdhsa_code_object_version` ({GUIDE}): it follows the compiler, not the kernel.",
    ),
    FactSpec(
        id="amdgcn.launch",
        title="launch",
        kind="record",
        group="header",
        doc=f"`wavefront size` in lanes, `workgroup size` in lanes at most, and on RDNA `workgroup "
        "processor mode` (1: a "
        f"workgroup may use both compute units of a pair), from {_METADATA} and the kernel descriptor.",
    ),
    FactSpec(
        id="amdgcn.parameters",
        title="kernel parameters",
        kind="sequence",
        unit="parameters",
        group="header",
        doc=f"Kind, size, offset and address space of each argument, hidden ones too, in order, from {_METADATA}.",
    ),
    FactSpec(
        id="amdgcn.descriptor",
        title="kernel descriptor",
        kind="record",
        group="header",
        comparable_when=ARCH,
        doc=f"The `.amdhsa_` directives of the kernel without those that resources repeat ({GUIDE}, AMDHSA kernel "
        "directives); those that are 0 where they are not given are left out when 0.",
    ),
)

COUNTED = (
    _tally(
        "opcodes",
        "instructions by opcode",
        "Every instruction by its whole opcode, encoding included; both halves of a dual one (`v_dual_...`).",
        group="instructions",
        comparable_when=ARCH,
    ),
    _tally(
        "classes",
        "instruction classes",
        "Instructions by what they do: tensor, global (flat, buffer and image too), shared (LDS), "
        "local (scratch), async "
        "copy, scalar, scalar load, integer, float, comparison, conversion, special function, "
        "register move, cross lane, "
        "control, barrier, wait, scheduling, cache, message, unclassified.",
        group="instructions",
        comparable_when=ARCH,
    ),
    _tally(
        "immediates",
        "literal operands",
        "Literal numbers among the operands, and offsets of accesses, as written; what waits wait for is not in it.",
        unit="operands",
        group="instructions",
    ),
    _tally(
        "mma",
        "matrix instructions",
        "MFMA and SMFMAC (CDNA), WMMA and SWMMAC (RDNA) by opcode with shape and types; `cbsz` and "
        "`blgp` say the types "
        "of the operands of `f8f6f4`.",
        group="tensor",
        comparable_when=ARCH,
    ),
    _tally(
        "global_loads",
        "global loads by bytes per lane",
        f"{_WIDTH} Global, buffer and flat loads; those that write LDS directly are copies.",
        unit="accesses",
        by_key=True,
        role="global_access_bytes",
        group="memory",
    ),
    _tally(
        "global_stores",
        "global stores by bytes per lane",
        f"{_WIDTH} Global, buffer and flat stores.",
        unit="accesses",
        by_key=True,
        role="global_access_bytes",
        group="memory",
    ),
    _tally(
        "shared_loads",
        "LDS loads by bytes per lane",
        f"{_WIDTH} `ds_read` and `ds_load`.",
        unit="accesses",
        by_key=True,
        group="memory",
    ),
    _tally(
        "shared_stores",
        "LDS stores by bytes per lane",
        f"{_WIDTH} `ds_write` and `ds_store`.",
        unit="accesses",
        by_key=True,
        group="memory",
    ),
    _tally(
        "local_accesses",
        "scratch accesses",
        f"`load 16` or `store 4`: scratch memory, spills and local arrays. {_WIDTH}",
        unit="accesses",
        fewer=True,
        role="local_accesses",
        group="memory",
    ),
    _tally(
        "accesses",
        "memory accesses by path",
        "`buffer load 16`: the instruction family (global, buffer, flat, scratch, ds), direction and bytes per lane.",
        unit="accesses",
        group="memory",
    ),
    _tally(
        "async_copies",
        "copies from global memory to LDS",
        "Loads that write LDS without passing registers (`global_load_lds`, `buffer_load ... lds`, and gfx1250's "
        "asynchronous ones): family and bytes per lane.",
        unit="copies",
        group="asynchronous",
        comparable_when=ARCH,
    ),
    _tally(
        "async_waits",
        "waits for memory",
        "Counter and how many accesses may stay outstanding: `vmcnt 1`, `lgkmcnt 0` (s_waitcnt), "
        "`loadcnt 1`, `dscnt 0` "
        "(gfx12's s_wait_*). An instruction that waits for two counters counts under both.",
        unit="waits",
        role="async_waits",
        group="asynchronous",
        comparable_when=ARCH,
    ),
    _tally(
        "barriers",
        "barrier instructions",
        "`s_barrier`; on gfx12 signal and wait are two instructions.",
        role="barrier_instructions",
        group="synchronisation",
        comparable_when=ARCH,
    ),
    _tally(
        "atomics",
        "atomic operations",
        "Global, buffer, flat and LDS atomics by opcode.",
        group="synchronisation",
    ),
    _tally(
        "fp",
        "floating-point fma, mul, add, sub",
        "By opcode without its encoding; packed and mixed ones and dot products, both halves of dual ones.",
        role="contraction",
        group="arithmetic",
    ),
    _tally("conversions", "conversions", "v_cvt by opcode without its encoding.", group="arithmetic"),
    _tally(
        "cross_lane",
        "moves between lanes",
        "ds_bpermute, ds_swizzle, v_permlane, v_readlane and the like, and instructions with a DPP control, by opcode "
        "with that control.",
        group="arithmetic",
        comparable_when=ARCH,
    ),
)
"""Tallies counted for the whole kernel and for each loop."""

WORK = (
    FactSpec(
        id="amdgcn.wave_flops",
        title="tensor work of one wave",
        kind="quantity",
        unit="FLOP",
        group="tensor",
        doc="2·M·N·K of each matrix instruction, along the path that is taken, times the trip counts of its loops; in "
        "a loop, of one pass. A block that is skipped where no lane is active counts as run. No value where a trip "
        "count is not proven or two paths differ. A sparse product counts as the dense one it stands for.",
    ),
)

FACTS = (*HEADER, *RESOURCES, *COUNTED, *WORK)
TALLIES = tuple(spec.id for spec in COUNTED)
