"""Attribute and type aliases, resolved to their content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from irdiff_mlir import drift, forms
from irdiff_mlir.model import Alias

_REFERENCE = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"?'
    r"|#(?<![\w.]#)[A-Za-z_][\w$-]*(?![\w.<])|!(?<![\w.]!)[A-Za-z_][\w$-]*(?![\w.<])"
)
_MAX_LENGTH = 4_000
"""Content longer than this is left unresolved: aliases that double each other must not fill the memory."""


def unresolved(definitions: tuple[Alias, ...], aliases: Mapping[str, str]) -> tuple[tuple[int, str], ...]:
    """(line, why) of definitions whose content still names an alias: undefined, defined later, or too long."""
    defined = {alias.name for alias in definitions}
    found: list[tuple[int, str]] = []
    for alias in definitions:
        left = {match[0] for match in _REFERENCE.finditer(aliases[alias.name]) if match[0] in defined}
        if left:
            found.append(
                (alias.line, f"{alias.name} names {', '.join(sorted(left))}, which has no content here")
            )
    return tuple(found)


def resolve(definitions: tuple[Alias, ...], *, fold: bool) -> dict[str, str]:
    """Alias to content. An alias is defined before it is used, as MLIR's printer writes them."""
    resolved: dict[str, str] = {}
    for alias in definitions:
        content = inline(alias.text, resolved)
        resolved[alias.name] = drift.text(content) if fold else content
    return resolved


class Spelling:
    """Texts of one module in their newest spelling with aliases resolved, each made once."""

    def __init__(self, aliases: Mapping[str, str], *, old_names: bool) -> None:
        """``old_names``: whether some spelling of an older dialect occurs in the module."""
        self._aliases = aliases
        self._old_names = old_names
        self._known: dict[str, str] = {}

    def text(self, written: str) -> str:
        """Types or attributes as the newest dialect writes them."""
        found = self._known.get(written)
        if found is None:
            inlined = inline(written, self._aliases)
            found = self._known[written] = drift.text(inlined) if self._old_names else inlined
        return found


def inline(text: str, aliases: Mapping[str, str]) -> str:
    """Text with every alias replaced by its content."""
    if "#" not in text and "!" not in text:
        return text
    pieces, words = _cut(text) if len(text) <= forms.LONGEST else _parted(text)
    if not words:
        return text
    contents = [
        found if (found := aliases.get(word)) is not None and len(found) <= _MAX_LENGTH else word
        for word in words
    ]
    return forms.joined(pieces, contents)


def _parted(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A text cut at the words that may be aliases, and those."""
    pieces: list[str] = []
    words: list[str] = []
    start = 0
    for match in _REFERENCE.finditer(text):
        if match[0][0] != '"':
            pieces.append(text[start : match.start()])
            words.append(match[0])
            start = match.end()
    return (*pieces, text[start:]), tuple(words)


_cut = lru_cache(forms.MOST)(_parted)
