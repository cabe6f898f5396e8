"""What the canonical form of PTX takes away, as digests: equal digests mean that rule explains nothing."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import compress

from irdiff_ptx.reader import Listing

_FILE_AND_PLACE = re.compile(r"([^\s:\[\]@]+):(\d+):(\d+)")
_BYTE = re.compile(r"\s*\.b8\s+(\d{1,3})\b")
_NAMED_STRING = re.compile(r"// (?:DW_AT_(?:name|comp_dir|producer|linkage_name)|string offset)")
_SHORTEST_STRING = 4
ASSERTED = re.compile(r"(\.global\b[^\[={]*\bassertFile_\d+)\[\d+\] = (\{[^{}]*\})")
"""The file that ``tl.device_assert`` prints, as bytes (Triton's ``AssertOpToLLVM`` names it ``assertFile_N``)."""


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


def debug_text(listing: Listing) -> Iterator[tuple[int, str, str]]:
    """(line, normalisation, text) of what line information says: paths and lines."""
    places = listing.items.numbers
    known: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for line in sorted((*listing.files, *listing.locations)):
        text = listing.lines[line - 1].strip()
        if text.startswith(".file"):
            yield line, "source-paths", text
            continue
        if text not in known:
            directive, _, comment = text.partition("//")
            found = _FILE_AND_PLACE.findall(comment)
            known[text] = directive.strip(), [(path, f"{row}:{column}") for path, row, column in found]
        # Where it stands matters: the same lines may be given to other instructions.
        yield line, "source-lines", f"{known[text][0]} @{bisect_left(places, line)}"
        for path, place in known[text][1]:
            yield line, "source-paths", path
            yield line, "source-lines", place
    for first, last in listing.sections:
        yield from _section(listing.lines, first, last)


def layout_text(listing: Listing) -> tuple[list[str], list[int], list[str]]:
    """The comments, and the lines without them with each word as ``x``: (comments, numbers of those lines, lines)."""
    kept = bytearray(b"\1") * len(listing.lines)
    for line in (*listing.files, *listing.locations):
        kept[line - 1] = 0
    for first, last in listing.sections:
        kept[first - 1 : last] = bytes(last - first + 1)
    lines, shapes = list(compress(listing.lines, kept)), list(compress(listing.shapes, kept))
    comments = [line[shape.comment] for line, shape in zip(lines, shapes, strict=True) if shape.comment]
    numbers = compress(range(1, len(listing.lines) + 1), kept)
    spaced = [(number, shape.spaced) for number, shape in zip(numbers, shapes, strict=True)]
    return (
        comments,
        [number for number, text in spaced if text is not None],
        [text for _, text in spaced if text is not None],
    )


def _section(lines: tuple[str, ...], first: int, last: int) -> Iterator[tuple[int, str, str]]:
    """A debug section: its strings (DWARF keeps names and paths as bytes) are paths, its numbers are lines.

    Lengths and offsets (``.b32``, ``.b64``) follow from the rest and are left out.
    """
    characters: list[str] = []
    is_named = False
    texts = lines[first - 1 : last]
    known = {text: _byte(text) for text in set(texts)}
    for number, each in enumerate(texts, first):
        value, is_byte, begins_named = known[each]
        if 32 <= value < 127:
            if not characters:
                is_named = begins_named
            characters.append(chr(value))
            continue
        if not characters and not value:
            continue
        text = "".join(characters)
        is_string = is_byte and value == 0 and (is_named or len(text) >= _SHORTEST_STRING)
        characters.clear()
        is_named = False
        if text:
            yield number, "source-paths" if is_string else "source-lines", text
        if value:
            yield number, "source-lines", str(value)


def _byte(text: str) -> tuple[int, bool, bool]:
    """The byte of a line of a section, or 0, whether there is one, and whether it may begin a string with a name."""
    found = _BYTE.match(text)
    if found is None:
        return 0, False, False
    return int(found[1]), True, _NAMED_STRING.search(text, found.end()) is not None
