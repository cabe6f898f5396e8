"""The facts of the stage ``amdgcn`` that are counted from its instructions, for the kernel and for each loop."""

from __future__ import annotations

from irdiff_amdgcn.declaring import ARCH, tally

_WIDTH = (
    "Keys are bytes that one lane moves in one access, from the opcode, however it is spelled "
    "(`dwordx4` and `b128` are "
    "both 16; an access of two places counts both)."
)

COUNTED = (
    tally(
        "opcodes",
        "instructions by opcode",
        "Every instruction by its whole opcode, encoding included; both halves of a dual one (`v_dual_...`).",
        group="instructions",
        comparable_when=ARCH,
    ),
    tally(
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
    tally(
        "immediates",
        "literal operands",
        "Literal numbers among the operands, and offsets of accesses, as written; what waits wait for is not in it.",
        unit="operands",
        group="instructions",
    ),
    tally(
        "mma",
        "matrix instructions",
        "MFMA and SMFMAC (CDNA), WMMA and SWMMAC (RDNA) by opcode with shape and types; `cbsz` and "
        "`blgp` say the types "
        "of the operands of `f8f6f4`.",
        group="tensor",
        comparable_when=ARCH,
    ),
    tally(
        "global_loads",
        "global loads by bytes per lane",
        f"{_WIDTH} Global, buffer and flat loads; those that write LDS directly are copies.",
        unit="accesses",
        by_key=True,
        role="global_access_bytes",
        group="memory",
    ),
    tally(
        "global_stores",
        "global stores by bytes per lane",
        f"{_WIDTH} Global, buffer and flat stores.",
        unit="accesses",
        by_key=True,
        role="global_access_bytes",
        group="memory",
    ),
    tally(
        "shared_loads",
        "LDS loads by bytes per lane",
        f"{_WIDTH} `ds_read` and `ds_load`.",
        unit="accesses",
        by_key=True,
        group="memory",
    ),
    tally(
        "shared_stores",
        "LDS stores by bytes per lane",
        f"{_WIDTH} `ds_write` and `ds_store`.",
        unit="accesses",
        by_key=True,
        group="memory",
    ),
    tally(
        "local_accesses",
        "scratch accesses",
        f"`load 16` or `store 4`: scratch memory, spills and local arrays. {_WIDTH}",
        unit="accesses",
        fewer=True,
        role="local_accesses",
        group="memory",
    ),
    tally(
        "accesses",
        "memory accesses by path",
        "`buffer load 16`: the instruction family (global, buffer, flat, scratch, ds), direction and bytes per lane.",
        unit="accesses",
        group="memory",
    ),
    tally(
        "async_copies",
        "copies from global memory to LDS",
        "Loads that write LDS without passing registers (`global_load_lds`, `buffer_load ... lds`, and gfx1250's "
        "asynchronous ones): family and bytes per lane.",
        unit="copies",
        group="asynchronous",
        comparable_when=ARCH,
    ),
    tally(
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
    tally(
        "barriers",
        "barrier instructions",
        "`s_barrier`; on gfx12 signal and wait are two instructions.",
        role="barrier_instructions",
        group="synchronisation",
        comparable_when=ARCH,
    ),
    tally(
        "atomics",
        "atomic operations",
        "Global, buffer, flat and LDS atomics by opcode.",
        group="synchronisation",
    ),
    tally(
        "fp",
        "floating-point fma, mul, add, sub",
        "By opcode without its encoding; packed and mixed ones and dot products, both halves of dual ones.",
        role="contraction",
        group="arithmetic",
    ),
    tally("conversions", "conversions", "v_cvt by opcode without its encoding.", group="arithmetic"),
    tally(
        "cross_lane",
        "moves between lanes",
        "ds_bpermute, ds_swizzle, v_permlane, v_readlane and the like, and instructions with a DPP control, by opcode "
        "with that control.",
        group="arithmetic",
        comparable_when=ARCH,
    ),
)
TALLIES = tuple(spec.id for spec in COUNTED)
