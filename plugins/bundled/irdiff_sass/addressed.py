"""Lines of instructions as nvdisasm writes them: ``        /*0010*/              @!P0 LDG.E R2, desc[UR4][R2.64] ;``.

All are parted at once by what is alike in each; what is written otherwise is left to others.
"""

from __future__ import annotations

import re
from itertools import repeat

LINE_ENDS = "\r\v\f\x1c\x1d\x1e"
"""What ends a line in ASCII beside a line feed."""
HEAD = r"\n {8}/\*[0-9a-f]{4,8}\*/ {13}"
"""What stands before guard and opcode."""
_HEADS = re.compile(HEAD)
_ADDRESSES = re.compile(HEAD.replace("[0-9a-f]{4,8}", "([0-9a-f]{4,8})"))


def with_line_feeds(text: str) -> str:
    """A text whose lines end in line feeds, whatever they ended in."""
    if text.isascii() and not any(end in text for end in LINE_ENDS):
        return text
    return "\n".join(text.splitlines())


def behind_addresses(text: str) -> tuple[list[str], dict[int, str]]:
    """(what stands behind each address, what stands between two of these lines by the index of the second one)."""
    first, *lines = _HEADS.split(text)
    between = {0: first}
    for index in [index for index, line in enumerate(lines) if "\n" in line]:
        lines[index], _, between[index + 1] = lines[index].partition("\n")
    return lines, between


def behind_numbers(text: str, size: int) -> list[str] | None:
    """What stands behind each address where those are multiples of a size from 0 on; None where a line is another."""
    first, *parts = _ADDRESSES.split(text.rstrip("\n"))
    lines = parts[1::2]
    numbers = list(map(int, parts[::2], repeat(16)))
    if numbers != list(range(0, len(lines) * size, size)) or "/*" in first or "\n" in "".join(lines):
        return None
    return lines
