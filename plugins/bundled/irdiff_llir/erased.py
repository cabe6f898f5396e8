"""What the canonical form of LLVM IR takes away, as digests: equal digests mean that rule explains nothing."""

from __future__ import annotations

import hashlib
import re

_ASSERTED = re.compile(r'(@assertFile_\d+ = [^"\[]*)\[\d+ x i8\] c("[^"]*")')


class Erased:
    """Collects dropped text by normalisation."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}

    def add(self, name: str, *texts: str) -> None:
        """Text that the normalisation ``name`` took away."""
        self._texts.setdefault(name, []).extend(texts)

    def digests(self) -> dict[str, str]:
        """Normalisation to digest, in the order of the names."""
        return {name: _digest(self._texts[name]) for name in sorted(self._texts)}


def _digest(texts: list[str]) -> str:
    joined = "\0".join([*texts, ""])
    return hashlib.sha256(joined.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def without_asserted_file(text: str) -> tuple[str, str]:
    """A global without the path in it, and the path, where it is the file that ``tl.device_assert`` prints.

    Its length is in the type (Triton's ``AssertOpToLLVM`` names these globals ``assertFile_N``).
    """
    found = _ASSERTED.match(text)
    return (f"{found[1]}path{text[found.end() :]}", found[2]) if found is not None else (text, "")
