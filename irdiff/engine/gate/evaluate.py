"""What the rules find in one pair of kernels, before any policy: which fire, which could judge, which had no say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from irdiff.engine.gate.policy import within
from irdiff.engine.gate.view import PairView
from irdiff.engine.kernels import Kernel
from irdiff.model.facts import Value
from irdiff.model.report import Change, KernelReport
from irdiff.model.rules import Fired, RuleSpec
from irdiff.registry import Registry, one_line

SAME = ("identical", "equivalent")


class Fire(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that found something."""

    rule: RuleSpec
    found: Fired
    exact: bool
    """Whether the fact it rests on is exact on both sides."""
    silent: str = ""
    """Why it has no say all the same: the machine code is the same."""


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """All rules over one pair."""

    fires: tuple[Fire, ...] = ()
    judged: frozenset[str] = frozenset()
    """Codes of the rules that could judge it."""
    failures: Mapping[str, str] = {}
    """Code of a rule that raised to what it raised."""


def evaluate(view: PairView, registry: Registry) -> Evaluation:
    """Ask every rule."""
    fires: list[Fire] = []
    judged: set[str] = set()
    failures: dict[str, str] = {}
    other_target = None not in view.targets and view.targets[0] != view.targets[1]
    quiet = _led_to_nothing(view.kernel, registry)
    unmoved = view.kernel.status in SAME
    for rule in registry.rules:
        if rule.gone is not None or (other_target and not rule.across_targets):
            continue
        if rule.role and not view.facts(rule.role):
            continue
        judged.add(rule.code)
        if unmoved and rule.role:
            continue
        try:
            found = tuple(_ask(rule, view))
        except Exception as error:  # noqa: BLE001  # a rule of any plugin; its code is in what is reported
            failures[rule.code] = one_line(f"{type(error).__name__}: {error}")
            judged.discard(rule.code)
            continue
        fires.extend(_fire(rule, fired, view, quiet) for fired in found)
    return Evaluation(fires=tuple(fires), judged=frozenset(judged), failures=failures)


def marked(before: Kernel, after: Kernel, report: KernelReport, registry: Registry) -> KernelReport:
    """The pair, each change with the codes of the rules that it fires, at their own levels and tolerances."""
    if not registry.rules or report.status in SAME:
        return report
    fires = evaluate(PairView(before, after, report, registry), registry).fires
    return with_codes(
        report,
        (
            fire
            for fire in fires
            if not fire.silent and fire.rule.level != "off" and not tolerated(fire.rule, fire.found)
        ),
    )


def tolerated(rule: RuleSpec, found: Fired) -> bool:
    """Whether a number moved no further than the rule itself allows."""
    if found.before is None or found.after is None:
        return False
    return within(rule.tolerance, found.before, found.after)


def with_codes(report: KernelReport, fires: Iterable[Fire]) -> KernelReport:
    """The report, each change with the codes of the rules that rest on it."""
    codes: dict[tuple[str, str], set[str]] = {}
    for fire in fires:
        for change in (fire.found.change, *fire.found.beside):
            if change is not None:
                codes.setdefault((change.fact, change.scope), set()).add(fire.rule.code)
    if not codes:
        return report
    changes = tuple(_coded(change, codes.get((change.fact, change.scope))) for change in report.changes)
    return msgspec.structs.replace(report, changes=changes)


def _coded(change: Change, codes: set[str] | None) -> Change:
    return msgspec.structs.replace(change, rules=tuple(sorted(codes))) if codes else change


def _ask(rule: RuleSpec, view: PairView) -> Iterable[Fired]:
    if rule.judge is not None:
        yield from rule.judge(view)
        return
    for change in view.changes(rule.role):
        if rule.fires(change):
            numbers = [_number(value) for value in (change.before, change.after)]
            yield Fired(message=_said(change, view), change=change, before=numbers[0], after=numbers[1])


def _number(value: Value | None) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _said(change: Change, view: PairView) -> str:
    spec = view.spec(change.fact)
    scope = view.scope_of(change)
    where = f", in {scope}" if scope else ""
    return f"{spec.title} {view.words(change.before, spec)} → {view.words(change.after, spec)}{where}"


def _fire(rule: RuleSpec, found: Fired, view: PairView, quiet: Mapping[str, str]) -> Fire:
    fact = found.change.fact if found.change is not None else found.fact
    silent = ""
    if fact and not rule.launch:
        stage = fact.partition(".")[0]
        silent = quiet.get(stage, quiet.get("", "") if view.is_derived(fact) else "")
    return Fire(rule=rule, found=found, exact=not fact or view.exact(fact), silent=silent)


def _led_to_nothing(kernel: KernelReport, registry: Registry) -> dict[str, str]:
    """Steps of the compiler behind which everything is the same again, with how to say it; ``""`` for facts of no step.

    What moved there is no longer to be seen in what is executed.
    """
    steps = [stage for stage in registry.stages if stage.pipeline and stage.id in kernel.stages]
    present = [stage for stage in steps if kernel.stages[stage.id].sameness != "missing"]
    same = [at for at, stage in enumerate(present) if kernel.stages[stage.id].sameness in SAME]
    if not same:
        return {}
    last = present[same[-1]]
    words = "the machine code is the same" if last.machine_code else f"the {last.title} behind it is the same"
    quiet = {stage.id: words for stage in present[: same[-1]]}
    if last.machine_code or same[-1] == len(present) - 1:
        quiet[""] = words
    return quiet
