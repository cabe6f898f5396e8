"""What was not judged, or without a gate not compared: never a pass, and told in every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from irdiff.model.gate import Unjudged
from irdiff.model.issues import Issue
from irdiff.model.report import KernelReport, Report
from irdiff.present.labels import Labels, judged

Weight: TypeAlias = Literal["error", "warning", "note"]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was not judged or not compared."""

    level: Weight
    code: str
    message: str
    hint: str
    label: str
    """The kernel; where there is none, the place."""
    kernel: str | None
    path: str | None
    stage: str | None
    rules: tuple[str, ...]
    """Codes of the rules that needed it."""


class Alike(msgspec.Struct, frozen=True, kw_only=True):
    """Several kernels of which the same was not judged."""

    members: tuple[Problem, ...]


def problems(report: Report, *, lesser: bool = False) -> tuple[Problem, ...]:
    """What was not judged; without a gate what was not compared.

    ``lesser`` adds what was read with less certainty, and what was not compared and no rule needed.
    """
    judgement = judged(report)
    labels = Labels(report)
    found: dict[Problem, None] = {}
    for kernel in report.kernels:
        found.update({_of_issue(issue, kernel, labels): None for issue in kernel.issues})
    found.update({_of_issue(issue, None, labels): None for issue in report.issues})
    levels: Sequence[Weight] = ("error", "warning", "note") if lesser else ("error",)
    if judgement is None:
        return tuple(each for level in levels for each in found if each.level == level)
    needed = tuple(_of_unjudged(each, labels) for each in judgement.unjudged)
    if not lesser:
        return needed
    known = {(each.code, each.message) for each in needed}
    rest = [each for each in found if (each.code, each.message) not in known]
    rest = [
        msgspec.structs.replace(each, level="warning") if each.level == "error" else each for each in rest
    ]
    return (*needed, *(each for level in levels for each in rest if each.level == level))


def alike(found: Sequence[Problem]) -> tuple[Alike, ...]:
    """Problems that say the same together, in the order of their first."""
    groups: dict[tuple[object, ...], list[Problem]] = {}
    for each in found:
        key = (each.level, each.code, each.message, each.hint, each.stage, each.rules, each.kernel is None)
        groups.setdefault(key, []).append(each)
    return tuple(Alike(members=tuple(members)) for members in groups.values())


def _of_unjudged(each: Unjudged, labels: Labels) -> Problem:
    return Problem(
        level="error",
        code=each.code,
        message=each.message,
        hint=each.hint or "",
        label=labels.of(each.kernel, each.path) if each.kernel else each.path or "",
        kernel=each.kernel,
        path=each.path,
        stage=each.stage,
        rules=each.rules,
    )


def _of_issue(issue: Issue, kernel: KernelReport | None, labels: Labels) -> Problem:
    where = f"{issue.where}:{issue.line}" if issue.where and issue.line else issue.where or issue.stage or ""
    return Problem(
        level=issue.severity,
        code=issue.code,
        message=issue.message,
        hint=issue.hint or "",
        label=labels.of(kernel.name, kernel.path_before) if kernel is not None else where,
        kernel=kernel.name if kernel is not None else None,
        path=kernel.path_after if kernel is not None else issue.where,
        stage=issue.stage,
        rules=(),
    )
