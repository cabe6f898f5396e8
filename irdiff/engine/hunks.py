"""Hunks: the lines of one stage that differ, with original names, places, the user's lines and where they stand."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Literal

import msgspec

from irdiff.engine.alignment import align
from irdiff.engine.kernels import Kernel
from irdiff.engine.masked import Side, Step
from irdiff.engine.summarize import Reader
from irdiff.model.facts import Scope
from irdiff.model.places import place_of
from irdiff.model.report import Hunk, HunkLine, KernelReport, Report, StageHunks
from irdiff.model.specs import StageSpec
from irdiff.model.summary import Canonical

MAX_HUNKS = 20
MAX_KERNELS = 5
CONTEXT = 2
ISLAND = 1
"""Equal lines between two changes that are taken for chance: both are one hunk whatever the context."""

_LABEL = re.compile(r"[\^$%]?[\w.$]+(?=:\Z|\()")
_FUNCTION = re.compile(r"@([\w.$-]+)\(|(?<!\S)\.(?:entry|func) ([\w$]+)")


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """The canonical form of one artifact with what a hunk says of its lines."""

    canonical: Canonical
    written: Mapping[int, str] = {}
    """Place to the artifact's own line."""
    source_lines: Mapping[int, str] = {}
    scopes: tuple[Scope, ...] = ()

    def place(self, index: int) -> int | None:
        """Where a canonical line comes from; None where it has no place."""
        places = self.canonical.places
        return places[index] if index < len(places) else None


def with_hunks(
    report: Report,
    before: Sequence[Kernel],
    after: Sequence[Kernel],
    reader: Reader,
    stage_id: str,
    *,
    context: int = CONTEXT,
    everything: bool = False,
) -> Report:
    """The report with the hunks of one stage in its changed kernels: the first MAX_KERNELS, or every one."""
    kernels = [
        {(kernel.bundle.name, kernel.bundle.path): kernel for kernel in side} for side in (before, after)
    ]
    made: list[KernelReport] = []
    left = MAX_KERNELS
    for kernel in report.kernels:
        stage = kernel.stages.get(stage_id)
        if stage is not None and stage.sameness in ("identical", "equivalent"):
            made.append(msgspec.structs.replace(kernel, hunks=StageHunks(stage=stage_id, place="line")))
            continue
        if stage is None or (left <= 0 and not everything):
            made.append(kernel)
            continue
        left -= 1
        one = kernels[0][kernel.name, kernel.path_before]
        other = kernels[1][kernel.name_after or kernel.name, kernel.path_after]
        found = _stage_hunks(one, other, reader, stage_id, context=context, everything=everything)
        made.append(msgspec.structs.replace(kernel, hunks=found))
    return msgspec.structs.replace(report, kernels=tuple(made))


def _stage_hunks(
    before: Kernel, after: Kernel, reader: Reader, stage_id: str, *, context: int, everything: bool
) -> StageHunks:
    texts = [text_of(kernel, reader, stage_id) for kernel in (before, after)]
    spec = next(kernel.readings[stage_id].stage for kernel in (before, after) if stage_id in kernel.readings)
    place = place_of(spec)
    if texts[0] is None or texts[1] is None:
        lost = [side for side, text in zip(("before", "after"), texts, strict=True) if text is None]
        if any(stage_id in kernel.readings and kernel.record is not None for kernel in (before, after)):
            missing = "a baseline records no lines: compare with the artifacts it was written from"
        else:
            missing = f"not readable {' and '.join(lost)}"
        return StageHunks(stage=stage_id, place=place, missing=missing)
    found = hunks(texts[0], texts[1], spec, before.bundle.name, context=context)
    kept = found
    if not everything and len(found) > MAX_HUNKS:
        largest = sorted(range(len(found)), key=lambda at: (-found[at].size, at))[:MAX_HUNKS]
        kept = tuple(found[at] for at in sorted(largest))
    return StageHunks(stage=stage_id, place=place, hunks=kept, more=len(found) - len(kept))


def text_of(kernel: Kernel, reader: Reader, stage_id: str) -> Text | None:
    """The canonical form with its surroundings; None where it cannot be made."""
    reading = kernel.readings.get(stage_id)
    if reading is None or reading.recorded:
        return None
    artifact = kernel.artifact(stage_id)
    reading = reading if reading.read else reader.reading(artifact)
    if reading.summary is None:
        return None
    canonical = reader.canonical(artifact)
    if canonical is None:
        return None
    return Text(
        canonical=canonical,
        written={} if place_of(reading.stage) == "byte" else reader.written(reading, artifact),
        source_lines=reader.source_lines(reading, artifact),
        scopes=reading.summary.scopes,
    )


def hunks(
    before: Text, after: Text, spec: StageSpec, name: str, *, context: int = CONTEXT
) -> tuple[Hunk, ...]:
    """The runs of lines that differ, in order; empty for equal texts."""
    pattern = re.compile(spec.names)
    sides = (
        Side(before.canonical.lines, pattern),
        Side(after.canonical.lines, pattern),
    )
    steps = align(*sides, spec.order_free)
    maker = _Maker(before, after, spec, name, steps)
    moved = [at for at, step in enumerate(steps) if step.kind != "same"]
    if not moved and before.canonical.lines != after.canonical.lines:
        moved = [
            at
            for at, step in enumerate(steps)
            if sides[0].lines[slice(*step.before)] != sides[1].lines[slice(*step.after)]
        ]
        maker.steps = [
            step._replace(kind="changed") if at in set(moved) else step for at, step in enumerate(steps)
        ]
    return tuple(maker.hunk(first, last, context) for first, last in maker.cores(moved))


