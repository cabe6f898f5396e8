"""The view of a judgement: verdict, what fired rule by rule, what could not be judged, what was accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from irdiff.model.gate import Judgement
from irdiff.model.report import Report
from irdiff.present.gate_explained import ExplainView, Listed, explain_view
from irdiff.present.groups import groups as changed_alike
from irdiff.present.groups import shortened
from irdiff.present.labels import judged, others
from irdiff.present.problems import Alike, Problem, alike, problems
from irdiff.present.remarks import Cluster, Remark, RuleGroup, grouped, remarks
from irdiff.present.view import issue_line, issue_lines, subject_of
from irdiff.present.wording import joined, plural

__all__ = ["ExplainView", "GateView", "Listed", "RuleLine", "UnjudgedLine", "explain_view", "gate_view"]

ERRORS_IN_FULL = 3
"""Ways told of a rule of level error; of a warning, and where more than a few rules fired, the worst alone."""
MANY_RULES = 4
MOST_RULES = 12
"""Rules told, so that any number of kernels fits a screen of 50 lines."""
MOST_UNJUDGED = 6
NOTICES = frozenset({"selects-nothing", "failed-on-both-sides"})
"""Codes of warnings that are never behind --all: something that a user takes for judged was not."""
MOST_TOLD = 3
"""Accepted or stale changes named in a line."""


class RuleLine(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that fired."""

    code: str
    level: Literal["error", "warning", "note"]
    title: str
    count: str
    """``6 kernels``; empty where there is one kernel alone."""
    example: str
    """``triton_mm (and 5 more)``"""
    details: tuple[str, ...]
    """What it says of the example, then of others of which it says something else."""
    more: str = ""
    """What is left out."""


