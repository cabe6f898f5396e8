"""The view of a comparison: what is said, in which order, before any output format is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from irdiff.model.issues import Issue
from irdiff.model.report import Change, KernelReport, Report
from irdiff.present.groups import budgeted, groups, signature, title
from irdiff.present.hunks import HunkRow, hunk_rows
from irdiff.present.ranking import is_fingerprint, is_headline, of_the_last_stage, ranked
from irdiff.present.story import begins_in, beside, story
from irdiff.present.wording import MAX_KEYS, before_after, joined, plural

MAX_ROWS = 12
MAX_ISSUES = 12
MAX_OPERATIONS = 40


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that moved."""

    effect: str
    codes: str
    title: str
    change: str
    place: str = ""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel, or a group of kernels that changed alike."""

    title: str
    sentence: str
    rows: tuple[Row, ...]
    more: int = 0
    """Rows left out."""
    stages: str = ""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a person is told, in order."""

    subject: str
    """``layer_norm_bwd   cuda:100``"""
    verdict: str
    """``changed · mixed``"""
    tone: Literal["good", "bad", "neutral", "unsure"]
    paragraphs: tuple[str, ...]
    blocks: tuple[Block, ...]
    issues: tuple[str, ...]
    footer: tuple[str, ...]
    hunks: tuple[HunkRow, ...] = ()
    """Lines of a stage, where they were asked for."""


def view(report: Report, *, everything: bool = False, unpaired: bool = False, top: int | None = None) -> View:
    """What to say of a report; ``everything`` lifts the limits, ``unpaired`` lists kernels of one side only.

    ``top`` says how many groups of kernels are told in full.
    """
    changed = [kernel for kernel in report.kernels if kernel.status == "changed"]
    single = len(report.kernels) == 1
    shown = budgeted(groups(changed, report), everything=everything, top=top)
    blocks = [
        _kernel_block(group[0], report, sentence=story(group[0], report), everything=everything)
        if single
        else _group_block(group, report, everything=everything)
        for group in shown.full
    ]
    blocks += [_short_block(shown.short, report)] if shown.short else []
    footer = [f"{plural(shown.left, 'more group')}: --top N or --all shows them"] if shown.left else []
    return View(
        subject=subject_of(report),
        verdict=" · ".join(part for part in (report.verdict, report.direction) if part),
        tone=_tone(report),
        paragraphs=tuple(_paragraphs(report, changed, unpaired=unpaired)),
        blocks=tuple(blocks),
        issues=tuple(issue_lines(report, everything=everything)),
        footer=tuple(footer),
        hunks=hunk_rows(report, everything=everything),
    )


def _tone(report: Report) -> Literal["good", "bad", "neutral", "unsure"]:
    if report.verdict == "incomplete":
        return "unsure"
    if report.verdict != "changed" or report.direction == "better":
        return "good"
    return "neutral" if report.direction == "neutral" else "bad"


def subject_of(report: Report) -> str:
    """``141 kernels   cuda:90   triton 3.6.0 → 3.7.1``."""
    if len(report.kernels) == 1:
        kernel = report.kernels[0]
        name = f"{kernel.name} → {kernel.name_after}" if kernel.name_after else kernel.name
    else:
        name = plural(len(report.kernels), "kernel")
    targets = sorted({kernel.target for kernel in report.kernels if kernel.target})
    parts = [name, joined(targets, most=3), *_toolchains(report)]
    return "   ".join(part for part in parts if part)


def _toolchains(report: Report) -> list[str]:
    """``meta.triton 3.6.0 → 3.7.1`` for provenance that differs in the same way everywhere it differs."""
    found: dict[str, set[str]] = {}
    for kernel in report.kernels:
        for name, delta in kernel.provenance.items():
            if isinstance(delta, str) and " -> " in delta:
                found.setdefault(name, set()).add(delta)
    return [
        f"{name.partition('.')[2]} {next(iter(deltas)).replace('->', '→')}"
        for name, deltas in sorted(found.items())
        if len(deltas) == 1
    ]


def _paragraphs(report: Report, changed: Sequence[KernelReport], *, unpaired: bool) -> list[str]:
    paragraphs: list[str] = []
    same = [kernel for kernel in report.kernels if kernel.status in {"identical", "equivalent"}]
    if report.kernels and not changed and same and len(same) < len(report.kernels):
        whole = plural(len(report.kernels) - len(same), "kernel")
        paragraphs.append(f"{plural(len(same), 'kernel')} equivalent; {whole} could not be compared in full.")
    elif report.kernels and not changed and same:
        paragraphs.append(f"No meaning changed. {_why_bytes_differ(same)}")
    elif same:
        identical = sum(kernel.status == "identical" for kernel in same)
        paragraphs.append(f"{plural(len(same), 'kernel')} equivalent ({identical:,} identical).")
    if report.removed or report.added:
        sides = (("before", report.removed), ("after", report.added))
        counts = ", ".join(f"{plural(len(only), 'kernel')} only {side}" for side, only in sides if only)
        paragraphs.append(f"{counts}." if unpaired else f"{counts}: --unpaired lists them.")
        if unpaired:
            paragraphs += [f"only before: {kernel.name}  {kernel.path}" for kernel in report.removed]
            paragraphs += [f"only after: {kernel.name}  {kernel.path}" for kernel in report.added]
    return paragraphs


