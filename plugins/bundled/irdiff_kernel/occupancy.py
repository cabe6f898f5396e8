"""How many CTAs fit on one multiprocessor of an NVIDIA GPU, and what keeps more from fitting.

The model of NVIDIA's ``cuda_occupancy.h`` (CUDA 13.5, PyPI ``nvidia-cuda-runtime``), whose figures a test
compares these with. It models launch limits alone: cluster size, tensor memory and ``setmaxnreg`` are outside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

WARP = 32
MAX_WARPS_PER_CTA = 32
MAX_REGISTERS_PER_THREAD = 256
"""As the header has it; the instruction set names 255."""
REGISTERS_PER_SM = 65536
SUB_PARTITIONS = 4
REGISTER_GRANULARITY = 256
"""Registers are given to a warp in units of this many."""
KIB = 1024

_ARCH = re.compile(r"(?:sm_?)?(\d{1,3})(\d)[a-z]?")


class Sm(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one multiprocessor of a compute capability."""

    threads: int
    ctas: int
    shared: int
    """Bytes of shared memory per multiprocessor, the driver's reserve included."""
    shared_per_cta: int
    """Bytes one CTA may ask for (opt-in limit), the driver's reserve not included."""
    barriers_per_cta_slot: int
    """Named barriers per CTA slot; those of all slots are shared by the CTAs that run."""
    reserve: int = 1024
    """Bytes the driver takes for itself in each CTA."""
    shared_granularity: int = 128
    hopper_on: bool = False
    """Compute capability 9.0 or newer: ``.nv.shared`` includes the reserve, and named barriers limit CTAs."""


SMS: Mapping[tuple[int, int], Sm] = {
    (7, 5): Sm(
        threads=1024,
        ctas=16,
        shared=64 * KIB,
        shared_per_cta=64 * KIB,
        barriers_per_cta_slot=2,
        reserve=0,
        shared_granularity=256,
    ),
    (8, 0): Sm(threads=2048, ctas=32, shared=164 * KIB, shared_per_cta=163 * KIB, barriers_per_cta_slot=2),
    (8, 6): Sm(threads=1536, ctas=16, shared=100 * KIB, shared_per_cta=99 * KIB, barriers_per_cta_slot=1),
    (8, 7): Sm(threads=1536, ctas=16, shared=164 * KIB, shared_per_cta=163 * KIB, barriers_per_cta_slot=1),
    (8, 9): Sm(threads=1536, ctas=24, shared=100 * KIB, shared_per_cta=99 * KIB, barriers_per_cta_slot=1),
    **{
        capability: Sm(
            threads=threads,
            ctas=ctas,
            shared=shared * KIB,
            shared_per_cta=(shared - 1) * KIB,
            barriers_per_cta_slot=barriers,
            hopper_on=True,
        )
        for capability, threads, ctas, shared, barriers in (
            ((9, 0), 2048, 32, 228, 2),
            ((10, 0), 2048, 32, 228, 2),
            ((10, 3), 2048, 32, 228, 1),
            ((11, 0), 1536, 24, 228, 1),
            ((12, 0), 1536, 24, 100, 1),
            ((12, 1), 1536, 24, 100, 1),
        )
    },
}
"""By compute capability. CTAs, granularities and barriers: the header. Threads per multiprocessor and opt-in
shared memory: CUDA Programming Guide, "Technical Specifications per Compute Capability"."""


class Occupancy(msgspec.Struct, frozen=True, kw_only=True):
    """CTAs that run at once on one multiprocessor."""

    ctas: int
    """0 where the kernel cannot be launched at all."""
    limits: tuple[str, ...]
    """What keeps another CTA from fitting: of registers, shared memory, warps, CTA slots, barriers."""


def sm_of(arch: str) -> Sm | None:
    """The limits for an architecture as Triton or ptxas spell it (``90``, ``sm_90a``); None where not known."""
    found = _ARCH.fullmatch(arch)
    return SMS.get((int(found[1]), int(found[2]))) if found else None


def occupancy(sm: Sm, *, warps: int, registers: int, static: int, dynamic: int, barriers: int) -> Occupancy:
    """CTAs per multiprocessor for a CTA of ``warps`` warps.

    ``registers`` per thread; ``static`` and ``dynamic`` shared memory in bytes, without the driver's
    reserve; ``barriers`` named barriers.
    """
    shared = _up(static + dynamic + sm.reserve, sm.shared_granularity)
    limits: dict[str, int] = {
        "registers": _by_registers(warps, registers),
        "warps": sm.threads // WARP // warps if warps <= MAX_WARPS_PER_CTA else 0,
        "CTA slots": sm.ctas,
    }
    if shared > sm.shared_per_cta + sm.reserve:
        limits["shared memory"] = 0
    elif shared:
        limits["shared memory"] = sm.shared // shared
    if sm.hopper_on and barriers:
        limits["barriers"] = sm.ctas * sm.barriers_per_cta_slot // barriers
    ctas = min(limits.values())
    return Occupancy(ctas=ctas, limits=tuple(sorted(name for name, limit in limits.items() if limit == ctas)))


def next_step(
    sm: Sm, *, warps: int, registers: int, static: int, dynamic: int, barriers: int
) -> dict[str, int] | None:
    """What a CTA must give up, all of it together, so that one more fits: resource to amount.

    ``registers`` per thread, ``shared memory`` in bytes, ``barriers``. None where the number of warps or of CTA
    slots is the limit, or a resource could be given up whole and it would not be enough.
    """
    found = occupancy(sm, warps=warps, registers=registers, static=static, dynamic=dynamic, barriers=barriers)
    wanted = found.ctas + 1
    most = {
        "registers": max(
            (count for count in range(registers) if _by_registers(warps, count) >= wanted), default=None
        ),
        "shared memory": _most_shared(sm, wanted),
        "barriers": sm.ctas * sm.barriers_per_cta_slot // wanted,
    }
    has = {"registers": registers, "shared memory": static + dynamic, "barriers": barriers}
    step: dict[str, int] = {}
    for name in found.limits:
        enough = most.get(name)
        if enough is None or (name == "registers" and not enough):
            return None
        step[name] = has[name] - enough
    return step


def _most_shared(sm: Sm, ctas: int) -> int | None:
    """Bytes one CTA may use, without the reserve, so that ``ctas`` of them fit."""
    each = sm.shared // ctas // sm.shared_granularity * sm.shared_granularity
    most = min(each, sm.shared_per_cta + sm.reserve) - sm.reserve
    return most if most >= 0 else None


def static_without_reserve(sm: Sm, section: int) -> int:
    """Bytes of static shared memory a kernel declares, from the size of its ``.nv.shared`` section."""
    return max(section - sm.reserve, 0) if sm.hopper_on else section


def _by_registers(warps: int, registers: int) -> int:
    per_warp = _up(registers * WARP, REGISTER_GRANULARITY)
    if registers > MAX_REGISTERS_PER_THREAD or per_warp * _up(warps, SUB_PARTITIONS) > REGISTERS_PER_SM:
        return 0
    if not per_warp:
        return REGISTERS_PER_SM
    return SUB_PARTITIONS * (REGISTERS_PER_SM // SUB_PARTITIONS // per_warp) // warps


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
