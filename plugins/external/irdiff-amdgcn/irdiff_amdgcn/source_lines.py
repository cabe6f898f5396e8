"""The line of Python that a line of assembly comes from, by its ``.loc`` directives."""

from __future__ import annotations

import re

from irdiff_amdgcn.reader import Listing

_FILE = re.compile(r'(\d{1,9})\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"(\d{1,9})\s+(\d{1,9})\b")
_INLINED = re.compile(r"@\[ ([^\s:\[\]]+):(\d{1,9}):\d{1,9}")
"""LLVM's comment behind a ``.loc``: ``standard.py:191:40 @[ softmax.py:14:32 ]``, from the inside out."""
_LIBRARY = re.compile(r"(?:^|/)triton/language/")
"""Triton's own library: its lines are not the user's."""


def source_lines(listing: Listing) -> dict[int, str]:
    """``path:line`` of each instruction behind a ``.loc``; of an inlined function of Triton's library, who calls it."""
    files: dict[str, str] = {}
    for item in listing.debug:
        found = _FILE.match(item.operands) if item.word == ".file" else None
        if found is not None:
            files[found[1]] = f"{found[2]}/{found[3]}" if found[3] else found[2]
    by_name = {path.rpartition("/")[2]: path for path in files.values()}
    marks = [item for item in listing.debug if item.word == ".loc"]
    known: dict[int, str] = {}
    where: str | None = None
    following = 0
    for item in listing.items:
        if item.kind != "instruction":
            continue
        while following < len(marks) and marks[following].line <= item.line:
            where = _place(marks[following].operands, marks[following].comment, files, by_name)
            following += 1
        if where is not None:
            known[item.line] = where
    return known


def _place(text: str, comment: str, files: dict[str, str], by_name: dict[str, str]) -> str | None:
    found = _LOC.match(text)
    path = files.get(found[1]) if found is not None else None
    if found is not None and path is not None and found[2] != "0" and not _LIBRARY.search(path):
        return f"{path}:{found[2]}"
    for name, line in _INLINED.findall(comment):
        path = by_name.get(name)
        if path is not None and line != "0" and not _LIBRARY.search(path):
            return f"{path}:{line}"
    return None
