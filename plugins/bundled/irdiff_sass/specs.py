"""The facts of the SASS stage: those of the container, and those counted in decoded code."""

from __future__ import annotations

from irdiff.api import FactSpec
from irdiff_sass.container_specs import ARCH, CONTAINER

TOOL = "nvdisasm"
TOOLS = ("nvdisasm",)
DECODED = "Needs a disassembler. An access under an always false predicate (`@!PT`, padding) is not counted."

FACTS = (
    *CONTAINER,
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
