"""The facts of the PTX stage: their meaning, unit, direction and source."""

from __future__ import annotations

from irdiff.api import FactSpec

NAMES = r"%\w*\d|\$L\w+"
"""Registers and labels, as canonical lines and artifacts write them."""
_ARCH = ("target.arch",)
_ISA = "PTX ISA 9.0"
_SCOPES = " Statements inside inline-assembly blocks count like any other; a loop counts what its inner loops hold too."


def _tally(
    name: str,
    title: str,
    doc: str,
    *,
    unit: str = "instructions",
    better: str = "neutral",
    role: str | None = None,
    group: str,
    by_key: bool = False,
    comparable_when: tuple[str, ...] = (),
) -> FactSpec:
    return FactSpec(
        id=f"ptx.{name}",
        title=title,
        kind="tally",
        unit=unit,
        better="higher" if better == "higher" else "neutral",
        measure="key" if by_key else "total",
        key_unit="B" if by_key else "",
        role=role,
        group=group,
        comparable_when=comparable_when,
        doc=doc + _SCOPES,
    )


_WIDTH = (
    "Keys are bytes that one thread moves in one access: vector length times element size, from the opcode "
    f'({_ISA}, 9.7.9 "ld", "st"); generic addresses and asynchronous copies are not in it.'
)

COUNTED = (
    _tally(
        "predicated",
        "guarded instructions",
        f"Instructions that a predicate guards ({_ISA}, 9.3), `if` it holds or `unless` it does, by opcode.",
        group="instructions",
    ),
    _tally(
        "immediates",
        "literal operands",
        f"Literal numbers among the operands ({_ISA}, 4.5), as written: bounds, strides, masks, counts to wait for.",
        unit="operands",
        group="instructions",
    ),
    _tally(
        "opcodes",
        "instructions by opcode",
        f"Every instruction by its opcode with all modifiers ({_ISA}, chapter 9); unknown ones under their own name.",
        role="operations",
        group="instructions",
        comparable_when=_ARCH,
    ),
    _tally(
        "mma",
        "matrix multiply-accumulate instructions",
        f"mma.sync, wgmma.mma_async, tcgen05.mma, wmma.mma with shape and types as in the text ({_ISA}, 9.7.14 to "
        "9.7.16); the shape of tcgen05.mma is in its descriptor, see ttgir.mma.",
        group="tensor",
        comparable_when=_ARCH,
    ),
    _tally(
        "global_loads",
        "global loads by bytes per thread",
        _WIDTH,
        unit="accesses",
        better="higher",
        by_key=True,
        role="global_access_bytes",
        group="memory",
    ),
    _tally(
        "global_stores",
        "global stores by bytes per thread",
        _WIDTH,
        unit="accesses",
        better="higher",
        by_key=True,
        role="global_access_bytes",
        group="memory",
    ),
    _tally(
        "shared_loads",
        "shared loads by bytes per thread",
        _WIDTH,
        unit="accesses",
        better="higher",
        by_key=True,
        group="memory",
    ),
    _tally(
        "shared_stores",
        "shared stores by bytes per thread",
        _WIDTH,
        unit="accesses",
        better="higher",
        by_key=True,
        group="memory",
    ),
    _tally(
        "async_copies",
        "asynchronous copies",
        "`cp.async.cg 16`: cache operator and bytes per thread, then `src-size` where a source size is given "
        "(fewer bytes are read, the rest is zero: a masked copy), `ignore-src` for a predicate, and cache "
        "hints; the copies of 16 bytes are all keys that begin with `cp.async.cg 16`. Bulk and tensor copies by opcode "
        f'({_ISA}, 9.7.9 "cp.async", "cp.async.bulk").',
        unit="copies",
        group="asynchronous",
        comparable_when=_ARCH,
    ),
    _tally(
        "async_waits",
        "waits for asynchronous work",
        "cp.async.wait_group and wgmma.wait_group with how many groups may stay pending, bulk waits, "
        f"mbarrier.try_wait and test_wait, tcgen05.wait ({_ISA}, 9.7.9, 9.7.13, 9.7.15, 9.7.16).",
        unit="waits",
        group="asynchronous",
        comparable_when=_ARCH,
    ),
    _tally(
        "matrix_moves",
        "matrix moves",
        "ldmatrix, stmatrix, movmatrix, wmma.load and store, tcgen05.ld, st and cp by full opcode "
        f"({_ISA}, 9.7.14, 9.7.16).",
        group="tensor",
        comparable_when=_ARCH,
    ),
    _tally(
        "barriers",
        "barrier instructions",
        f"bar, barrier, bar.warp and barrier.cluster ({_ISA}, 9.7.13); `bar.sync` is barrier 0 for the whole "
        "CTA, another barrier or number of threads is in the key.",
        role="barrier_instructions",
        group="synchronisation",
    ),
    _tally(
        "fp",
        "floating-point fma, mul, add, sub",
        f"By full opcode with rounding, flush and type, mixed and packed ({_ISA}, 9.7.3 to 9.7.5).",
        role="contraction",
        group="arithmetic",
    ),
    _tally("conversions", "conversions", f"cvt by full opcode ({_ISA}, 9.7.9).", group="arithmetic"),
    _tally(
        "atomics",
        "atomic operations",
        f"atom and red by full opcode ({_ISA}, 9.7.13).",
        group="synchronisation",
    ),
    _tally(
        "packing",
        "packing and unpacking of registers",
        f'mov between one wide register and a group ({_ISA}, 9.7.9 "mov": `pack`, `unpack`), and prmt.',
        group="arithmetic",
    ),
)
"""Tallies counted for the whole kernel and for each loop."""

DECLARED = (
    FactSpec(
        id="ptx.target",
        title="target",
        kind="token",
        role="target",
        group="header",
        doc=f"The GPU of `.target` ({_ISA}, 11.1.2), as `cuda:90`. It names the target of a PTX file that lies alone.",
    ),
    FactSpec(
        id="ptx.header",
        title="PTX header",
        kind="record",
        group="header",
        doc=f"`.version`, `.target` with its suffix, `.address_size` ({_ISA}, 11.1). The version follows the "
        "compiler, not the kernel: it is provenance and no part of the canonical form.",
    ),
    FactSpec(
        id="ptx.parameters",
        title="kernel parameters",
        kind="sequence",
        unit="parameters",
        group="header",
        doc=f"Type, space and alignment of each parameter of the entry, in order ({_ISA}, 5.1.6 and 11.2).",
    ),
    FactSpec(
        id="ptx.launch_bounds",
        title="launch bounds",
        kind="record",
        unit="threads",
        group="header",
        doc=f"`.reqntid`, `.maxntid`, `.maxnreg`, `.minnctapersm` and cluster directives of the entry ({_ISA}, 11.4 "
        "and 11.7); sizes of 1 at the end are left out; what is not there is not bounded.",
    ),
    FactSpec(
        id="ptx.virtual_registers",
        title="virtual registers declared",
        kind="tally",
        unit="names",
        group="header",
        comparable_when=_ARCH,
        doc=f"Names that `.reg` declares, by type ({_ISA}, 5.4): a namespace without limit, never comparable with "
        "physical registers. `%r<196>` declares 196.",
    ),
    FactSpec(
        id="ptx.local_bytes",
        title="local memory declared",
        kind="quantity",
        unit="B",
        better="lower",
        group="memory",
        doc=f"Bytes of `.local` variables per thread ({_ISA}, 5.1.5): arrays that did not fit "
        "registers. Spills come later, in ptxas.",
    ),
)

FACTS = (*DECLARED, *COUNTED)
TALLIES = tuple(spec.id for spec in COUNTED)
