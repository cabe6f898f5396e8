"""The line of Python that a line of PTX comes from, by its ``.loc`` directives."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from irdiff_ptx.reader import Listing

_FILE = re.compile(r'\.file\s+(\d{1,9})\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\.loc\s+(\d{1,9})\s+(\d{1,9})\s+\d{1,9}(?:,.*?\binlined_at\s+(\d{1,9})\s+(\d{1,9}))?")
_DIGITS = 9
_INLINED = re.compile(r"@\[ ([^\s:\[\]]+):(\d{1,9}):\d{1,9}")
"""LLVM's comment behind a ``.loc``: ``// standard.py:191:40 @[ softmax.py:14:32 ]``, from the inside out; there also
where the directive itself does not say ``inlined_at``."""
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""


def source_lines(listing: Listing, places: Sequence[int]) -> dict[int, str]:
    """``path:line`` for each of the lines of PTX in ``places``, in ascending order, that stands behind a ``.loc``.

    PTX ISA 9.0, 11.5.2 ``.loc``: it holds for what follows. Of an inlined function of Triton's library, the line
    that calls it. Line 0 means that the compiler does not say.
    """
    files = _files(listing.debug)
    library = {number for number, path in files.items() if _LIBRARY.search(path)}
    by_name = {path.rpartition("/")[2]: path for path in files.values()}
    marks = [(number, text) for number, text in listing.debug if text.startswith(".loc")]
    starts = [*(bisect_left(places, number) for number, _ in marks), len(places)]
    read: dict[str, str | None] = {}
    known: list[str | None] = []
    for (_, text), begin, end in zip(marks, starts[:-1], starts[1:], strict=True):
        if begin < end:
            if text not in read:
                read[text] = _plain(text, files, library) or _where(text, files, library, by_name)
            known += [read[text]] * (end - begin)
    return {
        place: where for place, where in zip(places[starts[0] :], known, strict=True) if where is not None
    }


def _files(debug: Sequence[tuple[int, str]]) -> dict[str, str]:
    found = (_FILE.match(text) for _, text in debug if text.startswith(".file"))
    return {match[1]: match[3] or match[2] for match in found if match is not None}


def _plain(text: str, files: dict[str, str], library: set[str]) -> str | None:
    """Of most directives: nothing inlined, four words."""
    words = text.split(None, 4)
    if len(words) < 4 or words[1] in library or words[1] not in files or "inlined_at" in text:
        return None
    _, number, line, column = words[:4]
    is_whole = line.isdecimal() and len(line) <= _DIGITS and column[0].isdecimal()
    return f"{files[number]}:{line}" if is_whole and line != "0" else None


def _where(text: str, files: dict[str, str], library: set[str], by_name: dict[str, str]) -> str | None:
    loc = _LOC.match(text)
    if loc is None:
        return None
    number, line, caller, called_at = loc.groups()
    if number in library and caller is not None:
        number, line = caller, called_at
    if number in files and number not in library and line != "0":
        return f"{files[number]}:{line}"
    return _caller(text, by_name)


def _caller(text: str, by_name: dict[str, str]) -> str | None:
    """The innermost line outside Triton's library, of the chain of calls in the comment."""
    for name, line in _INLINED.findall(text):
        path = by_name.get(name)
        if path is not None and not _LIBRARY.search(path) and line != "0":
            return f"{path}:{line}"
    return None
