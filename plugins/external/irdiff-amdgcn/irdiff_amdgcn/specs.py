"""The facts of the stage ``amdgcn``: their meaning, unit, direction and source."""

from __future__ import annotations

from irdiff.api import FactSpec

from irdiff_amdgcn.declaring import ARCH, GUIDE, METADATA, resource
from irdiff_amdgcn.instruction_specs import COUNTED

_UNITS = (
    "Counted in 32-bit registers, not bytes: one for each register that an inserted instruction stores, once for each "
    "such instruction in the code (LLVM, SIRegisterInfo, SI_SPILL_*_SAVE)."
)

RESOURCES = (
    resource(
        "registers",
        "vector registers per lane",
        "registers",
        f"`.vgpr_count` of {METADATA}: on CDNA the sum of VGPRs and AGPRs, which share one file of "
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
        f"`.agpr_count` of {METADATA}; CDNA alone has them. They hold accumulators, and values for which no VGPR is "
        "left.",
        better=False,
        comparable_when=ARCH,
    ),
    resource(
        "sgprs",
        "scalar registers per wave",
        "registers",
        f"`.sgpr_count` of {METADATA}, VCC and what the hardware reserves included. They seldom "
        "limit anything: no direction is better.",
        better=False,
        comparable_when=ARCH,
    ),
    resource(
        "vgpr_spills",
        "spilled vector registers",
        "registers",
        f"`.vgpr_spill_count` of {METADATA}. {_UNITS} In a loop: from the instructions that LLVM marks "
        "`Folded Spill`, or all scratch stores to a fixed place, whichever add up to the recorded number; an estimate "
        "where neither do.",
        role="spills",
    ),
    resource(
        "sgpr_spills",
        "spilled scalar registers",
        "registers",
        f"`.sgpr_spill_count` of {METADATA}. {_UNITS} They go to lanes of vector registers where some are free.",
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
        f"`.private_segment_fixed_size` of {METADATA}: scratch memory for spilled registers and local arrays.",
        role="stack",
    ),
    resource(
        "static_lds",
        "static LDS",
        "B",
        f"`.group_segment_fixed_size` of {METADATA}. Triton's LDS is dynamic and 0 here: see `meta.shared`.",
        better=False,
        comparable_when=ARCH,
    ),
    resource(
        "code_bytes",
        "code size",
        "B",
        "`codeLenInByte` of LLVM's comments behind the kernel and each function it calls, which LLVM adds up "
        "before it chooses the last encodings: "
        "measured up to 280 bytes beside the truth (4,112 for 4,392), which is `hsaco.code_bytes`.",
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
        f"`.kernarg_segment_size` of {METADATA}.",
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
        f"workgroup may use both compute units of a pair), from {METADATA} and the kernel descriptor.",
    ),
    FactSpec(
        id="amdgcn.parameters",
        title="kernel parameters",
        kind="sequence",
        unit="parameters",
        group="header",
        doc=f"Kind, size, offset and address space of each argument, hidden ones too, in order, from {METADATA}.",
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
