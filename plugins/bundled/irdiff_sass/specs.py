"""Declarations of the SASS stage: its facts and the normalisations of its canonical form."""

from __future__ import annotations

from irdiff.api import FactSpec, Normalization

TOOL = "nvdisasm"
NAMES = r"(?<![\w.])(?:UR|UP|R|P|B|ur|up|r|p|b|L)\d+(?:_\d+)?(?!\w)"
"""Registers and labels of the canonical form, registers that keep their numbers too."""
NAMES_WRITTEN = r"(?<![\w.])(?:UR|UP|R|P|B|ur|up|r|p|b)\d+(?:_\d+)?(?!\w)"
"""Registers in both spellings."""
ARCH = ("target.arch",)
TOOLS = ("nvdisasm",)
PTXAS = "Measured equal to `ptxas -v`, CUDA 12.8 to 13.5."
DECODED = "Needs a disassembler. An access under an always false predicate (`@!PT`, padding) is not counted."

FACTS = (
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
    FactSpec(
        id="sass.instructions",
        title="instructions",
        kind="count",
        unit="instructions",
        better="lower",
        comparable_when=ARCH,
        needs=TOOLS,
        group="instructions",
        place="address",
        doc="Instructions without the NOPs at the end of a section. Needs a disassembler.",
    ),
    FactSpec(
        id="sass.opcodes",
        title="opcodes",
        kind="tally",
        unit="instructions",
        role="operations",
        comparable_when=ARCH,
        needs=TOOLS,
        group="instructions",
        place="address",
        doc="Opcodes with all modifiers, as nvdisasm spells them. Needs a disassembler.",
    ),
    FactSpec(
        id="sass.classes",
        title="instruction classes",
        kind="tally",
        unit="instructions",
        comparable_when=ARCH,
        needs=TOOLS,
        group="instructions",
        place="address",
        doc="Instructions by what they do: tensor, async copy, global, shared, local, barrier, conversion, special "
        "function, integer (with moves, selects, shuffles and constant loads), float, control, uniform, unclassified. "
        "Generic accesses, atomics and textures count as global. Needs a disassembler.",
    ),
    FactSpec(
        id="sass.mma",
        title="matrix instructions",
        kind="tally",
        unit="instructions",
        comparable_when=ARCH,
        needs=TOOLS,
        group="instructions",
        place="address",
        doc="Opcodes that multiply matrices: `HMMA.16816.F32`, `HGMMA.64x64x16.F32`, `UTCHMMA`. Needs a disassembler.",
    ),
    FactSpec(
        id="sass.global_loads",
        title="global loads",
        kind="tally",
        unit="instructions",
        better="higher",
        measure="key",
        key_unit="B",
        role="global_access_bytes",
        needs=TOOLS,
        group="memory",
        place="address",
        doc=f"Bytes per thread of an access to number of LDG (and generic LD) instructions. {DECODED}",
    ),
    FactSpec(
        id="sass.global_stores",
        title="global stores",
        kind="tally",
        unit="instructions",
        better="higher",
        measure="key",
        key_unit="B",
        role="global_access_bytes",
        needs=TOOLS,
        group="memory",
        place="address",
        doc=f"Bytes per thread of an access to number of STG (and generic ST) instructions. {DECODED}",
    ),
    FactSpec(
        id="sass.shared_loads",
        title="shared loads",
        kind="tally",
        unit="instructions",
        better="higher",
        measure="key",
        key_unit="B",
        needs=TOOLS,
        group="memory",
        place="address",
        doc=f"Bytes per thread of an access to number of LDS instructions; `16 matrix` is LDSM of four 8x8 matrices. "
        f"{DECODED}",
    ),
    FactSpec(
        id="sass.shared_stores",
        title="shared stores",
        kind="tally",
        unit="instructions",
        better="higher",
        measure="key",
        key_unit="B",
        needs=TOOLS,
        group="memory",
        place="address",
        doc=f"Bytes per thread of an access to number of STS instructions; `16 matrix` is STSM. {DECODED}",
    ),
    FactSpec(
        id="sass.local_accesses",
        title="local memory accesses",
        kind="tally",
        unit="instructions",
        better="lower",
        role="local_accesses",
        needs=TOOLS,
        group="memory",
        place="address",
        doc=f"`load` or `store` and bytes per thread to number of LDL and STL instructions: spills and local arrays. "
        f"{DECODED}",
    ),
    FactSpec(
        id="sass.loops",
        title="loops",
        kind="sequence",
        needs=TOOLS,
        group="instructions",
        place="address",
        doc="Depth and instructions of each natural loop, by header; inner loops count in the outer one too, waiting "
        "on a barrier is one. The guard behind a kernel's end (a branch to itself) is none. Needs a disassembler.",
    ),
    FactSpec(
        id="sass.live_registers",
        title="live registers",
        kind="quantity",
        unit="registers",
        better="lower",
        comparable_when=ARCH,
        opt_in=True,
        group="instructions",
        place="address",
        doc="The most vector registers that hold a value at once, of all instructions (`nvdisasm -plr`, column GPR). "
        "Only with `--with sass.live_registers`: one process for each cubin. The tool must be of the cubin's own "
        "generation: ABI 7 (ptxas up to 12.9, targets up to sm_90a) needs nvdisasm 12, ABI 8 nvdisasm 12.8 or newer.",
    ),
    FactSpec(
        id="sass.stalls",
        title="encoded stall cycles",
        kind="quantity",
        unit="cycles",
        better="lower",
        exactness="estimate",
        comparable_when=ARCH,
        needs=TOOLS,
        group="instructions",
        place="address",
        doc="Stall counts encoded in the instructions, each counted once: what the scheduler is told to wait at least, "
        "not time. Needs a disassembler.",
    ),
)

