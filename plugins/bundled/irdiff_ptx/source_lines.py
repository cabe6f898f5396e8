"""The line of Python that a line of PTX comes from, by its ``.loc`` directives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from irdiff_ptx.reader import Listing

_FILE = re.compile(r'\.file\s+(\d{1,9})\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\.loc\s+(\d{1,9})\s+(\d{1,9})\s+\d{1,9}(?:,.*?\binlined_at\s+(\d{1,9})\s+(\d{1,9}))?")
_INLINED = re.compile(r"@\[ ([^\s:\[\]]+):(\d{1,9}):\d{1,9}")
"""LLVM's comment behind a ``.loc``: ``// standard.py:191:40 @[ softmax.py:14:32 ]``, from the inside out; there also
where the directive itself does not say ``inlined_at``."""
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""


def source_lines(listing: Listing, places: Iterable[int]) -> dict[int, str]:
    """``path:line`` for each of the lines of PTX in ``places``, in ascending order, that stands behind a ``.loc``.

    PTX ISA 9.0, 11.5.2 ``.loc``: it holds for what follows. Of an inlined function of Triton's library, the line
    that calls it. Line 0 means that the compiler does not say.
    """
    files = _files(listing.debug)
    by_name = {path.rpartition("/")[2]: path for path in files.values()}
    marks = [(number, text) for number, text in listing.debug if text.startswith(".loc")]
    read: dict[str, str | None] = {}
    known: dict[int, str] = {}
    where: str | None = None
    following = 0
    for place in places:
        if following < len(marks) and marks[following][0] <= place:
            while following < len(marks) and marks[following][0] <= place:
                following += 1
            text = marks[following - 1][1]
            if text not in read:
                found = _LOC.match(text)
                read[text] = None if found is None else _place(found, files) or _caller(text, by_name)
            where = read[text]
        if where is not None:
            known[place] = where
    return known


def _files(debug: Sequence[tuple[int, str]]) -> dict[str, str]:
    found = (_FILE.match(text) for _, text in debug)
    return {match[1]: match[3] or match[2] for match in found if match is not None}


def _place(loc: re.Match[str], files: dict[str, str]) -> str | None:
    path, line = files.get(loc[1]), loc[2]
    if path is not None and loc[3] is not None and _LIBRARY.search(path):
        path, line = files.get(loc[3]), loc[4]
    return f"{path}:{line}" if path is not None and line != "0" and not _LIBRARY.search(path) else None


def _caller(text: str, by_name: dict[str, str]) -> str | None:
    """The innermost line outside Triton's library, of the chain of calls in the comment."""
    for name, line in _INLINED.findall(text):
        path = by_name.get(name)
        if path is not None and not _LIBRARY.search(path) and line != "0":
            return f"{path}:{line}"
    return None
