"""The rules of the canonical form of SASS, each with what it takes away, and how the form writes names."""

from __future__ import annotations

from irdiff.api import Normalization

NAMES = r"(?<![\w.])(?:UR|UP|R|P|B|ur|up|r|p|b|L)\d+(?:_\d+)?(?!\w)"
"""Registers and labels of the canonical form, registers that keep their numbers too."""
NAMES_WRITTEN = r"(?<![\w.])(?:UR|UP|R|P|B|ur|up|r|p|b)\d+(?:_\d+)?(?!\w)"
"""Registers in both spellings."""

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
        title="symbol tables",
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
