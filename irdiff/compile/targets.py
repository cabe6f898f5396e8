"""Targets by name: ``cuda:90``, ``hip:gfx942``; the size of a warp and what one program may use there."""

from __future__ import annotations

import re

import msgspec

from irdiff.errors import UsageError
from irdiff.model.bundle import Target

CHOICES = (
    "cuda:75 cuda:80 cuda:86 cuda:89 cuda:90 cuda:100 cuda:103 cuda:110 cuda:120 cuda:121 "
    "hip:gfx942 hip:gfx950 hip:gfx1100"
)
"""Targets named in messages: any other number or gfx name is passed on to Triton as well."""

_TARGET = re.compile(r"(?P<backend>[a-z][a-z0-9_]{0,31}):(?P<arch>[A-Za-z0-9_]{1,32})")
_CUDA = re.compile(r"[1-9][0-9]{1,2}")
_HIP = re.compile(r"gfx[0-9a-f]{3,5}")

# fmt: off
SHARED = {
    75: 65_536, 80: 166_912, 86: 101_376, 87: 166_912, 89: 101_376, 90: 232_448, 100: 232_448, 103: 232_448,
    110: 232_448, 120: 101_376, 121: 101_376,
}
# fmt: on
"""Compute capability to bytes of shared memory that one CTA may have (CUDA C++ Programming Guide, table of
technical specifications, "maximum amount of shared memory per thread block"; opt-in)."""
LDS = {
    "gfx90a": 65_536,
    "gfx942": 65_536,
    "gfx950": 163_840,
    "gfx1100": 65_536,
    "gfx1101": 65_536,
    "gfx1200": 65_536,
    "gfx1201": 65_536,
}
"""AMD processor to bytes of LDS that one work-group may have (AMD's instruction set manuals)."""
MAX_THREADS = 1024
"""Threads of one CTA or work-group, on every target."""
MAX_TMEM_COLUMNS = 512
"""Columns of tensor memory, from compute capability 10.0 on (PTX ISA, tcgen05)."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one program may use. ``None``: not known, so not judged."""

    shared: int | None
    threads: int = MAX_THREADS
    tmem: int = MAX_TMEM_COLUMNS


def parse_target(text: str, *, where: str = "--target") -> Target:
    """A target by its name. Raises UsageError where it is none."""
    match = _TARGET.fullmatch(text.strip())
    backend, arch = (match["backend"], match["arch"]) if match else ("", "")
    pattern = {"cuda": _CUDA, "hip": _HIP}.get(backend)
    if match is None or (pattern is not None and not pattern.fullmatch(arch)):
        raise UsageError(
            f"{text!r} is no target; expected backend:architecture", where=where, hint=f"such as {CHOICES}"
        )
    return Target(backend=backend, arch=arch)


def warp_size(target: Target) -> int:
    """Threads of a warp: 32; 64 on AMD's gfx9 family (GCN and CDNA), as Triton's drivers report it."""
    return 64 if target.backend == "hip" and target.arch.startswith("gfx9") else 32


def limits(target: Target) -> Limits:
    """What one program may use on a target."""
    if target.backend == "cuda" and target.arch.isdigit():
        return Limits(shared=SHARED.get(int(target.arch)))
    return Limits(shared=LDS.get(target.arch))


def at_least(target: Target, needed: Target) -> bool:
    """Whether a target has what another one brought: same backend, and as new or (AMD) the very same."""
    if target.backend != needed.backend:
        return False
    if target.backend == "cuda":
        return int(target.arch) >= int(needed.arch)
    return target.arch == needed.arch
