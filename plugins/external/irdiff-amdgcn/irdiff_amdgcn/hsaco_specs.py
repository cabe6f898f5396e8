"""Declarations of the stage ``hsaco``: its facts and the normalisations of its canonical form."""

from __future__ import annotations

from irdiff.api import FactSpec, Normalization

STAGE = "hsaco"
_ARCH = ("target.arch",)
_NOTE = "the metadata note (ELF note type 32, MessagePack; LLVM's AMDGPU usage guide)"
NUMBERS = (
    ("hsaco.registers", "vgpr_count"),
    ("hsaco.agprs", "agpr_count"),
    ("hsaco.sgprs", "sgpr_count"),
    ("hsaco.vgpr_spills", "vgpr_spill_count"),
    ("hsaco.sgpr_spills", "sgpr_spill_count"),
    ("hsaco.private_segment", "private_segment_fixed_size"),
    ("hsaco.static_lds", "group_segment_fixed_size"),
    ("hsaco.kernarg_bytes", "kernarg_segment_size"),
)


def _repeated(
    name: str, title: str, unit: str, key: str, role: str | None = None, *, lower: bool = True
) -> FactSpec:
    return FactSpec(
        id=f"hsaco.{name}",
        title=title,
        kind="quantity",
        unit=unit,
        better="lower" if lower else "neutral",
        role=role,
        comparable_when=() if role else _ARCH,
        repeats=f"amdgcn.{name}",
        group="resources",
        place="byte",
        doc=f"`{key}` of {_NOTE}; see `amdgcn.{name}`, which says the same from the assembly.",
    )


FACTS = (
    FactSpec(
        id="hsaco.target",
        title="target",
        kind="token",
        role="target",
        group="header",
        place="byte",
        doc=f"The GPU that {_NOTE} names, or the flags of the ELF header, as `hip:gfx942`. It names the "
        "target of a file "
        "that lies alone.",
    ),
    FactSpec(
        id="hsaco.code_object",
        title="code object version",
        kind="token",
        provenance=True,
        group="header",
        place="byte",
        doc="From the ELF header's ABI version: it follows the compiler, not the kernel.",
    ),
    FactSpec(
        id="hsaco.launch",
        title="launch",
        kind="record",
        repeats="amdgcn.launch",
        group="header",
        place="byte",
        doc="As `amdgcn.launch`, from the note.",
    ),
    FactSpec(
        id="hsaco.parameters",
        title="kernel parameters",
        kind="sequence",
        unit="parameters",
        repeats="amdgcn.parameters",
        group="header",
        place="byte",
        doc="As `amdgcn.parameters`, from the note.",
    ),
    FactSpec(
        id="hsaco.descriptor",
        title="kernel descriptor",
        kind="record",
        group="header",
        comparable_when=_ARCH,
        place="byte",
        doc="The registers that the hardware is given for the first kernel (COMPUTE_PGM_RSRC1 to 3, code properties, "
        "argument preload), as hexadecimal numbers (LLVM's AMDGPU usage guide, Kernel Descriptor).",
    ),
    _repeated("registers", "vector registers per lane", "registers", ".vgpr_count", "registers"),
    _repeated("agprs", "accumulator registers per lane", "registers", ".agpr_count", lower=False),
    _repeated("sgprs", "scalar registers per wave", "registers", ".sgpr_count", lower=False),
    _repeated("vgpr_spills", "spilled vector registers", "registers", ".vgpr_spill_count", "spills"),
    _repeated("sgpr_spills", "spilled scalar registers", "registers", ".sgpr_spill_count", "spills"),
    _repeated("private_segment", "private segment per lane", "B", ".private_segment_fixed_size", "stack"),
    _repeated("static_lds", "static LDS", "B", ".group_segment_fixed_size", lower=False),
    _repeated("kernarg_bytes", "kernel argument segment", "B", ".kernarg_segment_size", lower=False),
    FactSpec(
        id="hsaco.code_bytes",
        title="code size",
        kind="quantity",
        unit="B",
        better="lower",
        role="code_bytes",
        comparable_when=_ARCH,
        group="resources",
        place="byte",
        doc="Bytes of all kernels and functions, by their symbols, without the padding behind them.",
    ),
    FactSpec(
        id="hsaco.code",
        title="code of the kernels",
        kind="sequence",
        unit="functions",
        comparable_when=_ARCH,
        group="resources",
        place="byte",
        doc="For each kernel and function, in the order of their code, its bytes and a digest of them. "
        "It says that the "
        "instructions differ; the facts of `amdgcn` say how, since the code object is not disassembled.",
    ),
    FactSpec(
        id="hsaco.fingerprint",
        title="fingerprint of what executes",
        kind="token",
        role="fingerprint",
        group="resources",
        place="byte",
        doc="First 128 bits of a SHA-256 over processor, code, kernel descriptors, arguments, data and relocations; "
        "without names, addresses, debug sections and notes of tools. Equal fingerprints: equal machine code.",
    ),
)

NORMALIZATIONS = (
    Normalization(
        id="debug-sections",
        title="debug sections",
        doc="Line tables and debug information, with their source paths.",
    ),
    Normalization(
        id="symbol-names",
        title="symbols and where they lie",
        doc="Kernels and functions are numbered in the order of their code; symbol, string, hash and "
        "dynamic sections, and "
        "the addresses of sections, are dropped.",
    ),
    Normalization(
        id="tool-notes", title="notes of tools", doc="`.comment` and notes other than the metadata."
    ),
    Normalization(
        id="padding",
        title="padding",
        doc="What lies in executable sections outside any function: `s_code_end` behind the code.",
    ),
    Normalization(
        id="target-spelling",
        title="spelling of the target",
        doc="`amdgcn-amd-amdhsa--gfx942` and `amdgpu9.42-amd-amdhsa-unknown-gfx942` are `gfx942`; features stay.",
    ),
    Normalization(
        id="code-object-version",
        title="code object version",
        doc="The ABI version of the header and `amdhsa.version` follow the compiler; hidden arguments stay.",
    ),
    Normalization(
        id="metadata-notes",
        title="metadata that repeats or describes",
        doc="Keys of the note other than arguments, sizes and counts.",
    ),
)
