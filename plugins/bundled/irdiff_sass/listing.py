"""Reading decoded machine code from the ``.sass`` text of a dump folder.

Triton writes that text with ``TRITON_KERNEL_DUMP`` (``triton/tools/disasm.py``, Triton 3.0 to 3.9): a line
``Function:NAME``, then ``wait:read:write:yield:stall<tab>INSTRUCTION;`` without addresses, ``LBBn:`` before an
instruction that a branch names. The text of ``nvdisasm -c`` and ``cuobjdump -sass`` is read too: that of nvdisasm,
which is regular, by columns (:func:`_regular`), any other by one search that parts all lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from irdiff.api import ParseError
from irdiff_sass.addressed import behind_addresses, with_line_feeds
from irdiff_sass.decoded import CodeText, Listing, code_text, in_columns, odd, settle
from irdiff_sass.instructions import NO_CONTROL, SIZE, USUAL_STATEMENT, parts_of
from irdiff_sass.shapes import shapes_of

CONTROL = re.compile(r"(--|\d{2}):([0-7-]):([0-7-]):([Y-]):([0-9a-f])")
FUNCTION = re.compile(r"\s*Function\s*:\s*(\S.*)")
SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+).*")
LABEL = re.compile(r"(LBB\d{1,9}|\.L_x_\d{1,9}):")
ADDRESSED = re.compile(r"\s*/\*([0-9a-f]{4,8})\*/\s+([^/]*);.*")
NAMED_PLACE = re.compile(r"`\((\.L_x_\d{1,9})\)|LBB\d{1,9}")
NOISE = re.compile(r"\s*(?:/\*.*|//.*|\..*|\t?[A-Za-z0-9_$.]+:|code for .*|=+|Fatbin .*|[a-z_ ]+ = .*)?\s*")
QUIET = ("//", ".", "\t.", "        .")
"""What a line of noise begins with that nvdisasm writes."""
LINES = re.compile(
    r"^(?:([^\S\n]*/\*[0-9a-f]{4,8}\*/[^\S\n]+([^/\n]*);.*)"
    r"|((?:--|\d{2}):[0-7-]:[0-7-]:[Y-]:[0-9a-f])\t(.*)|(.*))$",
    re.MULTILINE,
)
"""Every line of a text: an addressed instruction (line, text), one behind control fields (fields, text), or another.