class _Maker:
    """Makes hunks of steps."""

    def __init__(self, before: Text, after: Text, spec: StageSpec, name: str, steps: Sequence[Step]) -> None:
        self.texts = (before, after)
        self.steps = list(steps)
        self._written_name = re.compile(spec.names_written)
        self._name = re.compile(spec.names)
        self._where = (_Where(before, name), _Where(after, name))
        self._shown = 0

    def cores(self, moved: Sequence[int]) -> list[tuple[int, int]]:
        """Ranges of steps that differ (last inclusive), joined over an island."""
        found: list[tuple[int, int]] = []
        for at in moved:
            apart = self.steps[at].kind == "order" or (found and self.steps[found[-1][1]].kind == "order")
            if found and not apart and at - found[-1][1] - 1 <= ISLAND:
                found[-1] = (found[-1][0], at)
            else:
                found.append((at, at))
        return found

    def hunk(self, first: int, last: int, context: int) -> Hunk:
        """One hunk, its context no line that an earlier hunk shows."""
        core = self.steps[first : last + 1]
        low = max(first - context, self._shown, 0)
        following = self.steps[last + 1 : last + 1 + context]
        stop = next((at for at, step in enumerate(following) if step.kind != "same"), len(following))
        high = last + 1 + stop
        self._shown = high
        scope, source = self._stands(core)
        size = max(sum(s.before[1] - s.before[0] for s in core), sum(s.after[1] - s.after[0] for s in core))
        note, lines = "", []
        if core[0].kind == "order":
            note = f"same {size:,} instructions in another order"
        else:
            lines = [line for step in self.steps[low:high] for line in self._lines(step)]
        return Hunk(
            scope=scope,
            before=self._places(0, [range(*step.before) for step in core]),
            after=self._places(1, [range(*step.after) for step in core]),
            size=size,
            source=source,
            note=note,
            lines=tuple(lines),
        )

    def _stands(self, core: Sequence[Step]) -> tuple[str, str | None]:
        """Scope and the user's line: of the first line after, else of the first before."""
        scope, source = "", None
        for side in (1, 0):
            at = [index for step in core for index in range(*(step.after if side else step.before))]
            if at and not scope:
                scope = self._where[side].of(at[0])
            places = (self.texts[side].place(index) for index in at)
            lines = self.texts[side].source_lines
            source = source or next(
                (lines[place] for place in places if place is not None and place in lines), None
            )
        return scope, source

    def _places(self, side: int, ranges: Sequence[range]) -> tuple[int, int] | None:
        found = [self.texts[side].place(index) for indexes in ranges for index in indexes]
        known = [place for place in found if place is not None]
        return (min(known), max(known)) if known else None

    def _lines(self, step: Step) -> list[HunkLine]:
        if step.kind == "order":
            return []
        i = step.before[0] if step.before[0] < step.before[1] else None
        j = step.after[0] if step.after[0] < step.after[1] else None
        if step.kind == "same":
            return [self._line(" ", i, j)]
        made = [self._line("-", i, None)] if i is not None else []
        return made + ([self._line("+", None, j)] if j is not None else [])

    def _line(self, mark: Literal[" ", "-", "+"], i: int | None, j: int | None) -> HunkLine:
        side, index = (1, j) if j is not None else (0, i)
        assert index is not None
        text = self.texts[side]
        canonical = text.canonical.lines[index]
        place = text.place(index)
        written = text.written.get(place) if place is not None else None
        return HunkLine(
            mark=mark,
            text=self._named(canonical, written) if written is not None else canonical,
            canonical=canonical,
            place_before=self.texts[0].place(i) if i is not None else None,
            place_after=self.texts[1].place(j) if j is not None else None,
            written=written,
        )

    def _named(self, canonical: str, written: str) -> str:
        """The canonical line with the names that the artifact's line has in the same positions."""
        pattern = self._written_name
        mine = [name for name in self._name.findall(canonical) if pattern.fullmatch(name)]
        theirs = pattern.findall(written)
        if not mine or len(mine) != len(theirs):
            return canonical
        names = iter(theirs)
        return self._name.sub(
            lambda found: next(names) if pattern.fullmatch(found.group()) else found.group(), canonical
        )


class _Where:
    """Function, loop and block of a canonical line."""

    def __init__(self, text: Text, name: str) -> None:
        self._text = text
        self._name = name
        self._at: list[int] = []
        self._function: list[str] = []
        self._block: list[str] = []
        function, block = name, ""
        for index, line in zip(count(), text.canonical.lines):
            opened = _function(line)
            stripped = line.strip()
            label = _LABEL.match(stripped) if stripped.endswith(":") else None
            if opened is not None:
                function, block = opened, ""
            elif label is not None:
                block = label.group()
            else:
                continue
            self._at.append(index)
            self._function.append(function)
            self._block.append(block)

    def of(self, index: int) -> str:
        """``kernel/loop0/loop1/b3``."""
        known = bisect.bisect_right(self._at, index) - 1
        function, block = (self._function[known], self._block[known]) if known >= 0 else (self._name, "")
        place = self._text.place(index)
        loops = [
            scope
            for scope in self._text.scopes
            if place is not None and scope.first <= place <= scope.last and place > 0
        ]
        innermost = min(loops, key=lambda scope: (scope.last - scope.first, -len(scope.id)), default=None)
        return "/".join(part for part in (function, innermost.id if innermost else "", block) if part)


def _function(line: str) -> str | None:
    """The function whose head the line is."""
    stripped = line.strip()
    if not (stripped.endswith("{") or ".entry " in stripped or ".func " in stripped):
        return None
    found = _FUNCTION.search(stripped)
    return (found.group(1) or found.group(2)) if found else None
