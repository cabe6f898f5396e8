"""Types as text and taken apart: tensors, memory descriptors, pointers; lists split at their own commas."""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

import msgspec

_BRACKET = re.compile(r'<|>|,|\(|\)|->| : |"[^"\\]*(?:\\.[^"\\]*)*"?|\{|\}|\[|\]| to | \* ')
_SHAPED = re.compile(r"(?:tensor|!ttg\.memdesc|!tt\.tensordesc|memref|vector)?<((?:[\d?]+x)*)")
_BITS = re.compile(r"(?:bf|f|i|si|ui|tf)(\d+)")
_OPEN = frozenset("<([{")
_CLOSE = frozenset(">)]}")


class Shaped(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """``tensor<64x32xf16, #layout>`` or ``!ttg.memdesc<2x64x32xf16, #layout, #smem, mutable>``."""

    shape: tuple[str, ...]
    """Sizes as written; ``?`` where dynamic."""
    element: str
    parameters: tuple[str, ...] = ()
    """Layout, memory space, ``mutable``, shape of the allocation: as written, aliases resolved."""

    @property
    def text(self) -> str:
        """``64x32xf16``: the type without its layout."""
        return "x".join((*self.shape, self.element))

    @property
    def layout(self) -> str:
        """Its layout, or ``""``."""
        return self.parameters[0] if self.parameters and self.parameters[0].startswith("#") else ""

    @property
    def bits(self) -> int | None:
        """Size in bits; None where a size or the element's is not known."""
        width = element_bits(self.element)
        if width is None or not all(size.isdigit() and len(size) < 19 for size in self.shape):
            return None
        return prod((int(size) for size in self.shape), start=1) * width


MOST = 2048
"""Types and lists remembered: a kernel has dozens."""
LONGEST = 2_048
"""Characters of a text that is remembered; a longer one is read each time."""


@lru_cache(MOST)
def shaped(text: str) -> Shaped | None:
    """Take a tensor or memory descriptor type apart; None for any other type."""
    match = _SHAPED.match(text)
    if match is None or not text.endswith(">"):
        return None
    parts = split(text[match.end() : -1])
    if not parts or not parts[0]:
        return None
    return Shaped(shape=tuple(match[1].split("x")[:-1]), element=parts[0], parameters=tuple(parts[1:]))


def element_bits(element: str) -> int | None:
    """Bits of a number or pointer type: 16 for ``bf16``, 8 for ``f8E4M3FN``, 64 for a pointer."""
    if element.startswith("!tt.ptr"):
        return 64
    match = _BITS.match(element)
    return int(match[1]) if match and len(match[1]) < 6 else None


@lru_cache(MOST)
def pointee(element: str) -> str | None:
    """``f16`` of ``!tt.ptr<f16>`` or ``!tt.ptr<f16, 3>``; None for what is no pointer."""
    if not element.startswith("!tt.ptr<") or not element.endswith(">"):
        return None
    return split(element[len("!tt.ptr<") : -1])[0]


@lru_cache(MOST)
def tile(text: str) -> str:
    """``64x32xf16`` for a tensor, memory descriptor or tensor of pointers to ``f16``, ``f16`` for a scalar."""
    found = shaped(text) or shaped(pointee(text) or "")
    if found is None:
        return pointee(text) or text
    return "x".join((*found.shape, pointee(found.element) or found.element))


def layout(text: str) -> str:
    """Layout of a tensor or memory descriptor, or ``""``."""
    found = shaped(text)
    return found.layout if found else ""


def split(text: str, separator: str = ",") -> tuple[str, ...]:
    """Parts of a list at the separators (``,``, `` : ``, `` to `` or ``->``) outside any bracket or string."""
    if separator not in text:
        return (text.strip(),)
    return _split(text, separator) if len(text) <= LONGEST else _parts(text, separator)


def _parts(text: str, separator: str) -> tuple[str, ...]:
    parts: list[str] = []
    depth = start = 0
    for match in _BRACKET.finditer(text):
        token = match[0]
        if token == separator and depth <= 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
        elif token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth -= 1
    parts.append(text[start:].strip())
    return tuple(parts)


_split = lru_cache(2 * MOST)(_parts)


def listed(text: str) -> tuple[str, ...]:
    """Types of a list that may stand in parentheses: ``(i32, f16)``, ``()``, ``f16``."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return split(text) if text.strip() else ()


def enclosed(text: str, start: int) -> str:
    """What stands in the bracket that opens at ``start``; up to the end where it is not closed."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        if match[0] in _OPEN:
            depth += 1
        elif match[0] in _CLOSE:
            depth -= 1
            if depth == 0:
                return text[start + 1 : match.start()]
    return text[start + 1 :]
