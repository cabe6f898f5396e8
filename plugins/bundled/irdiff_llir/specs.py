"""The facts of the LLVM IR stage: their meaning, unit and source."""

from __future__ import annotations

from irdiff.api import FactSpec

NAMES_WRITTEN = r"%(?:\"[^\"]*\"|[-\w.$]+)"
"""Values and labels where they are used."""
NAMES = rf"{NAMES_WRITTEN}|(?<!\w)!\d+\b|^b\d+(?=:)"
"""What canonical lines number: values, labels, metadata."""
_ARCH = ("target.arch",)
_REF = "LLVM Language Reference"
_SCOPES = " A loop counts what its inner loops hold too."


def _tally(
    name: str,
    title: str,
    doc: str,
    *,
    unit: str = "instructions",
    group: str,
    comparable_when: tuple[str, ...] = (),
) -> FactSpec:
    return FactSpec(
        id=f"llir.{name}",
        title=title,
        kind="tally",
        unit=unit,
        group=group,
        comparable_when=comparable_when,
        doc=doc + _SCOPES,
    )


COUNTED = (
    _tally(
        "comparisons",
        "comparisons",
        f"`icmp` and `fcmp` by predicate ({_REF}, Other Operations).",
        group="instructions",
    ),
    _tally(
        "constants",
        "literal operands",
        f"Literal numbers among the operands, as written ({_REF}, Constants): no types, alignments, address spaces; "
        "inline assembly is left out.",
        unit="operands",
        group="instructions",
    ),
    _tally(
        "opcodes",
        "LLVM instructions by opcode",
        f'Every instruction of every function body by its opcode ({_REF}, "Instruction Reference"); types, flags and '
        "predicates are operands. Unknown opcodes under their own name.",
        group="instructions",
    ),
    _tally(
        "intrinsics",
        "intrinsic calls",
        f'Direct calls of functions named `llvm.…`, by full name ({_REF}, "Intrinsic Functions").',
        unit="calls",
        group="instructions",
        comparable_when=_ARCH,
    ),
    _tally(
        "inline_asm",
        "inline assembly",
        "Blocks of inline assembly by the opcode, with its width, of the first instruction that does the work: "
        "moves that set up a destination are passed over; the size of `cp.async` is added.",
        unit="blocks",
        group="instructions",
        comparable_when=_ARCH,
    ),
    _tally(
        "memory",
        "memory instructions",
        f"load, store, atomicrmw, cmpxchg with address space (0 generic, 1 global, 3 shared, 5 local; NVPTX and AMDGPU "
        f'alike) and type; volatile and atomic ordering are in the key ({_REF}, "Memory Access and '
        'Addressing Operations"). '
        "What inline assembly reads and writes is not in it.",
        group="memory",
    ),
    _tally(
        "libdevice",
        "device library functions",
        "Calls of `__nv_…`, `__ocml_…`, `__ockl_…`; a function that was inlined is seen only where it left "
        "a block label (`__nv_expf.exit`), is marked `inlined`, and makes the count an estimate. A library that is "
        "only configured is not in it.",
        unit="calls",
        group="arithmetic",
    ),
    _tally(
        "fast_math",
        "fast-math flags",
        f'Floating-point instructions that carry flags, by opcode and flags ({_REF}, "Fast-Math Flags").',
        group="arithmetic",
    ),
)
"""Tallies counted for the whole file and for each loop."""

DECLARED = (
    FactSpec(
        id="llir.kernel",
        title="kernel declaration",
        kind="record",
        group="header",
        doc="Calling convention (`ptx_kernel`, `amdgpu_kernel`, or `none`: Triton 3.1 marks kernels by "
        "`!nvvm.annotations`), arguments with address spaces, launch attributes (`nvvm.*`, `amdgpu-*`, "
        "annotations), target triple or `none`.",
    ),
    FactSpec(
        id="llir.shared_offsets",
        title="constant offsets into shared memory",
        kind="set",
        unit="B",
        group="memory",
        doc="Constant byte offsets that `getelementptr` adds to `@global_smem`, Triton's one shared-memory symbol: "
        "where the buffers of `ttgir.shared_allocs` begin. Offset 0 needs no instruction and is not in it.",
    ),
)

FACTS = (*DECLARED, *COUNTED)
TALLIES = tuple(spec.id for spec in COUNTED)
