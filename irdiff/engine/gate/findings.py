"""Findings of one pair, in words and values: of a rule that fired, and of an expression that does not hold."""

from __future__ import annotations

from irdiff.engine.gate.evaluate import Fire
from irdiff.engine.gate.expressions import measured
from irdiff.engine.gate.policy import facts_of
from irdiff.engine.gate.view import PairView
from irdiff.model.facts import Value
from irdiff.model.gate import Finding, Level, Silenced, Told, Tolerance, Unjudged
from irdiff.model.policy import Expectation
from irdiff.model.report import Change, KernelRef, KernelReport
from irdiff.model.rules import Fired
from irdiff.model.words import value_words

DOUBTFUL = 0.5
"""Confidence of a pairing under which two kernels may not be the same one."""


def finding_of(fire: Fire, view: PairView, level: Told, decided: str) -> Finding:
    """A rule that fired on a pair."""
    found, report = fire.found, view.kernel
    change = found.change
    before, after = _values(found, change)
    return Finding(
        rule=fire.rule.code,
        level=level,
        message=found.message,
        kernel=report.name,
        path=report.path_after,
        target=report.target,
        fact=(change.fact if change is not None else found.fact) or None,
        scope=view.scope_of(change) if change is not None else found.scope,
        before=before,
        after=after,
        source=change.source if change is not None else None,
        decided=decided,
    )


def finding_of_one(code: str, found: Fired, kernel: KernelRef, level: Told, decided: str) -> Finding:
    """A rule that fired on a kernel of one side."""
    return Finding(
        rule=code,
        level=level,
        message=found.message,
        kernel=kernel.name,
        path=kernel.path,
        target=kernel.target,
        decided=decided,
    )


def not_expected(own: Expectation, view: PairView, level: Told, decided: str) -> Finding:
    """An expression that does not hold, with the values of the facts in it."""
    report = view.kernel
    facts = facts_of(own.expression)
    shown = measured(own.expression, view)
    numbers = ", ".join(
        f"{text} {value_words(before)} → {value_words(after)}" for text, before, after in shown
    )
    change = view.change(facts[0]) if facts else None
    told = own.text in (own.title or own.text)  # the title stands above it
    return Finding(
        rule=own.code,
        level=level,
        message=numbers if told and numbers else f"not {own.text}: {numbers}",
        kernel=report.name,
        path=report.path_after,
        target=report.target,
        fact=facts[0] if facts else None,
        before=shown[0][1] if shown else None,
        after=shown[0][2] if shown else None,
        source=change.source if change is not None else None,
        decided=decided,
    )


def not_known(own: Expectation, view: PairView) -> Unjudged:
    """An expression that cannot be decided for want of a fact."""
    report = view.kernel
    missing = [
        text for text, before, after in measured(own.expression, view) if before is None or after is None
    ]
    return Unjudged(
        code="unknown-fact",
        message=f"{own.code} ({own.text}) needs {', '.join(missing) or 'facts'} that is not known",
        kernel=report.name,
        path=report.path_after,
        rules=(own.code,),
        hint="if_known = true passes over kernels that do not record it",
    )


def silenced(code: str, message: str, kernel: KernelReport | KernelRef, why: str) -> Silenced:
    """A rule that would have fired."""
    return Silenced(rule=code, kernel=kernel.name, target=kernel.target, message=message, why=why)


def lowered(level: Level, decided: str, *, exact: bool, confidence: float = 1.0) -> tuple[Told, str]:
    """The level at which something is told.

    An error is a warning where it rests on an estimate, and where the two kernels may not be the same one.
    """
    if level == "error" and not exact:
        return "warn", f"{decided}; a warning because it rests on an estimate"
    if level == "error" and confidence < DOUBTFUL:
        return "warn", f"{decided}; a warning because the kernels are paired with confidence {confidence:g}"
    return ("error" if level == "error" else "warn"), decided


def allowance(tolerance: Tolerance) -> str:
    """``10 %``, ``16 or 10 %``."""
    parts = [f"{tolerance.absolute:g}"] if tolerance.absolute else []
    parts += [f"{tolerance.percent:g} %"] if tolerance.percent else []
    return " or ".join(parts) or "0"


def _values(found: Fired, change: Change | None) -> tuple[Value | None, Value | None]:
    """The values of the change where they are numbers or the rule compared none; else the numbers it compared."""
    numbers = (
        change is not None and isinstance(change.before, (int, float)) and not isinstance(change.before, bool)
    )
    if found.before is not None and found.after is not None and not numbers:
        return _plain(found.before), _plain(found.after)
    return (change.before, change.after) if change is not None else (None, None)


def _plain(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number
