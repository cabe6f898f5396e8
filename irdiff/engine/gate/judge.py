"""Judge a comparison by rules and a policy: what failed, what is worth a warning, and what could not be judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

import msgspec

from irdiff.engine.gate import closed
from irdiff.engine.gate.acceptance import accept, with_fingerprints
from irdiff.engine.gate.evaluate import Evaluation, Fire, evaluate, with_codes
from irdiff.engine.gate.expressions import holds
from irdiff.engine.gate.findings import (
    allowance,
    finding_of,
    finding_of_one,
    lowered,
    not_expected,
    not_known,
    silenced,
)
from irdiff.engine.gate.notices import failed_on_both_sides, selecting_nothing
from irdiff.engine.gate.policy import Decider, facts_of, selects, within
from irdiff.engine.gate.subjects import Subjects
from irdiff.engine.gate.tally import Tally
from irdiff.engine.gate.view import PairView
from irdiff.engine.kernels import Kernel
from irdiff.model.gate import Acceptance, Finding, Judgement, Level, Silenced, Unjudged
from irdiff.model.issues import Issue
from irdiff.model.policy import Policy
from irdiff.model.report import KernelRef, KernelReport, Report
from irdiff.registry import Registry

NOT_SELECTED = "not selected by the policy"


class Gate:
    """Judges pair by pair, so that kernels need not be kept: give ``each`` to the Comparer, then ask ``judged``."""

    def __init__(self, registry: Registry, policy: Policy) -> None:
        self._registry = registry
        self._policy = policy
        self._decider = Decider(policy, registry.rules)
        self._findings: list[Finding] = []
        self._unjudged: list[Unjudged] = []
        self._silenced: list[Silenced] = []
        self._tally = Tally(policy, registry.rules)
        self._subjects = Subjects(registry.facts)
        self._selected: list[KernelReport] = []
        self._failed: list[KernelReport] = []
        """Those that neither side compiled."""

    def each(self, before: Kernel, after: Kernel, report: KernelReport) -> KernelReport:
        """Judge one pair; returns it, each change with the codes of the rules that fired on it."""
        if not self._chosen(report):
            self._silenced.append(silenced("", "not judged", report, NOT_SELECTED))
            return report
        self._selected.append(report)
        self._subjects.note(before, report)
        view = PairView(before, after, report, self._registry)
        if all(view.failed):
            self._failed.append(report)
        found = evaluate(view, self._registry)
        self._count(found, report)
        told, answered = self._apply(found.fires, report, view)
        self._fail_closed(view, (before, after), found, answered)
        self._expect(view)
        return with_codes(report, told)

    def judged(self, report: Report, *, accepted: Sequence[Acceptance] = (), today: date) -> Report:
        """The report with its judgement, after every pair was given to ``each``."""
        failed = closed.failed_before(report)
        for reference in report.removed:
            if reference.path not in failed:
                self._gone(reference)
        self._unjudged.extend(closed.of_plugins(self._registry.problems))
        self._unjudged.extend(
            closed.of_issue(issue, None, self._registry)
            for issue in report.issues
            if issue.severity == "error" and issue.where not in failed
        )
        told = self._tally.told()
        enabled = any(rule.level != "off" for rule in told.values())
        self._unjudged.extend(
            closed.of_nothing(
                report,
                selected=len(self._selected),
                failed=len(self._failed),
                enabled=enabled,
                policy=self._policy.path,
            )
        )
        specs = self._registry.facts
        compared = {each.name for each in report.kernels}
        compared |= {each.name for each in (*report.removed, *report.added)}
        named = with_fingerprints(self._findings, self._subjects.of(self._findings, report.removed))
        findings, stale = accept(named, accepted, specs, today, compared)
        unjudged = tuple(dict.fromkeys(self._unjudged))
        uncertain = {rule.code for rule in self._registry.rules if rule.uncertain}
        used = sorted({each.fact for each in findings if each.fact} - report.facts.keys())
        return msgspec.structs.replace(
            report,
            issues=(*report.issues, *self._notices(report)),
            facts=report.facts | {name: specs[name] for name in used if name in specs},
            judgement=Judgement(
                failed=any(
                    each.level == "error" and each.accepted is None and each.rule not in uncertain
                    for each in findings
                ),
                unsure=bool(unjudged),
                findings=tuple(sorted(findings, key=_order)),
                unjudged=unjudged,
                silenced=tuple(
                    sorted(
                        self._silenced,
                        key=lambda each: (each.rule, each.kernel, each.target or "", each.message),
                    )
                ),
                stale=tuple(stale),
                rules=told,
                policy=self._policy.path,
            ),
        )

    def _chosen(self, report: KernelReport) -> bool:
        names = {report.name, report.name_after or report.name}
        return any(self._decider.selected(name, target_of(report)) for name in names)

    def _count(self, found: Evaluation, report: KernelReport) -> None:
        for rule in self._registry.rules:
            if rule.gone is None:
                self._tally.count(rule.code, judged=rule.code in found.judged)
        for code, text in found.failures.items():
            if self._level(code, report)[0] == "off":
                continue
            self._unjudged.append(
                Unjudged(
                    code="rule-failed",
                    message=f"rule {code} raised {text}",
                    kernel=report.name,
                    path=report.path_after,
                    rules=(code,),
                    hint=f"--rule {code}=off goes on without it",
                )
            )

    def _level(self, code: str, report: KernelReport | KernelRef) -> tuple[Level, str]:
        return self._decider.level(code, report.name, target_of(report))

    def _apply(
        self, fires: Iterable[Fire], report: KernelReport, view: PairView
    ) -> tuple[list[Fire], dict[Issue, str | None]]:
        """What is told of one pair; and the issues of which a rule speaks, with its code where it cannot judge.

        An issue that the policy took for a warning, or for nothing, has no code.
        """
        told: list[Fire] = []
        answered: dict[Issue, str | None] = {}
        for fire in fires:
            rule, found = fire.rule, fire.found
            level, decided = self._level(rule.code, report)
            why = self._silence(fire, level, decided, report)
            if found.issue is not None:
                answered[found.issue] = rule.code if not why and level == "error" else None
            if why:
                self._silenced.append(silenced(rule.code, found.message, report, why))
                continue
            told.append(fire)
            if rule.uncertain and level == "error":
                if found.issue is None:
                    self._unjudged.append(
                        Unjudged(
                            code=rule.code,
                            message=found.message,
                            kernel=report.name,
                            path=report.path_after,
                            rules=(rule.code,),
                        )
                    )
                continue
            exact = fire.exact or self._policy.estimates
            told_as = lowered(level, decided, exact=exact, confidence=report.pairing.confidence)
            self._findings.append(finding_of(fire, view, *told_as))
        return told, answered

    def _silence(self, fire: Fire, level: Level, decided: str, report: KernelReport) -> str:
        """Why a rule that found something says nothing; empty where it speaks."""
        if fire.silent:
            return fire.silent
        before, after = fire.found.before, fire.found.after
        if before is not None and after is not None:
            tolerance, where = self._decider.tolerance(fire.rule.code, report.name, target_of(report))
            if within(tolerance, before, after):
                return f"within the tolerance of {allowance(tolerance)} ({where})"
        return f"off ({decided})" if level == "off" else ""

    def _fail_closed(
        self,
        view: PairView,
        kernels: tuple[Kernel, Kernel],
        found: Evaluation,
        answered: dict[Issue, str | None],
    ) -> None:
        report = view.kernel
        known = closed.known_failures(view, kernels)
        errors = [issue for issue in report.issues if issue.severity == "error" and issue not in known]
        for issue in errors:
            code = answered.get(issue, "")
            if code is None:
                continue  # the policy knows of it
            unjudged = closed.of_issue(issue, report, self._registry)
            rules = tuple(sorted({*unjudged.rules, code} - {""}))
            self._unjudged.append(msgspec.structs.replace(unjudged, rules=rules))
        self._unjudged.extend(closed.of_stages(report, (issue.stage for issue in errors)))
        self._unjudged.extend(closed.of_required(view, kernels, self._policy.require))
        enabled = [
            rule
            for rule in self._registry.rules
            if rule.gone is None
            and rule.code not in found.judged
            and self._level(rule.code, report)[0] != "off"
        ]
        self._unjudged.extend(closed.of_tools(view, kernels, enabled, self._registry))
        self._unjudged.extend(closed.of_targets(view, enabled))
        self._unjudged.extend(closed.of_unread(view, kernels, enabled, self._registry))

    def _expect(self, view: PairView) -> None:
        """The user's own rules, as expressions over facts."""
        report = view.kernel
        for own in self._policy.expectations:
            if not selects(own.selection, report.name, target_of(report)):
                continue
            level, decided = self._level(own.code, report)
            if level == "off":
                continue
            held = holds(own.expression, view, self._registry.facts)
            self._tally.count(own.code, judged=held is not None)
            if held is None and not own.if_known:
                self._unjudged.append(not_known(own, view))
            elif held is False:
                exact = self._policy.estimates or all(map(view.exact, facts_of(own.expression)))
                self._findings.append(not_expected(own, view, *lowered(level, decided, exact=exact)))

    def _gone(self, reference: KernelRef) -> None:
        """A kernel that is there before and not after."""
        for rule in self._registry.rules:
            if rule.gone is None:
                continue
            level, decided = self._level(rule.code, reference)
            if not self._decider.selected(reference.name, reference.target):
                continue
            self._tally.count(rule.code, judged=True)
            for found in rule.gone(reference):
                if level == "off":
                    why = f"off ({decided})"
                    self._silenced.append(silenced(rule.code, found.message, reference, why))
                    continue
                told = lowered(level, decided, exact=True)
                self._findings.append(finding_of_one(rule.code, found, reference, *told))

    def _notices(self, report: Report) -> Iterator[Issue]:
        """Warnings that no rule tells."""
        compared = frozenset((each.name, target_of(each)) for each in self._selected)
        single = frozenset((each.name, target_of(each)) for each in (*report.removed, *report.added))
        known = single | frozenset((each.name, target_of(each)) for each in report.kernels)
        off = [own.code for own in self._policy.expectations if self._tally.level(own.code) == "off"]
        yield from selecting_nothing(self._policy, off, compared, known)
        if len(self._failed) < len(self._selected):
            yield from failed_on_both_sides(self._failed)


def target_of(kernel: KernelReport | KernelRef) -> str | None:
    """Of a pair compiled for two targets, the one after."""
    return kernel.target.rpartition(" -> ")[2] if kernel.target is not None else None


def _order(finding: Finding) -> tuple[object, ...]:
    return (
        finding.level != "error",
        finding.rule,
        finding.kernel,
        finding.target or "",
        finding.scope,
        finding.path,
    )
