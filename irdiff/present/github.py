"""Annotations of GitHub Actions: workflow commands on standard output.

Commands, their properties and their escaping: docs.github.com, "Workflow commands for GitHub Actions";
``escapeData`` and ``escapeProperty`` of actions/toolkit, ``packages/core/src/command.ts``. A step shows ten
annotations of each kind ("Annotation limitation" there), so the tenth says how many are left.
"""

from __future__ import annotations

from collections.abc import Iterable

from irdiff.model.report import Report
from irdiff.present.escape import command_data, command_property, flat
from irdiff.present.gate import verdict_of
from irdiff.present.labels import judged, place_of
from irdiff.present.problems import alike, problems
from irdiff.present.remarks import Cluster, RuleGroup, grouped, remarks
from irdiff.present.view import subject_of
from irdiff.present.wording import plural

MOST = 10
"""Annotations of one kind that a step shows."""
LONGEST = 1000
KINDS = {"error": "error", "warning": "warning", "note": "notice"}


def github(report: Report) -> str:
    """The report as workflow commands: errors, warnings, notices, and the verdict as the last line."""
    made: dict[str, list[str]] = {kind: [] for kind in KINDS.values()}
    for each in alike(problems(report)):
        first = each.members[0]
        names = _listed([problem.label for problem in each.members])
        hint = f" ({first.hint})" if first.hint else ""
        made["error"].append(
            _command("error", f"{names}: {first.message}{hint}", title=f"not judged: {first.code}")
        )
    for group in grouped([remark for remark in remarks(report) if remark.accepted is None]):
        kind = KINDS[group.level]
        made[kind] += [_annotation(kind, group, cluster) for cluster in group.clusters]
    lines = [*_shown(made["error"], "error"), *_shown(made["warning"], "warning")]
    lines += _shown(made["notice"], "notice", most=MOST - 1)
    return "".join(f"{line}\n" for line in (*lines, _command("notice", _verdict(report), title="irdiff")))


def _shown(lines: list[str], kind: str, *, most: int = MOST) -> Iterable[str]:
    if len(lines) <= most:
        return lines
    left = len(lines) - most + 1
    words = (
        f"and {plural(left, f'more {kind}')} that GitHub would not show: see the other formats of this report"
    )
    return [*lines[: most - 1], _command(kind, words, title="irdiff")]


def _annotation(kind: str, group: RuleGroup, cluster: Cluster) -> str:
    remark = cluster.worst
    target = f" [{remark.target}]" if remark.target else ""
    begins = f"; {remark.begins}" if remark.begins else ""
    names = _listed([member.label for member in cluster.members])
    return _command(
        kind,
        f"{names}{target}: {remark.message}{begins}",
        title=f"{group.code} {group.title}" if group.level != "note" else group.title,
        file=remark.file,
        line=place_of(remark.source)[1] if remark.source else None,
    )


def _listed(labels: list[str]) -> str:
    return f"{labels[0]} (and {len(labels) - 1:,} more)" if len(labels) > 1 else labels[0]


def _verdict(report: Report) -> str:
    judgement = judged(report)
    words = verdict_of(report, judgement) if judgement is not None else report.verdict
    return f"{words}   {subject_of(report)}"


def _command(kind: str, message: str, *, title: str, file: str | None = None, line: int | None = None) -> str:
    fields = {"file": file, "line": None if line is None else str(line), "title": title}
    properties = ",".join(
        f"{name}={command_property(flat(value, LONGEST))}"
        for name, value in fields.items()
        if value is not None
    )
    return f"::{kind} {properties}::{command_data(flat(message, LONGEST))}"
