"""The line of Python that a line of PTX comes from, by its ``.loc`` directives."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import chain, islice, repeat
from operator import sub
from typing import cast

from irdiff_ptx.reader import Listing

_FILE = re.compile(r'\.file\s+(\d{1,9})\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\.loc\s+(\d{1,9})\s+(\d{1,9})\s+\d{1,9}(?:,.*?\binlined_at\s+(\d{1,9})\s+(\d{1,9}))?")
_INLINED = re.compile(r"@\[ ([^\s:\[\]]+):(\d{1,9}):\d{1,9}")
"""LLVM's comment behind a ``.loc``: ``// standard.py:191:40 @[ softmax.py:14:32 ]``, from the inside out; there also
where the directive itself does not say ``inlined_at``."""
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""


def source_lines(listing: Listing) -> dict[int, str]:
    """``path:line`` for each line of an item, in ascending order, that stands behind a ``.loc``.

    PTX ISA 9.0, 11.5.2 ``.loc``: it holds for what follows. Of an inlined function of Triton's library, the line
    that calls it. Line 0 means that the compiler does not say.
    """
    locations, places = listing.locations, listing.items.numbers
    if not locations:
        return {}
    starts = [*map(bisect_left, repeat(places), locations), len(places)]
    lengths = map(sub, islice(starts, 1, None), starts)
    wheres = _wheres(listing)
    known = chain.from_iterable(map(repeat, wheres, lengths))
    found = dict(zip(islice(places, starts[0], None), known, strict=True))
    for where, start, end in zip(wheres, starts[:-1], starts[1:], strict=True) if None in wheres else ():
        if where is None:
            for place in places[start:end]:
                found.pop(place, None)
    return cast("dict[int, str]", found)


def _wheres(listing: Listing) -> list[str | None]:
    """What each ``.loc`` says; most by their file and line alone, the others by their whole text."""
    files = _files(listing)
    library = {number for number, path in files.items() if _LIBRARY.search(path)}
    by_name = {path.rpartition("/")[2]: path for path in files.values()}
    lines, shapes = listing.lines, listing.shapes
    keys = [lines[number - 1][shapes[number - 1].source] for number in listing.locations]
    plain: dict[str, str | None] = {}
    for key in set(keys):
        number, _, line = key.partition(" ")
        is_said = number in files and number not in library and line != "0"
        plain[key] = f"{files[number]}:{line}" if is_said else None
    if None not in plain.values():
        return [*map(plain.__getitem__, keys)]
    read: dict[str, str | None] = {}
    found: list[str | None] = []
    for key, place in zip(keys, listing.locations, strict=True):
        where = plain[key]
        if where is None:
            text = lines[place - 1]
            if text not in read:
                read[text] = _where(text.strip(), files, library, by_name)
            where = read[text]
        found.append(where)
    return found


def _files(listing: Listing) -> dict[str, str]:
    found = (_FILE.match(listing.lines[number - 1].strip()) for number in listing.files)
    return {match[1]: match[3] or match[2] for match in found if match is not None}


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