class UnjudgedLine(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could not be judged."""

    label: str
    text: str
    code: str


class GateView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a person is told of a judgement, in order."""

    subject: str
    """``141 kernels   cuda:90``"""
    verdict: str
    """``FAILED  2 of 24 rules``"""
    tone: Literal["good", "bad", "neutral", "unsure"]
    changes: str
    """``312 changes in 38 kernels, in 3 groups``, and where all that is told begins; empty where nothing changed."""
    rules: tuple[RuleLine, ...]
    unjudged: tuple[UnjudgedLine, ...]
    notes: tuple[str, ...]
    """What was accepted, what no longer is, what is the same, what is on one side only."""
    issues: tuple[str, ...]
    """What was read with less certainty, where everything is asked for."""
    footer: tuple[str, ...]
    """How to get more, and the exit code where it is not 0."""


def gate_view(report: Report, *, everything: bool = False, top: int | None = None) -> GateView:
    """What to say of a report with a judgement.

    ``everything`` lifts the limits; ``top`` says in how many ways a rule may fire until the rest is only counted.
    Raises ValueError for a report without a judgement.
    """
    judgement = judged(report)
    if judgement is None:
        raise ValueError("the report holds no judgement")
    found = remarks(report)
    told = grouped([remark for remark in found if remark.accepted is None])
    shown = told if everything else told[:MOST_RULES]
    missing = alike(problems(report))
    shared = _shared_beginning(told)
    several = len(report.kernels) + len(report.added) + len(report.removed) > 1
    few = ERRORS_IN_FULL if len(told) <= MANY_RULES else 1
    style = _Style(everything=everything, top=top, errors=few, named=several, begins=not shared)
    notes = [
        *_accepted([remark for remark in found if remark.accepted is not None], everything=everything),
        *_stale(judgement, everything=everything),
        *same_and_unpaired(report, judgement),
        *_notices(report, everything=everything),
    ]
    rest_of = msgspec.structs.replace(
        report, issues=tuple(each for each in report.issues if each.code not in NOTICES)
    )
    rest = [group.code for group in told[len(shown) :]]
    left = [f"and {plural(len(rest), 'more rule')}: {joined(rest, most=6)}: --all shows them"] if rest else []
    return GateView(
        subject=subject_of(report),
        verdict=verdict_of(report, judgement),
        tone="bad" if judgement.failed else "unsure" if judgement.unsure else "good",
        changes="; ".join(part for part in (changes_of(report), shared) if part),
        rules=tuple(_rule_line(group, style) for group in shown),
        unjudged=tuple(_unjudged(missing, everything=everything)),
        notes=tuple(notes),
        issues=tuple(issue_lines(rest_of, everything=True)) if everything else (),
        footer=(*left, *_footer(report, judgement, told, everything=everything)),
    )


def verdict_of(report: Report, judgement: Judgement) -> str:
    """``FAILED  2 of 24 rules``, ``INCOMPLETE``, both, or ``passed  24 rules``."""
    applied = sum(rule.level != "off" for rule in judgement.rules.values())
    told = [finding for finding in judgement.findings if finding.accepted is None]
    failed = len({finding.rule for finding in told if finding.level == "error"})
    words = []
    if judgement.failed:
        words.append(f"FAILED  {failed:,} of {plural(max(applied, failed), 'rule')}")
    if judgement.unsure:
        words.append("INCOMPLETE")
    if not words:
        warnings = sum(finding.level == "warn" for finding in told)
        words.append(f"passed  {plural(applied, 'rule')}")
        words += [plural(warnings, "warning")] if warnings else []
    return " · ".join(words)


def changes_of(report: Report) -> str:
    """``312 changes in 38 kernels, in 3 groups``; empty where nothing changed."""
    changed = [kernel for kernel in report.kernels if kernel.status == "changed"]
    if not changed:
        return ""
    count = sum(len(kernel.changes) for kernel in changed)
    alike_ones = len(changed_alike(changed, report))
    ways = f", in {plural(alike_ones, 'group')}" if len(changed) > 1 else ""
    return f"{plural(count, 'change')} in {plural(len(changed), 'kernel')}{ways}"


def same_and_unpaired(report: Report, judgement: Judgement) -> list[str]:
    """``103 kernels equivalent (88 identical).``, and how many kernels are on one side only."""
    lines = []
    same = [kernel for kernel in report.kernels if kernel.status in {"identical", "equivalent"}]
    lead = "Everything else was compared" if judgement.unjudged and report.kernels else ""
    if same:
        identical = sum(kernel.status == "identical" for kernel in same)
        count = f"{plural(len(same), 'kernel')} {'identical' if identical == len(same) else 'equivalent'}"
        part = f" ({identical:,} identical)" if 0 < identical < len(same) else ""
        lines.append(f"{lead}: {count}{part}." if lead else f"{count}{part}.")
    elif lead and any(kernel.status == "changed" for kernel in report.kernels):
        lines.append(f"{lead}.")
    sides = (("before", report.removed), ("after", report.added))
    counts = ", ".join(f"{plural(len(only), 'kernel')} only {side}" for side, only in sides if only)
    return [*lines, f"{counts}."] if counts else lines


def exit_bits(judgement: Judgement) -> int:
    """1 where a rule failed, 2 where something could not be judged, 3 for both."""
    return int(judgement.failed) | int(judgement.unsure) << 1


class _Style(msgspec.Struct, frozen=True, kw_only=True):
    """How much is told of each rule."""

    everything: bool
    top: int | None
    errors: int
    """Ways told of a rule of level error."""
    named: bool
    """Whether kernels are named: there are several."""
    begins: bool
    """Whether it is told of each where it begins: not everywhere at the same place."""


def _shared_beginning(told: Sequence[RuleGroup]) -> str:
    """Where all that is told begins, where that is one place; said once then."""
    found = {cluster.worst.begins for group in told for cluster in group.clusters}
    return found.pop() if len(found) == 1 else ""


def _rule_line(group: RuleGroup, style: _Style) -> RuleLine:
    few = style.errors if group.level == "error" else 1
    most = len(group.clusters) if style.everything else style.top or few
    first, *rest = group.clusters[:most]
    left = sum(len(cluster.members) for cluster in group.clusters[most:])
    ways = plural(len(group.clusters) - most, "other way")
    details = [detail_of(cluster.worst, begins=style.begins) for cluster in (first, *rest)]
    if style.named:
        details[1:] = [
            f"{_named(cluster, style)}: {text}" for cluster, text in zip(rest, details[1:], strict=True)
        ]
    return RuleLine(
        code=group.code,
        level=group.level,
        title=group.title,
        count=plural(group.kernels, "kernel") if style.named else "",
        example=_named(first, style) if style.named else "",
        details=tuple(details),
        more=f"and {left:,} more in {ways}: --explain {group.code}" if left else "",
    )


def _named(cluster: Cluster, style: _Style) -> str:
    if style.everything:
        return ", ".join(dict.fromkeys(remark.label for remark in cluster.members))
    return f"{shortened(cluster.worst.label)}{others(len(cluster.members) - 1)}"


def detail_of(remark: Remark, *, begins: bool = True) -> str:
    """``0 → 288 B, in loop0   attn.py:88   begins in TTGIR (TTGIR passes)``."""
    parts = (remark.message, remark.source, remark.begins if begins else "")
    return "   ".join(part for part in parts if part)


def _unjudged(found: Sequence[Alike], *, everything: bool) -> list[UnjudgedLine]:
    shown = found if everything else found[:MOST_UNJUDGED]
    lines = [unjudged_line(each.members) for each in shown]
    left = sum(len(each.members) for each in found[len(shown) :])
    if left:
        lines.append(UnjudgedLine(label="", text=f"and {left:,} more: --all shows them", code=""))
    return lines


def unjudged_line(members: Sequence[Problem]) -> UnjudgedLine:
    """Kernels, what is the matter, which rules needed it, what to do next."""
    first = members[0]
    needed = f"; needed by {joined(list(first.rules), most=6)}" if first.rules else ""
    hint = f" ({first.hint})" if first.hint else ""
    return UnjudgedLine(
        label=f"{shortened(first.label)}{others(len(members) - 1)}",
        text=f"{first.message}{needed}{hint}",
        code=first.code,
    )


def _accepted(found: Sequence[Remark], *, everything: bool) -> list[str]:
    if not found:
        return []
    named = [f"{remark.code} {shortened(remark.label)} ({remark.accepted})" for remark in found]
    text = joined(named, most=len(named) if everything else MOST_TOLD)
    return [f"Accepted: {plural(len(found), 'finding')}: {text}."]


def _notices(report: Report, *, everything: bool) -> list[str]:
    lines = [issue_line(each) for each in report.issues if each.code in NOTICES]
    if everything or len(lines) <= MOST_UNJUDGED:
        return lines
    return [*lines[:MOST_UNJUDGED], f"and {len(lines) - MOST_UNJUDGED:,} more: --all shows them"]


def _stale(judgement: Judgement, *, everything: bool) -> list[str]:
    if not judgement.stale:
        return []
    named = [
        f"{each.rule} {shortened(each.kernel)}, {each.why}{f' ({each.owner})' if each.owner else ''}"
        for each in judgement.stale
    ]
    count = plural(len(named), "acceptance")
    accept = "accepts" if len(named) == 1 else "accept"
    text = "; ".join(named if everything else named[:MOST_TOLD])
    left = "" if everything or len(named) <= MOST_TOLD else f" and {len(named) - MOST_TOLD:,} more"
    return [f"Stale: {count} {accept} nothing any more: {text}{left}."]


def _footer(
    report: Report, judgement: Judgement, told: Sequence[RuleGroup], *, everything: bool
) -> list[str]:
    told_already = len(judgement.unjudged) + sum(each.code in NOTICES for each in report.issues)
    lesser = len(problems(report, lesser=True)) - told_already
    words = []
    if lesser and not everything:
        words.append(f"{plural(lesser, 'note')} on what was read: --all")
    if told:
        words.append(f"irdiff check … --explain {told[0].code}")
    elif judgement.silenced:
        words.append(f"{plural(len(judgement.silenced), 'finding')} silenced: irdiff check … --explain")
    bits = exit_bits(judgement)
    words += [f"exit code {bits}"] if bits else []
    return ["   ".join(words)] if words else []
