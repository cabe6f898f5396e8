"""What the canonical form of PTX takes away, as digests: equal digests mean that rule explains nothing."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator

from irdiff_ptx.names import is_debug_label
from irdiff_ptx.reader import Listing

_FILE_AND_PLACE = re.compile(r"([^\s:\[\]@]+):(\d+):(\d+)")
_BYTE = re.compile(r"\.b8\s+(\d{1,3})\b")
_WORD = re.compile(r"\S+")
_NAMED_STRING = re.compile(r"// (?:DW_AT_(?:name|comp_dir|producer|linkage_name)|string offset)")
_SHORTEST_STRING = 4
_RESPELLED = (".reqntid", ".maxntid")
"""Lines whose number of words another rule changes."""


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


def debug_text(listing: Listing) -> Iterator[tuple[int, str, str]]:
    """(line, normalisation, text) of everything that is no code: paths, lines, comments, spacing."""
    places = [item[0] for item in listing.items]
    for line, text in listing.debug:
        if text.startswith(".file"):
            yield line, "source-paths", text
            continue
        # Where it stands matters: the same lines may be given to other instructions.
        directive, _, comment = text.partition("//")
        yield line, "source-lines", f"{directive.strip()} @{bisect_left(places, line)}"
        for path, row, column in _FILE_AND_PLACE.findall(comment):
            yield line, "source-paths", path
            yield line, "source-lines", f"{row}:{column}"
    skipped = {line for line, _ in listing.debug}
    for first, last in listing.sections:
        yield from _section(listing.lines, first, last)
        skipped.update(range(first, last + 1))
    for number, content in enumerate(listing.lines, 1):
        if number in skipped:
            continue
        code, mark, comment = content.partition("//")
        if mark:
            yield number, "comments", comment.strip()
        bare = code.strip()
        if (mark and not bare) or is_debug_label(bare.rstrip(":")) or bare.startswith(_RESPELLED):
            continue
        yield number, "spacing", _WORD.sub("x", code if not mark else code.rstrip())


def _section(lines: tuple[str, ...], first: int, last: int) -> Iterator[tuple[int, str, str]]:
    """A debug section: its strings (DWARF keeps names and paths as bytes) are paths, its numbers are lines.

    Lengths and offsets (``.b32``, ``.b64``) follow from the rest and are left out.
    """
    characters: list[str] = []
    named = False
    for number in range(first, last + 1):
        line = lines[number - 1]
        match = _BYTE.match(line.strip())
        value = int(match[1]) if match is not None else 0
        if 32 <= value < 127:
            named = named or (not characters and _NAMED_STRING.search(line) is not None)
            characters.append(chr(value))
            continue
        text = "".join(characters)
        is_string = match is not None and value == 0 and (named or len(text) >= _SHORTEST_STRING)
        characters.clear()
        named = False
        if text:
            yield number, "source-paths" if is_string else "source-lines", text
        if value:
            yield number, "source-lines", str(value)
