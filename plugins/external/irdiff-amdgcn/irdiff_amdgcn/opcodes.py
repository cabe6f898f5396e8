"""What the name of an AMDGPU opcode says by itself: stem, bytes of a memory access, work of a matrix instruction.

Names are those of LLVM's assembler (AMDGPU usage guide; the ISA documents of CDNA 1 to 4 and RDNA 3 and 4). An opcode
is its stem (``v_add``), then types (``_f32``), then how it is encoded (``_e64``).
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST = 80
"""Characters; the longest opcode has about 45. What is longer is not counted under its name."""

ENCODING = re.compile(r"(?:_(?:e32|e64|dpp8?|sdwa|gfx\d+))+\Z")
"""How an instruction is encoded, behind its types (``_e64``), which says nothing of what it computes."""
_TYPE = re.compile(
    r"(?:[bfiu]\d{1,3}|bf16(?:x2)?|f16x2|u8_d16(?:_hi)?|fp8|bf8|fp6|bf6|fp4|iu[48]|nc|legacy|dword(?:x\d+)?)\Z"
)
_TENSOR = re.compile(
    r"v_(?:mfma|smfmac|wmma|swmmac)(?:_scale(?:16)?)?_[a-z]+\d+_(\d{1,3})x(\d{1,3})x(\d{1,3})(?:_(\d{1,2})b)?_?[a-z]"
)
_MEMORY = re.compile(
    r"(global|buffer|flat|scratch|tbuffer|ds)_(load|store|read|write)(_lds|_async_to_lds|_async_from_lds|_to_lds)?"
    r"(2st64|2|_2addr(?:_stride64)?)?(_tr|_addtid|_format|_monitor|_transpose)?(?:_(\w+?))?\Z"
)
_SIZE = re.compile(
    r"(?:^|_)(?:dwordx(\d{1,2})|(dword)|([ui])?(?:b)?(\d{1,3})|([us]byte|[us]short|byte|short)|(x|xy|xyz|xyzw))(?=_|\Z)"
)
_SMALL = {"byte": 1, "ubyte": 1, "sbyte": 1, "short": 2, "ushort": 2, "sshort": 2}
_TEXELS = {"x": 4, "xy": 8, "xyz": 12, "xyzw": 16}
_ATOMIC = re.compile(
    r"(?:global|buffer|flat|scratch|image)_atomic_|ds_(?:add|sub|rsub|inc|dec|min|max|and|or|xor|mskor|cmpst|cmpstore|"
    r"storexchg|wrxchg|pk_add|cond_sub|sub_clamp|wrap|condxchg|append|consume|ordered_count)"
)
_CONTRACTION = re.compile(
    r"v_(?:dual_)?(?:pk_)?(?:fma|fmac|fmaak|fmamk|fma_mix|fma_mixlo|fma_mixhi|mad|mac|madak|madmk|mad_mix|mad_mixlo|"
    r"mad_mixhi|mul|add|sub|subrev|dot\d\w*|fma_dx9_zero|fmac_dx9_zero|mul_dx9_zero)_(?:pk_)?(?:legacy_)?b?f\d"
)


def base_of(opcode: str) -> str:
    """The opcode without how it is encoded: ``v_add_f32_e64`` is ``v_add_f32``."""
    return ENCODING.sub("", opcode)


def parts_of(opcode: str, operands: str) -> tuple[str, ...]:
    """The operations of one instruction: two of a dual one, ``v_dual_mov_b32 ... :: v_dual_lshlrev_b32 ...``."""
    if not opcode.startswith("v_dual_"):
        return (opcode,)
    _, found, second = operands.partition("::")
    other = second.split(None, 1)
    return (opcode, other[0]) if found and other else (opcode,)


@lru_cache(maxsize=8192)
def stem_of(opcode: str) -> str:
    """``v_add`` of ``v_add_f32_e64``; ``v_add`` of ``v_dual_add_f32`` too."""
    words = base_of(opcode).replace("v_dual_", "v_").split("_")
    while len(words) > 2 and _TYPE.match(words[-1]):
        words.pop()
    return "_".join(words)


@lru_cache(maxsize=8192)
def access_of(opcode: str) -> tuple[str, str, int, bool] | None:
    """(``global``, ``load`` or ``store``, bytes per lane, whether it moves between global memory and LDS directly).

    ``dwordx4`` is ``b128``; an access of two places (``ds_read2st64_b64``) moves both. None for any other opcode.
    """
    found = _MEMORY.match(base_of(opcode)) if len(opcode) <= LONGEST else None
    if found is None:
        return None
    space, verb, direct, twice, _, rest = found.groups()
    size = _bytes(rest or "")
    if size is None:
        return None
    direction = {"read": "load", "write": "store"}.get(verb, verb)
    return space, direction, size * (2 if twice else 1), direct is not None


def _bytes(text: str) -> int | None:
    found = _SIZE.search(text)
    if found is None:
        return None
    many, one, _, bits, small, texels = found.groups()
    if many is not None:
        return 4 * int(many)
    if one is not None:
        return 4
    if small is not None:
        return _SMALL[small]
    if texels is not None:
        return _TEXELS[texels]
    size, rest = divmod(int(bits), 8)
    return size if not rest and size in (1, 2, 4, 8, 12, 16, 32, 64) else None


@lru_cache(maxsize=1024)
def flops_of(opcode: str) -> int | None:
    """Operations of a matrix instruction by one wave, a multiplication and an addition each; None for any other.

    2·M·N·K of all its blocks. A sparse one (SMFMAC, SWMMAC) counts as the dense product that it stands for.
    """
    found = _TENSOR.match(opcode) if len(opcode) <= LONGEST else None
    if found is None:
        return None
    rows, columns, depth = int(found[1]), int(found[2]), int(found[3])
    blocks = int(found[4]) if found[4] else _block_count(opcode, rows, columns, depth)
    return 2 * rows * columns * depth * blocks


def _block_count(opcode: str, rows: int, columns: int, depth: int) -> int:
    """Blocks of an MFMA whose name does not say them: a one-block MFMA has at least the depth of its type's full rate.

    CDNA ISA, "Matrix arithmetic instructions": of 32x32 and 16x16 with 32-bit and 16-bit operands, the shapes of the
    least depth have two, four or sixteen blocks. Names with ``_2b_`` say it from LLVM 15 on.
    """
    if not opcode.startswith("v_mfma_") or "f64" in opcode:
        return 4 if opcode.startswith("v_mfma_f64_4x4x4") else 1
    bits = 32 if opcode.endswith(("f32", "xf32")) else 8 if opcode.endswith(("i8", "fp8", "bf8")) else 16
    if rows == columns == 4:
        return 16
    least = {32: 1, 16: 4 if "bf16" not in opcode or "1k" in opcode else 2, 8: 4}[bits]
    if depth > least:
        return 1
    return 2 if rows == 32 else 4


def is_contraction(opcode: str) -> bool:
    """Whether it is a floating-point fma, mul, add or sub."""
    return _CONTRACTION.match(opcode) is not None


def is_atomic(opcode: str) -> bool:
    """Whether it is an atomic operation of any memory."""
    return _ATOMIC.match(opcode) is not None
