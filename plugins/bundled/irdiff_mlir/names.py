"""Names of values and blocks: what a name stands for where it is used.

MLIR reuses names in sibling regions and in functions; a region sees its own and those around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

VALUE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|(%[\w$.-]+)(?:#(\d{1,9}))?')
"""A string (skipped) or a use of a value: name, number of the result."""
DEFINITION = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|(%[\w$.-]+)(?=(?: =|:) )')
"""A string (skipped) or an argument of a region: ``%i = ...``, ``%x: i32``."""


class Names(Generic[T]):
    """A map with scopes, in one dictionary and a log of what each scope hid."""

    def __init__(self) -> None:
        self._now: dict[str, T] = {}
        self.find: Callable[[str], T | None] = self._now.get
        """What a name stands for here."""
        self._hidden: list[dict[str, T | None]] = [{}]

    def enter(self) -> None:
        """Begin a region."""
        self._hidden.append({})

    def leave(self) -> None:
        """End the innermost region: its names are gone, those it hid are back."""
        if len(self._hidden) == 1:
            return
        for name, before in self._hidden.pop().items():
            if before is None:
                self._now.pop(name, None)
            else:
                self._now[name] = before

    def define(self, name: str, meaning: T) -> None:
        """A name of the innermost region."""
        now, hidden = self._now, self._hidden[-1]
        if name not in hidden:
            hidden[name] = now.get(name)
        now[name] = meaning

    def define_all(self, names: Iterable[str], meaning: T) -> None:
        """Names of the innermost region, with one meaning."""
        now, hidden = self._now, self._hidden[-1]
        for name in names:
            if name not in hidden:
                hidden[name] = now.get(name)
            now[name] = meaning

    def find_own(self, name: str) -> T | None:
        """What the name stands for where the innermost region itself defines it: blocks are seen nowhere else."""
        return self._now.get(name) if name in self._hidden[-1] else None
