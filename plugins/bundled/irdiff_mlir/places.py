"""What locations say, taken apart by the normalisation that takes it away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, compress

from irdiff_mlir.model import LocationAliases, Locations

LOCATION_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(:\d+:\d+)?')
"""A string in a location, and the line and column behind it where it is a file."""
_STRING = re.compile(r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"')
_LINE_AND_COLUMN = re.compile(r":\d+:\d+")


class Places:
    """Collects the parts of locations, each kind in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.paths: list[str] = []
        self.names: list[str] = []

    def add_definitions(self, found: LocationAliases) -> None:
        """Definitions of locations, their numbers before them."""
        texts = self._without_strings(found.texts)
        heads = [f"{ordinal} {name}" for ordinal, name in zip(found.ordinals, found.names, strict=True)]
        self.lines += chain.from_iterable(zip(heads, texts, strict=True))

    def add_carried(self, found: Locations) -> None:
        """Locations of lines, their numbers before them."""
        ordinals, trailing, inner = list(map(str, found.ordinals)), found.trailing, found.inner
        start = 0
        odd = {*inner, *(at for at, text in enumerate(trailing) if '"' in text)}
        for at in sorted(odd):
            self.lines += chain.from_iterable(zip(ordinals[start:at], trailing[start:at], strict=True))
            texts = (*inner.get(at, ()), trailing[at])
            self.lines += (ordinals[at], *self._without_strings(texts))
            start = at + 1
        self.lines += chain.from_iterable(zip(ordinals[start:], trailing[start:], strict=True))

    def _without_strings(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts with their strings emptied; those are paths where a line and a column follow, else names."""
        joined = "\n".join(texts)
        pieces = joined.split('"')
        if "\\" in joined or len(pieces) % 2 == 0 or "\n" in "".join(pieces[1::2]):
            pieces = _STRING.split(joined)
        strings = pieces[1::2]
        if not strings:
            return texts
        position = _LINE_AND_COLUMN.match
        files = [behind[:1] == ":" and position(behind) is not None for behind in pieces[2::2]]
        self.paths += compress(strings, files)
        self.names += [string for string, is_file in zip(strings, files, strict=True) if not is_file]
        return '""'.join(pieces[::2]).split("\n")
