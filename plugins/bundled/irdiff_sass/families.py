"""What each SASS opcode family does: the table behind ``sass.classes`` and the stage's coverage.

Families as NVIDIA lists them in "CUDA Binary Utilities" (instruction sets of Turing to Blackwell), and as seen
in cubins for sm_75 to sm_121. ``integer`` holds everything that moves or computes values in vector registers and
is no floating point: moves, selects, shuffles, votes, loads of constants and of special registers.
"""

from __future__ import annotations

UNCLASSIFIED = "unclassified"

CLASSES: dict[str, str] = {
    "tensor": """
        BMMA DMMA HMMA IMMA OMMA QMMA BGMMA HGMMA IGMMA QGMMA UTCHMMA UTCIMMA UTCQMMA UTCOMMA
        LDTM LDT STTM STT UTCCP UTCSHIFT UTCATOMSWS
    """,
    "async copy": """
        LDGSTS LDGDEPBAR DEPBAR UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAREDG UTMAPF UTMACMDFLUSH UTMACCTL
        SYNCS STAS REDAS
    """,
    "global": """
        LDG STG LD ST LDGMC ATOM ATOMG RED REDG CCTL SULD SUST SUATOM SURED
        TEX TLD TLD4 TMML TXD TXQ
    """,
    "shared": "LDS STS LDSM STSM ATOMS",
    "local": "LDL STL CCTLL",
    "barrier": """
        BAR WARPSYNC MEMBAR FENCE ERRBAR CGAERRBAR UCGABAR_ARV UCGABAR_WAIT WARPGROUP WARPGROUPSET ARRIVES
        UTCBAR ENDCOLLECTIVE B2R R2B
    """,
    "conversion": "F2F F2FP F2I F2IP I2F I2FP I2I I2IP FRND UF2F UF2FP UF2I UF2IP UI2F UI2FP UI2I UI2IP UFRND",
    "special function": "MUFU",
    "integer": """
        BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD
        ISCADD32I ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR SGXT VABSDIFF VABSDIFF4 VHMNMX VIADD
        VIADDMNMX VIMNMX VIMNMX3 MOV MOV32I MOVM PRMT SEL SHFL PLOP3 PSETP P2R R2P S2R CS2R R2UR LDC
        VOTE MATCH REDUX CREDUX GETLMEMBASE SETLMEMBASE QSPC
    """,
    "float": """
        FADD FADD2 FADD32I FCHK FFMA FFMA2 FFMA32I FHADD FHFMA FMNMX FMNMX3 FMUL FMUL2 FMUL32I FSEL FSET FSETP
        FSWZADD HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 DADD DFMA DMUL DSETP
    """,
    "control": """
        ACQBULK ACQSHMINIT BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL CCTLT CSMTEST ELECT EXIT JMP JMX JMXU KILL
        LEPC NANOSLEEP NOP PMTRIG PREEXIT RET RPCMOV SETCTAID USETMAXREG UVIRTCOUNT YIELD
    """,
    "uniform": """
        UBMSK UBREV UCLEA UFLO UIABS UIADD3 UIMAD UIMNMX UISETP ULDC LDCU ULEA ULEPC ULOP ULOP3 ULOP32I
        UMEMSETS UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR UVIADD
        UVIMNMX VOTEU S2UR CS2UR UREDGR USTGR UFADD UFFMA UFMUL UFMNMX UFSEL UFSET UFSETP
    """,
}
"""Class to its families."""

TABLE: dict[str, str] = {family: name for name, families in CLASSES.items() for family in families.split()}
"""Family to class."""

PREFIXES = (
    ("UTMA", "async copy"),
    ("UBLK", "async copy"),
    ("UTC", "tensor"),
    ("SYNCS", "async copy"),
    ("LDGSTS", "async copy"),
    ("LDG", "global"),
    ("STG", "global"),
    ("ATOMG", "global"),
    ("REDG", "global"),
    ("LDS", "shared"),
    ("STS", "shared"),
    ("ATOMS", "shared"),
    ("LDL", "local"),
    ("STL", "local"),
    ("MUFU", "special function"),
    ("FENCE", "barrier"),
    ("U", "uniform"),
)
"""Class of a family that the table lacks, by how it begins; the instruction still counts as not understood."""

TENSOR_SUFFIX = "MMA"


def class_of(family: str) -> str:
    """The class of a family, known or by its prefix; ``unclassified`` for any other."""
    known = TABLE.get(family)
    if known is not None:
        return known
    if is_mma(family):
        return "tensor"
    return next((name for prefix, name in PREFIXES if family.startswith(prefix)), UNCLASSIFIED)


def is_mma(family: str) -> bool:
    """Whether a family multiplies matrices: ``HMMA``, ``HGMMA``, ``UTCHMMA`` and the like."""
    return family.endswith(TENSOR_SUFFIX)


WIDTH_MODIFIERS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "96": 12, "128": 16, "256": 32}
"""Bytes per thread of a memory access by the last of these modifiers; 4 where there is none."""


def access_bytes(opcode: str) -> int:
    """Bytes per thread of a load or store, from its modifiers: the last of ``.64 .128 .U8 ...``, else 4."""
    for modifier in reversed(opcode.split(".")[1:]):
        if modifier in WIDTH_MODIFIERS:
            return WIDTH_MODIFIERS[modifier]
    return 4


def matrix_bytes(opcode: str) -> int:
    """Bytes per thread of LDSM or STSM: 4 for each 8x8 matrix of ``.M88.4`` (PTX ISA, ldmatrix)."""
    last = opcode.rpartition(".")[2]
    return 4 * int(last) if last in ("1", "2", "4") else 4
