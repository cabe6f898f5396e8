"""Whether a file is a cubin at all; what is none is refused with what it is instead."""

from __future__ import annotations

import struct
from typing import NoReturn

from irdiff.api import ParseError

HEADER_SIZE = 64
MACHINE_CUDA = 190
MACHINE_AMDGPU = 224
HOST_MACHINES = {3: "x86", 40: "Arm", 62: "x86-64", 183: "AArch64", 21: "PowerPC64", 243: "RISC-V"}
FATBIN_MAGICS = (b"\x50\xed\x55\xba", b"\xb1\x43\x62\x46")
"""Start of a CUDA fat binary, and of the wrapper that a host program keeps it in."""

REBUILD = "write the file again, or remove the entry and compile again"
EXTRACT = "`cuobjdump -xelf all FILE` takes the cubins out of it"


def check_kind(data: bytes) -> None:
    """Raise ParseError unless a file begins as a 64-bit ELF file for CUDA does."""
    if not data:
        raise ParseError("is empty", offset=0, hint=REBUILD)
    if data[:4] in FATBIN_MAGICS:
        raise ParseError("is a fat binary, which holds several cubins", offset=0, hint=EXTRACT)
    if not b"\x7fELF".startswith(data[:4]):
        raise ParseError("is not an ELF file", offset=0, hint=REBUILD)
    if len(data) < HEADER_SIZE:
        raise ParseError(
            f"cut off at byte {len(data)} (ELF header incomplete)", offset=len(data), hint=REBUILD
        )
    if data[4] != 2 or data[5] != 1:
        raise ParseError("is not a 64-bit little-endian ELF file", offset=4, hint=REBUILD)
    machine = struct.unpack_from("<H", data, 18)[0]
    if machine != MACHINE_CUDA:
        _refuse_machine(machine)


def _refuse_machine(machine: int) -> NoReturn:
    if machine == MACHINE_AMDGPU:
        raise ParseError("is an AMD code object (hsaco), not a cubin", offset=18, hint="name it .hsaco")
    if machine in HOST_MACHINES:
        raise ParseError(
            f"is a host program for {HOST_MACHINES[machine]}, not a cubin", offset=18, hint=EXTRACT
        )
    raise ParseError(f"is an ELF file for machine {machine}, not CUDA's 190", offset=18, hint=REBUILD)