The first two are what ``ADDRESSED`` and ``CONTROL`` say; all lines are parted by one search.
"""
BEHIND = re.compile(r"([^/\n]*);.*")
"""A statement and what follows it, from behind address and blanks."""
USUAL_LINE = re.compile(rf"[ \t]*/\*[0-9a-f]{{4,8}}\*/ +{USUAL_STATEMENT} *;[^\n;/]*(?:/.*)?")


class Section(msgspec.Struct, kw_only=True):
    """The statements of one section while they are found."""

    texts: list[str] = []
    controls: list[int] = []
    labels: dict[str, int] = {}
    """Label to its place."""
    nameless: set[int] = set()
    """Indices of statements that name no label, whatever they hold."""


def read_listing(data: bytes) -> Listing:
    """The instructions of a ``.sass`` file. Raises ParseError where it holds none."""
    text = with_line_feeds(data.decode("utf-8", "replace"))
    codes = _regular(text) or _searched(text)
    if not codes:
        raise ParseError(
            "holds no SASS instruction", line=1, hint="it should be the text Triton's dump writes"
        )
    return Listing(codes=tuple(codes))


def _regular(text: str) -> list[CodeText]:
    """The code of a text that nvdisasm wrote; none where some line is not as it writes them."""
    lines, between = behind_addresses(text)
    labels = _labels(between) if len(between) <= len(lines) else None
    if labels is None:
        return []
    shapes = shapes_of(lines)
    codes: list[CodeText] = []
    for start, end in zip(labels, [*list(labels)[1:], len(lines)], strict=True):
        its, forms = lines[start:end], shapes[start:end]
        found = {index: _statement(its[index], labels[start]) for index in odd(forms)}
        parted = {index: parts_of(text) for index, text in found.items() if text is not None}
        if len(parted) < len(found):
            return []
        settle(its, forms, parted)
        if its:
            controls = [NO_CONTROL] * len(its)
            codes.append(in_columns(its, forms, controls, role=f"entry{len(codes)}", base=start * SIZE))
    return codes


def _labels(between: Mapping[int, str]) -> dict[int, dict[str, int]] | None:
    """First instruction of each section to its labels and their places; None where something else is between.

    ``between``: see :func:`behind_addresses`.
    """
    start = 0
    labels: dict[int, dict[str, int]] = {start: {}}
    for index, block in between.items():
        for line in filter(None, block.split("\n")):
            if ":" in line and (label := LABEL.fullmatch(line.strip())):
                labels[start][label[1]] = (index - start) * SIZE
            elif ("Function" in line or ".section" in line) and _begins_function(line):
                start = index
                labels.setdefault(start, {})
            elif "/*" in line or not (line.startswith(QUIET) or NOISE.fullmatch(line)):
                return None
    return labels


def _statement(line: str, labels: Mapping[str, int]) -> str | None:
    """The statement of a line that nvdisasm wrote, from behind the address; None where there is none."""
    found = BEHIND.fullmatch(line)
    if found is None:
        return None
    text = found[1].strip()
    return text if _is_nameless(text, f"/*0000*/ {line}") else _placed(text, labels)


def _searched(text: str) -> list[CodeText]:
    """The code of any text."""
    codes: list[CodeText] = []
    base = 0
    for section in _sections(text):
        texts = [
            each if index in section.nameless else _placed(each, section.labels)
            for index, each in enumerate(section.texts)
        ]
        if texts:
            codes.append(code_text(texts, section.controls, role=f"entry{len(codes)}", base=base))
            base += len(texts) * SIZE
    return codes


def _sections(text: str) -> list[Section]:
    sections = [Section()]
    for addressed, statement, control, rest, other in LINES.findall(text):
        section = sections[-1]
        if addressed:
            if _is_nameless(statement, addressed):
                section.nameless.add(len(section.texts))
            section.texts.append(statement.strip())
            section.controls.append(NO_CONTROL)
        elif control:
            section.texts.append(rest.strip().rstrip(";").rstrip())
            section.controls.append(_control_bits(control))
        elif _begins_function(other):
            if section.texts:
                sections.append(Section())
        elif label := LABEL.fullmatch(other.strip()):
            section.labels[label[1]] = len(section.texts) * SIZE
        elif not NOISE.fullmatch(other):
            section.texts.append(other.strip())
            section.controls.append(NO_CONTROL)
    return sections


def _begins_function(line: str) -> bool:
    return FUNCTION.fullmatch(line) is not None or SECTION.fullmatch(line) is not None


@lru_cache(maxsize=1 << 12)
def _control_bits(fields: str) -> int:
    wait, read, write, yields, stall = fields.split(":")
    return (
        int(stall, 16)
        | (0 if yields == "Y" else 1 << 4)
        | (7 if write == "-" else int(write)) << 5
        | (7 if read == "-" else int(read)) << 8
        | (0 if wait == "--" else int(wait) & 63) << 11
    )


def _is_nameless(text: str, line: str) -> bool:
    """Whether an addressed statement names no label: where it is a usual one, its operands alone can."""
    if "`(" in text or "LBB" not in text:
        return "`(" not in text
    found = USUAL_LINE.fullmatch(line)
    return found is not None and "LBB" not in (found[4] or "")


def _placed(text: str, labels: Mapping[str, int]) -> str:
    """A statement with the places that its labels name."""
    if "`(" not in text and "LBB" not in text:
        return text

    def place(found: re.Match[str]) -> str:
        name = found.group(1) or found.group(0)
        return f"{labels[name]:#x}" if name in labels else found.group(0)

    return NAMED_PLACE.sub(place, text)
