"""What a canonical form takes away, as digests: equal digests mean that the rule explains nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


class Erased:
    """Collects dropped text by normalisation."""

    def __init__(self) -> None:
        self._parts: dict[str, hashlib._Hash] = {}

    def add(self, name: str, *texts: str) -> None:
        """Text that the normalisation ``name`` took away."""
        found = self._parts.get(name)
        if found is None:
            found = self._parts[name] = hashlib.sha256()
        for text in texts:
            found.update(text.encode("utf-8", "backslashreplace"))
            found.update(b"\0")

    def digests(self) -> dict[str, str]:
        """Normalisation to digest, in the order of the names."""
        return {name: self._parts[name].hexdigest()[:16] for name in sorted(self._parts)}


def digest(parts: Iterable[bytes | str]) -> str:
    """First 128 bits of a SHA-256, in hex; parts are kept apart by their lengths."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "backslashreplace") if isinstance(part, str) else part
        total.update(f"{len(data)}:".encode())
        total.update(data)
    return total.hexdigest()[:32]
