"""The view of ``check --explain``: which rule decided, which setting gave its level, what was silenced and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from irdiff.errors import UsageError
from irdiff.model.gate import Judgement, RuleTold
from irdiff.model.report import Report
from irdiff.nearest import nearest
from irdiff.present.labels import Labels, judged
from irdiff.present.problems import problems
from irdiff.present.remarks import Remark, remarks
from irdiff.present.wording import joined, plural

MOST_ROWS = 60
DEFAULT = "default"


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A table with what it is about."""

    heading: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0
    """Rows left out."""


class ExplainView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a person is told of one rule, or of all."""

    title: str
    paragraphs: tuple[str, ...]
    tables: tuple[Listed, ...]
    footer: tuple[str, ...]


def explain_view(report: Report, code: str | None, *, everything: bool = False) -> ExplainView:
    """What decided: of one rule, or without a code of every rule.

    Raises UsageError for a code that no rule has, ValueError for a report without a judgement.
    """
    judgement = judged(report)
    if judgement is None:
        raise ValueError("the report holds no judgement")
    if code is None:
        return _of_all(report, judgement)
    code = code.upper()
    if code not in judgement.rules:
        hint = nearest(code, judgement.rules, "irdiff rules lists them", cutoff=0.5)
        raise UsageError(f"no rule is called {code!r}", where="--explain", hint=hint)
    return _of_one(report, judgement, code, everything=everything)


def _of_all(report: Report, judgement: Judgement) -> ExplainView:
    found = Counter((finding.rule, finding.accepted is not None) for finding in judgement.findings)
    silenced = Counter(each.rule for each in judgement.silenced)
    unjudged = Counter(code for each in judgement.unjudged for code in each.rules)
    rows = tuple(
        (
            code,
            rule.level if rule.level == rule.default else f"{rule.level} ({rule.default})",
            *map(_count, (found[code, False], found[code, True], silenced[code], unjudged[code])),
            _count(rule.judged),
            _count(rule.not_applicable),
            rule.title,
        )
        for code, rule in sorted(judgement.rules.items())
    )
    header = ("rule", "level", "fired", "accepted", "silenced", "unjudged", "judged", "not recorded", "title")
    policy = (
        f"Policy: {judgement.policy}." if judgement.policy else "No policy file: every rule at its default."
    )
    return ExplainView(
        title=plural(len(rows), "rule"),
        paragraphs=(f"{policy} A level set otherwise than by default has the default in brackets.",),
        tables=(Listed(heading="", header=header, rows=rows),),
        footer=("irdiff check … --explain CODE tells of one; irdiff rules CODE says when it fires, and why",),
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else "-"


def _of_one(report: Report, judgement: Judgement, code: str, *, everything: bool) -> ExplainView:
    rule = judgement.rules[code]
    told = [remark for remark in remarks(report) if remark.code == code]
    fired = [remark for remark in told if remark.accepted is None]
    accepted = [remark for remark in told if remark.accepted is not None]
    labels = Labels(report)
    most = None if everything else MOST_ROWS
    tables = (
        _listed("fired", [_fired_row(remark) for remark in fired], most),
        _listed(
            "accepted",
            [
                (remark.label, remark.target or "", remark.message, remark.accepted or "")
                for remark in accepted
            ],
            most,
        ),
        _listed(
            "silenced",
            [
                (labels.of(each.kernel, None), each.target or "", each.message, each.why)
                for each in judgement.silenced
                if each.rule == code
            ],
            most,
        ),
        _listed(
            "could not be judged",
            [
                (each.label, each.stage or "", each.message, each.hint)
                for each in problems(report)
                if code in each.rules
            ],
            most,
        ),
        _listed(
            "stale acceptances",
            [
                (each.kernel, each.target or "", each.why, each.owner)
                for each in judgement.stale
                if each.rule == code
            ],
            most,
        ),
    )
    return ExplainView(
        title=f"{code}  {rule.title}",
        paragraphs=(
            _level(rule, told, judgement),
            _applied(rule),
            *((rule.why,) if rule.why else ()),
        ),
        tables=tuple(table for table in tables if table.rows),
        footer=(_page(rule, code, judgement),),
    )


def _page(rule: RuleTold, code: str, judgement: Judgement) -> str:
    """Where it is written when exactly it fires; an expectation of the user's has neither default nor reason."""
    if rule.default == "off" and not rule.why:
        return f"[[check.expect]] of {judgement.policy or 'the policy'} says what {code} expects"
    return f"irdiff rules {code} says when exactly it fires, with examples"


def _level(rule: RuleTold, told: Sequence[Remark], judgement: Judgement) -> str:
    """Which setting gave the level."""
    decided = [each for each in dict.fromkeys(remark.decided for remark in told) if each != DEFAULT]
    if rule.level == rule.default:
        text = f"Level {rule.level}, its default"
    else:
        by = f" by {judgement.policy}" if judgement.policy else " by the policy"
        text = f"Level {rule.level}, set{by}; its default is {rule.default}"
    return f"{text}. Decided here by {joined(decided, most=4)}." if decided else f"{text}."


def _applied(rule: RuleTold) -> str:
    absent = (
        f"; {plural(rule.not_applicable, 'kernel')} "
        f"{'does' if rule.not_applicable == 1 else 'do'} not record what it judges"
        if rule.not_applicable
        else ""
    )
    return f"It judged {plural(rule.judged, 'kernel')}{absent}."


def _fired_row(remark: Remark) -> tuple[str, ...]:
    decided = "" if remark.decided == DEFAULT else remark.decided
    where = "   ".join(part for part in (remark.source or "", remark.begins, decided) if part)
    return (remark.level, remark.label, remark.target or "", remark.message, where)


def _listed(heading: str, rows: Sequence[tuple[str, ...]], most: int | None) -> Listed:
    kept = rows if most is None else rows[:most]
    return Listed(
        heading=f"{heading}: {len(rows):,}", header=(), rows=tuple(kept), more=len(rows) - len(kept)
    )