NORMALIZATIONS = (
    Normalization(
        id="register-names",
        title="register names",
        doc="Predicates and barrier registers are numbered by first use, vector and uniform registers in aligned "
        "blocks of eight: an instruction names only the first of up to eight registers, so their order in a block "
        "is kept. Where more depends on a number (wgmma, tcgen05, TMA, calls of other functions, "
        "predicates moved as a mask, an opcode not known) the numbers of that class are kept.",
    ),
    Normalization(
        id="labels", title="branch targets", doc="Places in the code are labels in order of address."
    ),
    Normalization(
        id="nop-padding", title="NOP padding", doc="NOPs that fill the end of a section are dropped."
    ),
    Normalization(
        id="reuse-flags",
        title="operand reuse flags",
        doc="`.reuse` and its control bits, a hint to the operand cache, are dropped. The other control bits (stall, "
        "yield, barriers, wait mask) stay behind each instruction: they order what executes.",
    ),
    Normalization(
        id="debug-sections",
        title="debug sections",
        doc="Line tables, debug frames and the PTX text inside a cubin, with their source paths, are dropped.",
    ),
    Normalization(
        id="tool-notes",
        title="tool notes",
        doc="Notes of the tools, the ELF version, compatibility notes, and EIATTR 0x37, 0x5f, 0x66, 0x6b and 0x6d.",
    ),
    Normalization(
        id="symbol-names",
        title="names of functions",
        doc="Kernels and functions are numbered in the order of their code; symbol and string tables are dropped.",
    ),
    Normalization(
        id="source-paths",
        title="source paths",
        doc="The file that a device assertion names (`assertFile_N`) is dropped.",
    ),
    Normalization(
        id="instruction-offsets",
        title="lists of instruction offsets",
        doc="Attributes that list places in the code (exits, warp-wide instructions, spills) follow from the code; "
        "they are dropped where it is decoded.",
    ),
    Normalization(
        id="second-encoding",
        title="the second encoding",
        doc="Sections `.nv.merc.*` and `.nv.capmerc.*` (sm_100 and newer) repeat the kernel in another encoding.",
    ),
)
