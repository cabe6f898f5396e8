"""Digests of what the canonical form takes away: equal digests mean that a rule explains nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable


class Erased:
    """Collects dropped text by normalisation."""

    def __init__(self, normalizes: Callable[[str], bool]) -> None:
        """``normalizes``: whether a normalisation is on; one that is off takes nothing away."""
        self._on = normalizes
        self._texts: dict[str, list[str]] = {}

    def add(self, name: str, *texts: str) -> None:
        """Text that the normalisation ``name`` took away."""
        known = self._texts.get(name)
        if known is not None:
            known.extend(texts)
        elif self._on(name):
            self._texts[name] = list(texts)

    def digests(self) -> dict[str, str]:
        """Normalisation to digest, sorted by name."""
        return {
            name: hashlib.sha256("\0".join(texts).encode("utf-8", "backslashreplace")).hexdigest()[:16]
            for name, texts in sorted(self._texts.items())
        }