def _why_bytes_differ(kernels: Sequence[KernelReport]) -> str:
    counts: Counter[str] = Counter()
    for kernel in kernels:
        told = [stage.reasons for stage in kernel.stages.values() if stage.sameness == "equivalent"]
        counts.update({reason for reasons in told for reason in reasons})
    reasons = sorted(counts, key=lambda reason: (-counts[reason], reason))
    if not reasons:
        return "All bytes are the same." if all(k.status == "identical" for k in kernels) else ""
    if len(kernels) > 1:
        reasons = [f"{reason} ({plural(counts[reason], 'kernel')})" for reason in reasons]
    return f"Bytes differ by {joined(reasons, most=6)}."


def _kernel_block(kernel: KernelReport, report: Report, *, sentence: str, everything: bool) -> Block:
    changes, chosen = told_changes(kernel, report, everything=everything)
    changes_shown = chosen if everything else beside(sentence, kernel, report, chosen)
    return Block(
        title="",
        sentence=sentence,
        rows=tuple(row_of(change, kernel, report) for change in changes_shown),
        more=len(changes) - len(changes_shown),
        stages=" · ".join(f"{name} {_same_word(stage.sameness)}" for name, stage in kernel.stages.items()),
    )


def told_changes(
    kernel: KernelReport, report: Report, *, everything: bool
) -> tuple[Sequence[Change], Sequence[Change]]:
    """The changes of a kernel worth listing, most important first: all of them, and those shown unasked."""
    changes = ranked(kernel.changes, report)
    if everything:
        return changes, changes
    told = [change for change in changes if not is_fingerprint(change, report)]
    changes = of_the_last_stage(told, report) or changes
    headline = [change for change in changes if is_headline(change, kernel, report)]
    return changes, (headline or changes)[:MAX_ROWS]


def _group_block(group: Sequence[KernelReport], report: Report, *, everything: bool) -> Block:
    kernel = group[0]
    block = _kernel_block(kernel, report, sentence=begins_in(kernel, report), everything=everything)
    rows = block.rows if everything else block.rows[:4]
    return Block(
        title=title(group, report, everything=everything),
        sentence=block.sentence,
        rows=rows,
        more=block.more + len(block.rows) - len(rows),
        stages="",
    )


def _short_block(found: Sequence[Sequence[KernelReport]], report: Report) -> Block:
    """A line for each of several groups."""
    rows = [
        Row(
            effect={"neutral": ""}.get(group[0].direction or "", group[0].direction or ""),
            codes="",
            title=title(group, report, everything=False, short=True),
            change=signature(group, report),
        )
        for group in found
    ]
    return Block(title="", sentence=f"{plural(len(found), 'more group')}, in short:", rows=tuple(rows))


def _same_word(sameness: str) -> str:
    return {"identical": "same", "equivalent": "same"}.get(sameness, sameness)


def _keys(change: Change, report: Report) -> int:
    """Keys of a tally named in one row: all operations that moved where two stages are compared."""
    operations = report.stages_compared is not None and change.fact.endswith(".ops")
    return MAX_OPERATIONS if operations else MAX_KEYS


def row_of(change: Change, kernel: KernelReport, report: Report) -> Row:
    """One fact that moved, in words."""
    spec = report.facts.get(change.fact)
    title = spec.title if spec else change.fact
    if change.effect == "unexplained":
        title = f"{change.fact.partition('.')[0].upper()} text, no fact moved"
    scope = change.scope.removeprefix(kernel.name).lstrip("/")
    effect = {"neutral": "", "incomparable": "differs", "unexplained": "unexplained"}.get(
        change.effect, change.effect
    )
    return Row(
        effect=effect,
        codes=" ".join(change.rules),
        title=f"{title} in {scope}" if scope else title,
        change=before_after(change, spec, most=_keys(change, report)),
        place=change.source or "",
    )


def issue_lines(report: Report, *, everything: bool) -> list[str]:
    """What was wrong with inputs, stages and plugins, errors first, alike ones once."""
    found: Counter[Issue] = Counter(report.issues)
    for kernel in report.kernels:
        found.update(kernel.issues)
    order = {"error": 0, "warning": 1, "note": 2}
    issues = sorted(
        found, key=lambda issue: (order[issue.severity], issue.where or "", issue.stage or "", issue.message)
    )
    if not everything:
        issues = [issue for issue in issues if issue.severity != "note"]
    lines = [issue_line(issue) for issue in _merged(issues)]
    if everything or len(lines) <= MAX_ISSUES:
        return lines
    return [*lines[:MAX_ISSUES], f"and {len(lines) - MAX_ISSUES:,} more: --all shows them"]


def _merged(issues: Sequence[Issue]) -> list[Issue]:
    """Stages that are missing from one entry as one line."""
    absent: dict[str | None, list[str]] = {}
    for issue in issues:
        if issue.code == "missing-stage":
            absent.setdefault(issue.where, []).append((issue.stage or "").upper())
    merged: list[Issue] = []
    for issue in issues:
        stages = absent.pop(issue.where, []) if issue.code == "missing-stage" else []
        if stages:
            text = f"no {joined(stages, most=len(stages))} files, which an entry written like this one has"
            merged.append(msgspec.structs.replace(issue, message=text) if len(stages) > 1 else issue)
        elif issue.code != "missing-stage":
            merged.append(issue)
    return merged


def issue_line(issue: Issue) -> str:
    """One issue on one line: severity, where, what, what next."""
    where = f"{issue.where}:{issue.line}" if issue.where and issue.line else issue.where or issue.stage or ""
    hint = f" ({issue.hint})" if issue.hint else ""
    return (
        f"{issue.severity}: {where}: {issue.message}{hint}"
        if where
        else f"{issue.severity}: {issue.message}{hint}"
    )
