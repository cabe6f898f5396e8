"""What the facts of SPIR-V mean, and what its canonical form folds."""

from __future__ import annotations

from irdiff.api import FactSpec, Normalization

SPEC = "SPIR-V specification 1.6"


def _fact(name: str, title: str, kind: str, doc: str, **more: object) -> FactSpec:
    return FactSpec(id=f"spirv.{name}", title=title, kind=kind, place="address", doc=doc, **more)  # type: ignore[arg-type]  # checked by the registry and by the stage's contract


FACTS = (
    _fact("version", "SPIR-V version", "token", f"Of the header. {SPEC}, 2.3."),
    _fact(
        "generator",
        "generator",
        "token",
        "The tool that wrote the module, and its own number. Registry spir-v.xml.",
        provenance=True,
    ),
    _fact("capabilities", "capabilities", "set", f"What a device must have. {SPEC}, 3.31."),
    _fact("extensions", "extensions", "set", "Extensions the module uses, but those for debugging."),
    _fact("memory_model", "memory model", "token", f"Addressing and memory model. {SPEC}, 3.4 and 3.5."),
    _fact("entry_points", "entry points", "set", f"Execution model and name of each. {SPEC}, 3.3."),
    _fact(
        "execution_modes",
        "execution modes",
        "record",
        f"What is declared of the entry point: subgroup size, workgroup size, contraction. {SPEC}, 3.6. With several "
        "entry points each field begins with its name.",
    ),
    _fact(
        "opcodes",
        "instructions",
        "tally",
        "Instructions in functions by opcode, whole and by loop; debug instructions are none.",
        unit="instructions",
    ),
    _fact("variables", "variables", "tally", f"Variables by storage class. {SPEC}, 3.7.", unit="variables"),
    _fact(
        "global_loads",
        "loads from global memory",
        "tally",
        "OpLoad through a pointer to CrossWorkgroup, by bytes of one access; what is loaded by a call is a call.",
        unit="instructions",
        better="higher",
        measure="key",
        key_unit="B",
        role="global_access_bytes",
    ),
    _fact(
        "global_stores",
        "stores to global memory",
        "tally",
        "OpStore through a pointer to CrossWorkgroup, by bytes of one access.",
        unit="instructions",
        better="higher",
        measure="key",
        key_unit="B",
        role="global_access_bytes",
    ),
    _fact(
        "shared_loads",
        "loads from shared memory",
        "tally",
        "OpLoad through a pointer to Workgroup, by bytes.",
        unit="instructions",
    ),
    _fact(
        "shared_stores",
        "stores to shared memory",
        "tally",
        "OpStore through a pointer to Workgroup, by bytes.",
        unit="instructions",
    ),
    _fact(
        "atomics",
        "atomic instructions",
        "tally",
        f"By opcode. {SPEC}, 3.52.18.",
        unit="instructions",
        better="lower",
    ),
    _fact(
        "barriers",
        "barriers",
        "tally",
        f"OpControlBarrier and OpMemoryBarrier. {SPEC}, 3.52.20.",
        unit="instructions",
        better="lower",
        role="barrier_instructions",
    ),
    _fact(
        "calls",
        "calls of imported functions",
        "tally",
        "Functions without a body by the name they are linked by: block loads, matrix products and mathematics of "
        "Intel's OpenCL extensions are called so.",
        unit="calls",
    ),
    _fact(
        "matrix",
        "matrix products",
        "tally",
        "Cooperative and subgroup matrix multiplications by opcode, and calls whose name says matrix_mad or "
        "MatrixMultiplyAccumulate.",
        unit="instructions",
    ),
)

NORMALIZATIONS = (
    Normalization(
        id="debug-info",
        title="debug information",
        doc="Lines, sources, strings and the instructions of debug sets are dropped, and declarations only they use.",
    ),
    Normalization(id="names", title="names of ids", doc="OpName and OpMemberName are dropped."),
    Normalization(id="id-numbers", title="numbers of ids", doc="Ids are numbered in order of first use."),
    Normalization(id="generator", title="generator", doc="The header is dropped but for the version."),
)
