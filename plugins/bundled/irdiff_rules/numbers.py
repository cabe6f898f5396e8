"""Numbers of facts, and how a rule says them."""

from __future__ import annotations

from collections.abc import Iterable

from irdiff.api import Change, FactSpec, Fired, RuleView, Value


def number(value: Value | None) -> float | None:
    """A number, or None for everything else."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def moved(change: Change, spec: FactSpec, view: RuleView) -> str:
    """``code size 768 → 2,304 B``: the unit once."""
    before, after = view.words(change.before, spec), view.words(change.after, spec)
    unit = f" {spec.unit}"
    if spec.unit and before.endswith(unit) and after.endswith(unit):
        before = before[: -len(unit)]
    return f"{spec.title} {before} → {after}"


def whole(view: RuleView, role: str) -> list[tuple[Change, FactSpec]]:
    """Changes of the whole kernel in the facts of a role."""
    specs = {spec.id: spec for spec in view.facts(role)}
    return [
        (change, specs[change.fact])
        for change in view.changes(role)
        if change.scope == view.kernel.name and change.fact in specs
    ]


def risen(view: RuleView, role: str) -> Iterable[Fired]:
    """One finding for each fact of a role that is larger than before."""
    for change, spec in whole(view, role):
        before, after = number(change.before), number(change.after)
        if before is not None and after is not None and after > before:
            yield Fired(message=moved(change, spec, view), change=change, before=before, after=after)


def tally(value: Value | None) -> dict[str, int]:
    """A tally's counts; empty where it is none."""
    if not isinstance(value, dict):
        return {}
    return {key: count for key, count in value.items() if isinstance(count, int) and count}
