"""Reads what ``ptxas -v`` writes: resources of each kernel, and notes on how wgmma was assembled.

Lines as ptxas 12.4 to 13.5 write them; the word in front is the name of the assembler's file
(``ptxas-blackwell info``). 12.4 names neither barriers nor times. Notes (``(C7514) Potential Performance Loss ...``)
come before the kernel that they name. Lines that are not ptxas's are left alone: a log can hold a whole build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from irdiff.api import ParseError, Part

LONGEST = 4096
"""Characters of a line; what is longer is not understood."""

_SAID = re.compile(r"(\S{0,300}ptxas\S{0,40})\s{1,8}(info|warning|error|fatal)\s{0,8}:\s?(.*)\Z")
_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '(sm_(\d{2,4})[a-z]?)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_FRAME = re.compile(
    r"\s+(\d{1,12}) bytes stack frame, (\d{1,12}) bytes spill stores, (\d{1,12}) bytes spill loads\s*\Z"
)
_USED = re.compile(r"Used (\d{1,6}) registers(?:, used (\d{1,4}) barriers)?(.*)\Z")
_CUMULATIVE = re.compile(r", (\d{1,12}) bytes cumulative stack size")
_OTHER_USE = re.compile(r"(?:, \d{1,12} bytes (?:cumulative stack size|[a-z]{1,8}(?:\[\d{1,3}\])?))*\s*\Z")
_NOTE = re.compile(r"\((C\d{4})\)\s{1,4}(.*)")
_NAMED = re.compile(r"function '([^']+)'")
_TIME = re.compile(r"Compile time = [\d.]{1,16} m?s")
_MEMORY = re.compile(r"\d{1,12} bytes gmem(?:, \d{1,12} bytes cmem\[\d{1,3}\])*\s*\Z")
_SPILLED = re.compile(r"Registers are spilled to local memory in function")
_PLACES = (
    (re.compile(r"\s+in (?:the )?function '[^']*'(?: in line \d{1,9})?"), ""),
    (re.compile(r"\s*around line \d{1,9}"), " around a line"),
    (re.compile(r"at line \d{1,9}"), "at a line"),
)
_SPACES = re.compile(r" {2,}")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the assembler's."""

    number: int
    """From 1."""
    kind: str
    """``entry``, ``properties``, ``frame``, ``used``, ``note``, ``memory``, ``time``, ``warning``, ``error``, ``?``."""
    text: str
    """Without the name of the assembler."""
    kernel: str | None = None
    """The function that it names."""
    values: tuple[int, ...] = ()


def read_lines(data: bytes) -> tuple[Line, ...]:
    """The assembler's lines. Raises ParseError where there are none."""
    lines = tuple(_lines(data.decode("utf-8", "replace").split("\n")))
    if not lines:
        raise ParseError(
            "holds no line of ptxas", line=1, hint="what `ptxas -v` writes to its error output is due"
        )
    return lines


def _lines(texts: list[str]) -> Iterator[Line]:
    after_properties: str | None = None
    for number, raw in enumerate(texts, 1):
        text = raw.rstrip("\r")
        if len(text) > LONGEST:
            if "ptxas" in text[:300]:
                yield Line(number=number, kind="?", text=text[:200])
            continue
        if after_properties is not None:
            frame = _FRAME.match(text)
            function, after_properties = after_properties, None
            if frame is not None:
                values = tuple(map(int, frame.groups()))
                yield Line(number=number, kind="frame", text=text.strip(), kernel=function, values=values)
                continue
        said = _SAID.match(text)
        if said is None:
            continue
        line = _line(number, said[2], said[3].strip())
        after_properties = line.kernel if line.kind == "properties" else None
        yield line


def _line(number: int, level: str, text: str) -> Line:
    found = _ENTRY.match(text)
    if found is not None:
        return Line(number=number, kind="entry", text=text, kernel=found[1], values=(int(found[3]),))
    found = _PROPERTIES.match(text)
    if found is not None:
        return Line(number=number, kind="properties", text=text, kernel=found[1])
    found = _USED.match(text)
    if found is not None and _OTHER_USE.match(found[3]):
        stack = _CUMULATIVE.search(found[3])
        values = (int(found[1]), int(found[2] or -1), int(stack[1]) if stack else -1)
        return Line(number=number, kind="used", text=text, values=values)
    named = _NAMED.search(text)
    kernel = named[1] if named is not None else None
    if _NOTE.match(text) is not None:
        return Line(number=number, kind="note", text=text, kernel=kernel)
    if level in ("error", "fatal"):
        return Line(number=number, kind="error", text=text, kernel=kernel)
    if _SPILLED.match(text) or level == "warning":
        return Line(number=number, kind="warning", text=text, kernel=kernel)
    for kind, pattern in (("time", _TIME), ("memory", _MEMORY)):
        if pattern.match(text):
            return Line(number=number, kind=kind, text=text)
    return Line(number=number, kind="?", text=text, kernel=kernel)


def note_key(text: str) -> str:
    """A note without what differs from kernel to kernel: names, lines (``C7514 wgmma.mma_async instructions ...``)."""
    found = _NOTE.match(text)
    code, words = (f"{found[1]} ", found[2]) if found is not None else ("", text)
    for pattern, instead in _PLACES:
        words = pattern.sub(instead, words)
    return code + _SPACES.sub(" ", words).strip().removeprefix("Potential Performance Loss: ")


def parts(data: bytes) -> tuple[Part, ...]:
    """What a log says of each kernel: the lines from its "Compiling entry function" on, and those that name it.

    A log of several runs can hold one name more than once: each time is a part of its own.
    """
    try:
        lines = read_lines(data)
    except ParseError:
        return ()
    texts = data.decode("utf-8", "replace").split("\n")
    starts = [line for line in lines if line.kind == "entry"]
    found: list[Part] = []
    previous = 0
    for index, start in enumerate(starts):
        following = starts[index + 1].number if index + 1 < len(starts) else len(texts) + 1
        again = index + 1 < len(starts) and starts[index + 1].kernel == start.kernel
        until = start.number if again else following  # where notes of this name end
        own = [line for line in lines if _belongs(line, start, previous, until, following)]
        text = "\n".join(texts[line.number - 1] for line in own)
        found.append(Part(kernel=start.kernel or "", arch=str(start.values[0]), data=f"{text}\n".encode()))
        previous = start.number
    return tuple(found)


def _belongs(line: Line, start: Line, previous: int, until: int, following: int) -> bool:
    """Notes stand before the kernel that they name, all else behind it and before the next one."""
    if line.kind in ("note", "warning", "error") and line.kernel is not None:
        return line.kernel == start.kernel and previous < line.number < until
    return start.number <= line.number < following
