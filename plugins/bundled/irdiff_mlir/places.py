"""What locations say, taken apart by the normalisation that takes it away."""

from __future__ import annotations

import re

LOCATION_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(:\d+:\d+)?')
"""A string in a location, and the line and column behind it where it is a file."""
_LINE_AND_COLUMN = re.compile(r":\d+:\d+")


class Places:
    """Collects the parts of locations, each kind in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.paths: list[str] = []
        self.names: list[str] = []

    def add(self, text: str) -> None:
        """One location."""
        pieces = text.split('"')
        if len(pieces) == 3 and "\\" not in text:
            before, string, rest = pieces
            self.lines.append(f'{before}""{rest}')
            (self.paths if _LINE_AND_COLUMN.match(rest) else self.names).append(string)
        elif len(pieces) == 1:
            self.lines.append(text)
        else:
            self.lines.append(LOCATION_STRING.sub(self._string, text))

    def _string(self, match: re.Match[str]) -> str:
        (self.paths if match[2] else self.names).append(match[1])
        return f'""{match[2] or ""}'
