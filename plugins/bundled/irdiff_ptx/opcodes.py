"""The table of PTX instructions: which names exist, what each is counted as, how many bytes it moves.

Source: PTX ISA 9.0, chapter 9 "Instruction Set". A name is looked up by its first word, and by its second
where the ISA documents the pair as an instruction of its own (``cp.async``, ``mbarrier.try_wait``).
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_OPCODE = 160
"""Characters; the longest of the ISA has about 100. What is longer is not counted under its name."""

_FIRST_WORDS = (
    # 9.7.1 integer, 9.7.2 extended precision, 9.7.3-9.7.5 floating point
    "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk dp4a dp2a",
    "addc subc madc testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh",
    # 9.7.6-9.7.8 comparison, selection, logic, shift
    "set setp selp slct and or xor not cnot lop3 shf shl shr",
    # 9.7.9 data movement and conversion
    "mov shfl prmt ld ldu st prefetch prefetchu applypriority discard createpolicy isspacep cvta cvt mapa",
    "getctarank",
    # 9.7.10-9.7.11 texture and surface
    "tex tld4 txq istypep suld sust sured suq",
    # 9.7.12 control flow
    "bra brx call ret exit",
    # 9.7.13 synchronisation
    "membar fence atom red vote match activemask redux elect",
    # 9.7.14 warp matrices
    "mma ldmatrix stmatrix movmatrix",
    # 9.7.17 stack, 9.7.18 video, 9.7.19 miscellaneous
    "stacksave stackrestore alloca vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2",
    "vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4 brkpt nanosleep pmevent trap",
)
SINGLE = frozenset(word for words in _FIRST_WORDS for word in words.split())
"""Instructions known by their first word."""

PAIRS: dict[str, frozenset[str]] = {
    first: frozenset(second.split())
    for first, second in {
        "bar": "sync arrive red warp cta",
        "barrier": "sync arrive red cta cluster",
        "clusterlaunchcontrol": "try_cancel query_cancel",
        "cp": "async reduce",
        "griddepcontrol": "launch_dependents wait",
        "mbarrier": "init inval expect_tx complete_tx arrive arrive_drop test_wait try_wait pending_count",
        "multimem": "ld_reduce st red cp",
        "setmaxnreg": "inc dec",
        "tcgen05": "alloc dealloc relinquish_alloc_permit ld st wait wait::ld wait::st cp shift mma commit fence "
        "fence::before_thread_sync fence::after_thread_sync",
        "tensormap": "replace cp_fenceproxy",
        "wgmma": "fence commit_group wait_group mma_async",
        "wmma": "load store mma",
    }.items()
}
"""Instructions known by their first two words."""

TYPE_BITS: dict[str, int] = {
    **{f"{letter}{bits}": bits for letter in "bus" for bits in (8, 16, 32, 64)},
    "b128": 128,
    "f16": 16,
    "f16x2": 32,
    "bf16": 16,
    "bf16x2": 32,
    "f32": 32,
    "f32x2": 64,
    "f64": 64,
}
"""PTX ISA 5.2 "Types"."""

JUMPS = ("bra", "brx")
REFERRING = ("bra", "brx", "call", "mov")
"""How the opcodes of instructions begin that may refer to a label."""
ENDS = frozenset({"ret", "exit", "trap"})
_ARITHMETIC = frozenset({"fma", "mul", "add", "sub", "mad"})
_FLOAT = re.compile(r"(?:b?f\d+(?:x2)?|e\dm\d(?:x\d)?|tf32)\Z")


@lru_cache(maxsize=4096)
def is_known(opcode: str) -> bool:
    """Whether the instruction is in the table; its modifiers are kept as written and not judged."""
    words = opcode.split(".", 2)
    if words[0] in SINGLE:
        return True
    return len(words) > 1 and words[1] in PAIRS.get(words[0], ())


def turns(opcode: str) -> bool:
    """Whether control may go elsewhere behind the instruction."""
    return opcode in ENDS or opcode.startswith(JUMPS)


def access_bytes(words: list[str]) -> int | None:
    """Bytes that one thread moves: element type (the last word) times ``.v2``, ``.v4`` or ``.v8``."""
    bits = TYPE_BITS.get(words[-1])
    if bits is None:
        return None
    for word, count in (("v2", 2), ("v4", 4), ("v8", 8)):
        if word in words:
            return bits * count // 8
    return bits // 8


def memory_fact(words: list[str]) -> str | None:
    """The fact that an ``ld`` or ``st`` of global or shared memory is counted in, or None."""
    verb = {"ld": "loads", "ldu": "loads", "st": "stores"}.get(words[0])
    if verb is None or "async" in words or "bulk" in words:
        return None
    for word in words[1:]:
        space = word.partition("::")[0]
        if space in ("global", "shared"):
            return f"ptx.{space}_{verb}"
    return None


def fact_of(words: list[str]) -> str | None:
    """The fact whose tally takes the opcode in full, or None. ``words`` is the opcode split at its dots."""
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first == "mma" or (first, second) in {("wgmma", "mma_async"), ("tcgen05", "mma"), ("wmma", "mma")}:
        return "ptx.mma"
    if first in ("ldmatrix", "stmatrix", "movmatrix"):
        return "ptx.matrix_moves"
    if (first, second) in {
        ("wmma", "load"),
        ("wmma", "store"),
        *(("tcgen05", move) for move in ("ld", "st", "cp")),
    }:
        return "ptx.matrix_moves"
    if first in ("bar", "barrier"):
        return "ptx.barriers"
    if first in ("atom", "red") or (first, second) == ("multimem", "red"):
        return "ptx.atomics"
    if first == "cvt":
        return "ptx.conversions"
    if first in _ARITHMETIC and any(_FLOAT.match(word) for word in words[1:]):
        return "ptx.fp"
    if first in ("prmt", "mov"):
        return "ptx.packing"
    return _async_fact(words, first, second)


def _async_fact(words: list[str], first: str, second: str) -> str | None:
    if first == "cp" and second == "async":
        if any(word in ("wait_group", "wait_all") for word in words):
            return "ptx.async_waits"
        # commit_group and mbarrier.arrive move nothing.
        return None if words[-1] == "commit_group" or "mbarrier" in words[2:3] else "ptx.async_copies"
    if (first, second) in {("wgmma", "wait_group"), ("mbarrier", "try_wait"), ("mbarrier", "test_wait")}:
        return "ptx.async_waits"
    if first == "tcgen05" and second.startswith("wait"):
        return "ptx.async_waits"
    return None
