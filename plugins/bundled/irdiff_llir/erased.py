"""What the canonical form of LLVM IR takes away, as digests: equal digests mean that rule explains nothing."""

from __future__ import annotations

import hashlib


class Erased:
    """Collects dropped text by normalisation."""

    def __init__(self) -> None:
        self._hashes: dict[str, hashlib._Hash] = {}

    def add(self, name: str, *texts: str) -> None:
        """Text that the normalisation ``name`` took away."""
        found = self._hashes.get(name)
        if found is None:
            found = self._hashes[name] = hashlib.sha256()
        for text in texts:
            found.update(text.encode("utf-8", "backslashreplace"))
            found.update(b"\0")

    def digests(self) -> dict[str, str]:
        """Normalisation to digest, in the order of the names."""
        return {name: self._hashes[name].hexdigest()[:16] for name in sorted(self._hashes)}
