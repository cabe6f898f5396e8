"""The line of Python that a line of PTX comes from, by its ``.loc`` directives."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Sequence

from irdiff_ptx.reader import Listing

_FILE = re.compile(r'\.file\s+(\d{1,9})\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\.loc\s+(\d{1,9})\s+(\d{1,9})\s+\d{1,9}(?:,.*?\binlined_at\s+(\d{1,9})\s+(\d{1,9}))?")
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""


def source_lines(listing: Listing, places: Iterable[int]) -> dict[int, str]:
    """``path:line`` for each of the lines of PTX in ``places`` that stands behind a ``.loc``.

    PTX ISA 9.0, 11.5.2 ``.loc``: it holds for what follows. Of an inlined function of Triton's library, the line
    that calls it. Line 0 means that the compiler does not say.
    """
    files = _files(listing.debug)
    marks: list[tuple[int, str | None]] = []
    for number, text in listing.debug:
        found = _LOC.match(text)
        if found is not None:
            marks.append((number, _place(found, files)))
    numbers = [number for number, _ in marks]
    known: dict[int, str] = {}
    for place in places:
        index = bisect.bisect_right(numbers, place) - 1
        where = marks[index][1] if index >= 0 else None
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
    return f"{path}:{line}" if path is not None and line != "0" else None
