"""Spellings that changed between LLVM releases while the meaning did not.

Each fold is certain: the same bits of a constant, or an attribute that LLVM renamed one to one.
"""

from __future__ import annotations

import re
import struct

_FLOAT_BITS = re.compile(r"(?<![\w.])f0x([0-9A-Fa-f]{8})(?![0-9A-Fa-f])")
_INFINITY = re.compile(r"(?<=[ \[(<])([+-])inf(?=[,\s)\]>]|\Z)")
_NOCAPTURE = re.compile(
    r"\bnocapture((?: (?:readonly|writeonly|readnone|returned|nonnull|noundef))*)(?= |,|\)|\Z)"
)
_STRING = re.compile(r"(\"[^\"]*\")")
_STRIDE = re.compile(
    r"getelementptr (?<=\bgetelementptr )"  # begins with what it looks for: `re` skips to it
    r"((?:inbounds |nuw |nusw )*)(\w+|\[\d{1,9} x i8\]), (ptr(?: addrspace\(\d+\))? [^\s,()]+), "
    r"(i\d+) ([^\s,()]+)$",
    re.MULTILINE,
)
_CONSTANT = re.compile(r"-?[0-9]{1,18}")
_SIZES = {
    "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "half": 2, "bfloat": 2, "float": 4, "double": 8,
}  # fmt: skip
"""Bytes from one value to the next in memory, the same for all of Triton's targets."""
_NO_FREE = re.compile(r"\bnofree (?=(?:[a-z_]+(?:\([^(),]*\))? )*(?:readnone|readonly)\b)")
_NARROW = ("half", "bfloat", "fp128", "x86_fp80", "ppc_fp128")
_CANDIDATES = ("f0x", "inf", "nocapture")


def can_fold(text: str) -> bool:
    """Whether there may be something to fold in a text."""
    return any(candidate in text for candidate in _CANDIDATES)


def fold(text: str) -> str:
    """The text as LLVM 20 spells it.

    - ``f0x3F317218`` (LLVM 22: a float's own bits) is ``0x3FE62E4300000000`` (before: the bits of the
      double with that value);
    - ``+inf`` and ``-inf`` are the doubles' bits, on lines with no floating type but float and double;
    - ``nocapture`` is ``captures(none)`` (LLVM 21), which is printed after ``readonly`` and the like.
    """
    if not can_fold(text):
        return text
    if '"' not in text:
        return _fold_plain(text)
    narrow = any(name in text for name in _NARROW)
    return "".join(
        part if part.startswith('"') else _fold_plain(part, narrow=narrow) for part in _STRING.split(text)
    )


def _fold_plain(text: str, *, narrow: bool = False) -> str:
    text = _FLOAT_BITS.sub(lambda found: f"0x{_double_bits(int(found[1], 16)):016X}", text)
    if not narrow and not any(name in text for name in _NARROW):
        text = _INFINITY.sub(
            lambda found: "0x7FF0000000000000" if found[1] == "+" else "0xFFF0000000000000", text
        )
    return _NOCAPTURE.sub(lambda found: f"{found[1].lstrip()} captures(none)".strip(), text)


def _double_bits(bits: int) -> int:
    """Bits of the double that equals the float with these bits; a NaN keeps its sign and payload."""
    if bits & 0x7F800000 == 0x7F800000:
        return (bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    double: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return double


def by_stride(text: str) -> tuple[str, list[str]]:
    """Instructions, a line each, with addresses of one index by its stride in bytes, and the types that were written.

    ``getelementptr float, ptr %0, i64 %1`` is ``getelementptr [4 x i8], …`` (LLVM 22), and by 4 floats is by 16 bytes.
    """
    types: list[str] = []

    def spelled(found: re.Match[str]) -> str:
        flags, written, base, width, index = found.groups()
        size = _SIZES.get(written) or (int(written[1:-6]) if written[0] == "[" else 0)
        if not size:
            return found[0]
        if _CONSTANT.fullmatch(index):
            size, index = 1, str(size * int(index))
        spelling = f"getelementptr {flags}{'i8' if size == 1 else f'[{size} x i8]'}, {base}, {width} {index}"
        if spelling != found[0]:
            types.append(written)
        return spelling

    return _STRIDE.sub(spelled, text), types


def without_implied(text: str) -> str:
    """A head without ``nofree`` where ``readnone`` or ``readonly`` implies it: LLVM 22 writes both."""
    return _NO_FREE.sub("", text)
