"""What the canonical form of PTX takes away, as digests: equal digests mean that rule explains nothing."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import compress

from irdiff_ptx.names import is_debug_label
from irdiff_ptx.reader import Listing

_FILE_AND_PLACE = re.compile(r"([^\s:\[\]@]+):(\d+):(\d+)")
_BYTES = re.compile(r"^(?:[^\S\n]*\.b8[^\S\n]+(\d{1,3})\b)?(.*)$", re.MULTILINE)
_WORD = re.compile(r"\S+")
_NAMED_STRING = re.compile(r"// (?:DW_AT_(?:name|comp_dir|producer|linkage_name)|string offset)")
_SHORTEST_STRING = 4
_RESPELLED = (".reqntid", ".maxntid")
"""Lines whose number of words another rule changes."""


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
    places = [item[0] for item in listing.items]
    known: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for line, text in listing.debug:
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
    for line, _ in listing.debug:
        kept[line - 1] = 0
    for first, last in listing.sections:
        kept[first - 1 : last] = bytes(last - first + 1)
    texts = list(listing.lines)
    comments: list[str] = []
    known: dict[str, tuple[str | None, str | None]] = {}
    for index, content in enumerate(texts):
        if kept[index] and ("//" in content or "$L__" in content or "ntid" in content):
            if content not in known:
                known[content] = _comment_and_code(content)
            comment, code = known[content]
            if comment is not None:
                comments.append(comment)
            if code is None:
                kept[index] = 0
            else:
                texts[index] = code
    spaced = _WORD.sub("x", "\n".join(compress(texts, kept))).split("\n") if any(kept) else []
    return comments, list(compress(range(1, len(texts) + 1), kept)), spaced


def _comment_and_code(content: str) -> tuple[str | None, str | None]:
    """(comment, code) of a line; None for a comment that is not there and for code of which other rules speak."""
    code, mark, comment = content.partition("//")
    bare = code.strip()
    spoken_of = (mark and not bare) or is_debug_label(bare.rstrip(":")) or bare.startswith(_RESPELLED)
    return comment.strip() if mark else None, None if spoken_of else code.rstrip() if mark else code


def _section(lines: tuple[str, ...], first: int, last: int) -> Iterator[tuple[int, str, str]]:
    """A debug section: its strings (DWARF keeps names and paths as bytes) are paths, its numbers are lines.

    Lengths and offsets (``.b32``, ``.b64``) follow from the rest and are left out.
    """
    characters: list[str] = []
    named = False
    for number, (digits, rest) in enumerate(_BYTES.findall("\n".join(lines[first - 1 : last])), first):
        value = int(digits or 0)
        if 32 <= value < 127:
            if not characters:
                named = "//" in rest and _NAMED_STRING.search(rest) is not None
            characters.append(chr(value))
            continue
        if not characters and not value:
            continue
        text = "".join(characters)
        is_string = digits != "" and value == 0 and (named or len(text) >= _SHORTEST_STRING)
        characters.clear()
        named = False
        if text:
            yield number, "source-paths" if is_string else "source-lines", text
        if value:
            yield number, "source-lines", str(value)
