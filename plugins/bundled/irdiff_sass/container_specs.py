"""The facts that the container of a cubin says, decoded or not."""

from __future__ import annotations

from irdiff.api import FactSpec

ARCH = ("target.arch",)
PTXAS = "Measured equal to `ptxas -v`, CUDA 12.8 to 13.5."

CONTAINER = (
    FactSpec(
        id="sass.target",
        title="target",
        kind="token",
        role="target",
        group="provenance",
        doc="The architecture in the ELF header's flags, as `cuda:90`. It names the target of a cubin that lies alone.",
    ),
    FactSpec(
        id="sass.registers",
        title="registers per thread",
        kind="quantity",
        unit="registers",
        better="lower",
        role="registers",
        group="resources",
        place="byte",
        doc="EIATTR_REGCOUNT of the kernel, functions it calls included; the largest where a cubin holds several "
        "kernels. Equal to REG of `cuobjdump -res-usage`.",
    ),
    FactSpec(
        id="sass.stack",
        title="stack per thread",
        kind="quantity",
        unit="B",
        better="lower",
        role="stack",
        group="resources",
        place="byte",
        doc="EIATTR_MIN_STACK_SIZE of the kernel (spill slots, local arrays, calls); the largest of several kernels; "
        "not known where the assembler could not bound it (recursion). Equal to STACK of `cuobjdump -res-usage`.",
    ),
    FactSpec(
        id="sass.spill_store_bytes",
        title="spill stores per thread",
        kind="quantity",
        unit="B",
        better="lower",
        role="spills",
        group="resources",
        place="address",
        doc="Sum of the widths of the STL instructions that the assembler marks as spills (EIATTR_ANNOTATIONS, ptxas "
        f"12.8 and newer), over all functions. {PTXAS} Before 12.8 an estimate: STL at a constant offset from R1. "
        "In a loop: needs a disassembler.",
    ),
    FactSpec(
        id="sass.spill_load_bytes",
        title="spill loads per thread",
        kind="quantity",
        unit="B",
        better="lower",
        role="spills",
        group="resources",
        place="address",
        doc=f"As `sass.spill_store_bytes`, of LDL instructions. {PTXAS}",
    ),
    FactSpec(
        id="sass.static_shared",
        title="static shared memory",
        kind="quantity",
        unit="B",
        comparable_when=ARCH,
        group="resources",
        place="byte",
        doc="Size of `.nv.shared.K`, the largest of several kernels. From sm_90 on it includes the 1,024 bytes that "
        "the driver reserves for each CTA. Triton's shared memory is dynamic: see `meta.shared`. Equal to SHARED of "
        "`cuobjdump -res-usage`.",
    ),
    FactSpec(
        id="sass.named_barriers",
        title="named barriers",
        kind="count",
        unit="barriers",
        group="resources",
        place="byte",
        doc="Barrier resources of a CTA (0 to 16), the most of several kernels: bits 20 to 26 of the section flags of "
        "`.text.K` in ABI 7, EIATTR_NUM_BARRIERS in ABI 8.",
    ),
    FactSpec(
        id="sass.constant_bytes",
        title="constant memory",
        kind="quantity",
        unit="B",
        comparable_when=ARCH,
        group="resources",
        place="byte",
        doc="Sizes of all `.nv.constantN.K`, added up: parameters, the driver's area before them, literals. The parts "
        "are CONSTANT[N] of `cuobjdump -res-usage`.",
    ),
    FactSpec(
        id="sass.code_bytes",
        title="code size",
        kind="quantity",
        unit="B",
        better="lower",
        role="code_bytes",
        comparable_when=ARCH,
        group="resources",
        place="byte",
        doc="Sizes of all `.text` sections, added up, with the NOPs that fill them to 128 bytes.",
    ),
    FactSpec(
        id="sass.fingerprint",
        title="fingerprint of what executes",
        kind="token",
        role="fingerprint",
        group="resources",
        place="byte",
        doc="First 128 bits of a SHA-256 over architecture, code, constants, initialised data, relocations and "
        "attributes; without names, debug sections, notes, and what only says which tool wrote it (EIATTR 0x37, 0x5f, "
        "0x66, 0x6b, 0x6d). Equal fingerprints: equal machine code. ptxas 12.8 and 12.9 give equal ones.",
    ),
    FactSpec(
        id="sass.launch_bounds",
        title="launch bounds",
        kind="record",
        group="resources",
        place="byte",
        doc="`reqntid` (EIATTR_REQNTID), `maxntid` (EIATTR_MAX_THREADS), as `x, y, z` threads, and `maxnreg` "
        "(EIATTR_MAXREG_COUNT; 255 where the source sets no limit), of the first kernel.",
    ),
    FactSpec(
        id="sass.parameters",
        title="parameters",
        kind="sequence",
        unit="parameters",
        group="resources",
        place="byte",
        doc="Size of each parameter of the first kernel and where it lies in its parameter area, in order "
        "(EIATTR_KPARAM_INFO), Triton's own trailing pointers included. The driver's area is in front of them.",
    ),
    FactSpec(
        id="sass.ptxas",
        title="assembler",
        kind="token",
        provenance=True,
        group="provenance",
        place="byte",
        doc="Version of ptxas: from the ELF version in ABI 7 (two numbers), from `.note.nv.tkinfo` in ABI 8.",
    ),
)
