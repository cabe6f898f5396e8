"""Hunks on a screen: the lines of one stage that differ, kernel by kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from irdiff.model.facts import Place
from irdiff.model.report import Hunk, HunkLine, KernelReport, Report, StageHunks
from irdiff.present.wording import plural

Tone: TypeAlias = Literal["", "title", "header", "removed", "added", "dim"]

MAX_LINES = 60
"""Lines of one hunk that are shown."""

LONG = 160
"""Characters of a line above which only what differs is shown."""
HEAD = 60
"""Characters of its beginning that stay."""
NEAR = 24
"""Characters around what differs that stay."""

_TONES: dict[str, Tone] = {"-": "removed", "+": "added"}


class HunkRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of text and how it looks."""

    text: str
    tone: Tone = ""


def hunk_rows(report: Report, *, everything: bool = False) -> tuple[HunkRow, ...]:
    """Every hunk that the report holds; nothing where none were asked for."""
    rows: list[HunkRow] = []
    stage = next((each.hunks.stage for each in report.kernels if isinstance(each.hunks, StageHunks)), None)
    same = left = 0
    for kernel in report.kernels:
        if stage is None or stage not in kernel.stages:
            continue
        if kernel.stages[stage].sameness in ("identical", "equivalent"):
            same += 1
        elif isinstance(kernel.hunks, StageHunks):
            rows += _kernel(kernel, kernel.hunks, named=len(report.kernels) > 1, everything=everything)
        else:
            left += 1
    if left:
        rows.append(HunkRow(text=f"and {plural(left, 'more kernel')}: --all shows them", tone="dim"))
    if same:
        where = f" in {plural(same, 'more kernel' if rows else 'kernel')}" if len(report.kernels) > 1 else ""
        rows.append(HunkRow(text=f"{stage}: no line differs in meaning{where}", tone="dim"))
    return tuple(rows)


def _kernel(kernel: KernelReport, found: StageHunks, *, named: bool, everything: bool) -> list[HunkRow]:
    rows: list[HunkRow] = []
    if named:
        rows.append(HunkRow(text=f"{kernel.name}   {kernel.path_after}", tone="title"))
    if found.missing is not None:
        rows.append(HunkRow(text=f"{found.stage}: {found.missing}", tone="dim"))
    for hunk in found.hunks:
        rows.append(HunkRow(text=header(hunk, found.stage, found.place), tone="header"))
        if hunk.note:
            rows.append(HunkRow(text=f"  {hunk.note}"))
        lines = hunk.lines if everything else hunk.lines[:MAX_LINES]
        texts = [line.text for line in lines] if everything else shortened(lines)
        rows += [
            HunkRow(text=f"{line.mark} {text}", tone=_TONES.get(line.mark, ""))
            for line, text in zip(lines, texts, strict=True)
        ]
        if len(lines) < len(hunk.lines):
            more = len(hunk.lines) - len(lines)
            rows.append(HunkRow(text=f"  and {more:,} more lines: --all shows them", tone="dim"))
    if found.more:
        rows.append(HunkRow(text=f"and {found.more:,} smaller hunks: --all shows them", tone="dim"))
    return rows


def header(hunk: Hunk, stage: str, place: Place) -> str:
    """``@@ matmul_kernel/loop0  ttgir 88-95 → 90-99  matmul.py:40 @@``."""
    places = f"{stage} {_range(hunk.before, place)} → {_range(hunk.after, place)}"
    source = hunk.source.rpartition("/")[2] if hunk.source else ""
    return "  ".join(part for part in (f"@@ {hunk.scope}", places, f"{source} @@".lstrip()) if part)


def _range(places: tuple[int, int] | None, place: Place) -> str:
    if places is None:
        return "nothing"
    first, last = (f"{number:#06x}" if place == "address" else str(number) for number in places)
    return first if first == last else f"{first}-{last}"


def shortened(lines: Sequence[HunkLine]) -> list[str]:
    """The texts; of two long lines that belong together no more than what differs and how they begin."""
    texts = [line.text for line in lines]
    for at in range(len(lines) - 1):
        before, after = texts[at], texts[at + 1]
        if (lines[at].mark, lines[at + 1].mark) == ("-", "+") and max(len(before), len(after)) > LONG:
            texts[at : at + 2] = _differing(before, after)
    return [
        text if len(text) <= LONG or line.mark != " " else f"{text[:LONG]} …"
        for line, text in zip(lines, texts, strict=True)
    ]


def _differing(before: str, after: str) -> list[str]:
    """Both texts without the words in the middle that they share."""
    start = _shared(before, after)
    end = min(_shared(before[::-1], after[::-1]), len(before) - start, len(after) - start)
    low = before.rfind(" ", 0, max(start - NEAR, 0)) + 1
    made: list[str] = []
    for text in (before, after):
        stop = text.find(" ", len(text) - end + NEAR)
        head = text[: min(low, HEAD)]
        middle = text[low : stop if stop >= 0 else len(text)]
        made.append(f"{head}{'… ' if low > HEAD else ''}{middle}{' …' if stop >= 0 else ''}")
    return made


def _shared(before: str, after: str) -> int:
    """How many characters both begin with."""
    shortest = min(len(before), len(after))
    return next((at for at in range(shortest) if before[at] != after[at]), shortest)
