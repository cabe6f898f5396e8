"""What is to be said of kernels, one remark each: what rules found, or without a gate the changes themselves.

The one order and wording that every format uses: errors first, rule by rule, the worst kernel first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from irdiff.model.facts import Value
from irdiff.model.gate import Finding, Judgement
from irdiff.model.report import KernelReport, Report
from irdiff.present.labels import Labels, judged, others, place_of
from irdiff.present.view import row_of, told_changes
from irdiff.present.wording import ARROW

Weight: TypeAlias = Literal["error", "warning", "note"]

LEVELS: tuple[Weight, ...] = ("error", "warning", "note")
"""The worst first."""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing said of one kernel."""

    code: str
    """Code of the rule; without a gate the id of the fact."""
    title: str
    level: Weight
    message: str
    kernel: str
    label: str
    """The name, with the beginning of its entry where others are called the same."""
    path: str
    """The folder of the entry."""
    target: str | None
    scope: str
    """``loop0``; empty for the whole kernel."""
    fact: str | None
    before: Value | None
    after: Value | None
    source: str | None
    """``file.py:line`` of the user's Python."""
    file: str | None
    """The file of it; where no line is known, that of something else said of the kernel."""
    begins: str
    """``begins in TTGIR (TTGIR passes)``; empty where nothing is known of it."""
    decided: str
    fingerprint: str
    """Stable over runs and lines."""
    accepted: str | None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """Which entry it is about."""
        return self.kernel, self.path, self.target


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Kernels of which the same is said; the worst is the example."""

    members: tuple[Remark, ...]

    @property
    def worst(self) -> Remark:
        """The example."""
        return self.members[0]

    @property
    def label(self) -> str:
        """``attn_fwd (and 5 more)``."""
        return f"{self.worst.label}{others(len(self.members) - 1)}"


class RuleGroup(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that fired, or one fact that moved: what it says, worst first."""

    code: str
    title: str
    level: Weight
    clusters: tuple[Cluster, ...]

    @property
    def kernels(self) -> int:
        """How many entries."""
        return len({remark.key for cluster in self.clusters for remark in cluster.members})


def remarks(report: Report) -> tuple[Remark, ...]:
    """Everything there is to say, the worst first; accepted findings too."""
    labels = Labels(report)
    judgement = judged(report)
    if judgement is None:
        return tuple(_changes(report, labels))
    pairs = {key: kernel for kernel in report.kernels for key in _keys(kernel)}
    times = {} if isinstance(report.times, msgspec.UnsetType) else report.times
    order = {code: place for place, code in enumerate(sorted(judgement.rules))}
    found = sorted(judgement.findings, key=lambda finding: _worst_first(finding, order, times))
    files = {(each.kernel, each.path): place_of(each.source)[0] for each in reversed(found) if each.source}
    return tuple(_of(finding, judgement, pairs, labels, files) for finding in found)


def grouped(found: Sequence[Remark]) -> tuple[RuleGroup, ...]:
    """Remarks rule by rule in the order of their worst; in a rule those that say the same together."""
    groups: dict[tuple[Weight, str], dict[tuple[str, ...], list[Remark]]] = {}
    for remark in found:
        same = (remark.message, remark.begins, remark.source or "")
        groups.setdefault((remark.level, remark.code), {}).setdefault(same, []).append(remark)
    return tuple(
        RuleGroup(
            code=code,
            title=next(iter(clusters.values()))[0].title,
            level=level,
            clusters=tuple(Cluster(members=tuple(members)) for members in clusters.values()),
        )
        for (level, code), clusters in groups.items()
    )


def spread(groups: Sequence[RuleGroup], most: int) -> tuple[tuple[RuleGroup, ...], int]:
    """At most so many clusters, of each rule its worst before a second of any, and how many are left out."""
    room = min(most, sum(len(group.clusters) for group in groups))
    kept = [0] * len(groups)
    while room:
        for at, group in enumerate(groups):
            if room and kept[at] < len(group.clusters):
                kept[at] += 1
                room -= 1
    made = tuple(
        msgspec.structs.replace(group, clusters=group.clusters[:count])
        for group, count in zip(groups, kept, strict=True)
        if count
    )
    return made, sum(len(group.clusters) for group in groups) - sum(kept)


