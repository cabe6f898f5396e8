"""How many waves of a kernel fit on one SIMD of an AMD GPU, and what keeps more from fitting.

The model of LLVM's AMDGPUBaseInfo (IsaInfo: getNumWavesPerEUWithNumVGPRs, getOccupancyWithNumSGPRs,
getMaxWorkGroupsPerCU), to which dynamic LDS is added: LLVM counts the static LDS alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

KIB = 1024


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one compute unit of a family; of a pair of them on RDNA in workgroup processor mode."""

    vector_registers: int
    """Vector registers per lane that the waves of one SIMD share, at ``wave`` lanes."""
    granularity: int
    """They are given to a wave in units of this many."""
    wave: int
    """Lanes of a wave that Triton uses there."""
    waves: int
    """Waves per SIMD at most."""
    lds: int
    """Bytes of LDS of one compute unit, which one workgroup may use."""
    lds_granularity: int
    rdna: bool = False


def _cdna(lds: int, lds_granularity: int) -> Gpu:
    return Gpu(
        vector_registers=512, granularity=8, wave=64, waves=8, lds=lds, lds_granularity=lds_granularity
    )


def _rdna(vector_registers: int, granularity: int) -> Gpu:
    return Gpu(
        vector_registers=vector_registers,
        granularity=granularity,
        wave=32,
        waves=16,
        lds=64 * KIB,
        lds_granularity=512,
        rdna=True,
    )


GPUS: Mapping[str, Gpu] = {
    **dict.fromkeys(("gfx90a", "gfx940", "gfx941", "gfx942"), _cdna(64 * KIB, 512)),
    "gfx950": _cdna(160 * KIB, 1280),
    **dict.fromkeys(("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201"), _rdna(1536, 24)),
    **dict.fromkeys(("gfx1030", "gfx1102", "gfx1103", "gfx1150", "gfx1152"), _rdna(1024, 16)),
}
"""LLVM 19 to 22, AMDGPU.td: FeatureGFX90AInsts, Feature1_5xVGPRs, FeatureAddressableLocalMemorySize*."""

SIMDS = 4
"""Of a CDNA compute unit, and of the two compute units of an RDNA workgroup processor."""
_SCALAR_STEPS = ((80, 10), (88, 9), (100, 8))
_SCALAR_REST = 7
_SLOTS, _SLOTS_OF_PAIR = 16, 32
"""Workgroups of more than one wave that a compute unit, or a pair of them, keeps barriers for."""


class Occupancy(msgspec.Struct, frozen=True, kw_only=True):
    """Waves that run at once."""

    groups: int
    """Workgroups on one compute unit (pair); 0 where the kernel cannot be launched."""
    waves: float
    """Per SIMD: ``groups`` times the waves of each, over the SIMDs."""
    limits: tuple[str, ...]
    """What keeps another workgroup from fitting: of vector registers, scalar registers, LDS, wave slots, workgroup
    slots."""


def waves_by_registers(gpu: Gpu, registers: int) -> int:
    """Waves per SIMD that a number of vector registers allows; at least 1, as the compiler never exceeds the file."""
    given = max(-(-registers // gpu.granularity) * gpu.granularity, gpu.granularity)
    return min(max(gpu.vector_registers // given, 1), gpu.waves)


def waves_by_scalars(gpu: Gpu, scalars: int) -> int:
    """Waves per SIMD that a number of scalar registers allows: RDNA gives each wave all it can name."""
    if gpu.rdna:
        return gpu.waves
    return min(next((waves for most, waves in _SCALAR_STEPS if scalars <= most), _SCALAR_REST), gpu.waves)


def occupancy(
    gpu: Gpu, *, waves: int, registers: int, scalars: int, lds: int, pair: bool = False
) -> Occupancy:
    """Workgroups of ``waves`` waves that fit.

    ``registers`` vector registers per lane, ``scalars`` per wave, ``lds`` bytes per workgroup, ``pair``: workgroup
    processor mode, in which two compute units of RDNA work as one.
    """
    simds = SIMDS if not gpu.rdna or pair else SIMDS // 2
    total = gpu.lds * (2 if gpu.rdna and pair else 1)
    used = -(-lds // gpu.lds_granularity) * gpu.lds_granularity
    limits = {
        "vector registers": waves_by_registers(gpu, registers) * simds // waves,
        "scalar registers": waves_by_scalars(gpu, scalars) * simds // waves,
        "wave slots": gpu.waves * simds // waves,
    }
    if waves > 1:
        limits["workgroup slots"] = _SLOTS_OF_PAIR if gpu.rdna and pair else _SLOTS
    if used:
        limits["LDS"] = total // used if lds <= gpu.lds else 0
    groups = min(limits.values())
    return Occupancy(
        groups=groups,
        waves=round(groups * waves / simds, 2),
        limits=tuple(sorted(name for name, limit in limits.items() if limit == groups)),
    )