def begins_at(kernel: KernelReport | None) -> str:
    """``begins in TTGIR (TTGIR passes)``; empty where nothing is known of it."""
    if kernel is None or kernel.first_divergence is None:
        return ""
    cause = kernel.first_divergence.cause
    words = f" ({cause.replace('->', ARROW)})" if cause else ""
    return f"begins in {kernel.first_divergence.stage.upper()}{words}"


def _keys(kernel: KernelReport) -> Iterator[tuple[str, str]]:
    for name in {kernel.name, kernel.name_after or kernel.name}:
        for path in {kernel.path_before, kernel.path_after}:
            yield name, path


def _of(
    finding: Finding,
    judgement: Judgement,
    pairs: Mapping[tuple[str, str], KernelReport],
    labels: Labels,
    files: Mapping[tuple[str, str], str],
) -> Remark:
    rule = judgement.rules.get(finding.rule)
    entry = (finding.kernel, finding.path)
    return Remark(
        code=finding.rule,
        title=rule.title if rule is not None else finding.rule,
        level="error" if finding.level == "error" else "warning",
        message=finding.message,
        kernel=finding.kernel,
        label=labels.of(finding.kernel, finding.path),
        path=finding.path,
        target=finding.target,
        scope=finding.scope,
        fact=finding.fact,
        before=finding.before,
        after=finding.after,
        source=finding.source,
        file=place_of(finding.source)[0] if finding.source else files.get(entry),
        begins=begins_at(pairs.get(entry)),
        decided=finding.decided,
        fingerprint=finding.fingerprint
        or _digest(finding.rule, finding.kernel, finding.target, finding.fact, finding.scope),
        accepted=finding.accepted,
    )


def _worst_first(
    finding: Finding, order: Mapping[str, int], times: Mapping[str, float]
) -> tuple[object, ...]:
    """Errors, then by rule; in a rule what takes the most time, is in a loop, moved the furthest."""
    return (
        finding.level != "error",
        order.get(finding.rule, len(order)),
        finding.rule,
        -times.get(finding.kernel, 0.0),
        not finding.scope,
        -_share_moved(finding),
        finding.kernel,
        finding.target or "",
        finding.path,
        finding.scope,
        finding.message,
    )


def _share_moved(finding: Finding) -> float:
    """How far the number moved, as a share of the one before; 0 where it is no number."""
    values = [value for value in (finding.before, finding.after) if isinstance(value, int | float)]
    if len(values) < 2 or any(isinstance(value, bool) for value in values):
        return 0.0
    return abs(values[1] - values[0]) / max(abs(values[0]), 1)


def _changes(report: Report, labels: Labels) -> Iterator[Remark]:
    """The changes that compare would list, fact by fact: notes, since nobody judged them."""
    found: dict[str, list[Remark]] = {}
    for kernel in report.kernels:
        if kernel.status != "changed":
            continue
        for change in told_changes(kernel, report, everything=False)[1]:
            spec = report.facts.get(change.fact)
            row = row_of(change, kernel, report)
            scope = change.scope.removeprefix(kernel.name).lstrip("/")
            made = Remark(
                code=change.fact,
                title=spec.title if spec is not None else row.title,
                level="note",
                message=f"{row.change}, in {scope}" if scope else row.change,
                kernel=kernel.name,
                label=labels.of(kernel.name, kernel.path_before),
                path=kernel.path_after,
                target=kernel.target,
                scope=scope,
                fact=change.fact,
                before=change.before,
                after=change.after,
                source=change.source,
                file=place_of(change.source)[0] if change.source else None,
                begins=begins_at(kernel),
                decided="",
                fingerprint=_digest(change.fact, kernel.name, kernel.target, scope),
                accepted=None,
            )
            found.setdefault(change.fact, []).append(made)
    for made_of_one_fact in found.values():
        yield from made_of_one_fact


def _digest(*parts: str | None) -> str:
    text = "\0".join("" if part is None else part for part in parts)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
