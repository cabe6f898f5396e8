"""What a policy decides: level and tolerance of a rule for one kernel, and which kernels are judged at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from irdiff.model.gate import Level, Tolerance
from irdiff.model.policy import Combination, Comparison, Expression, Policy, Selection
from irdiff.model.rules import RuleSpec

DEFAULT = "default"


class Decider:
    """A policy over the rules there are."""

    def __init__(self, policy: Policy, rules: Sequence[RuleSpec]) -> None:
        self._policy = policy
        self._rules = {rule.code: rule for rule in rules}
        self._expectations = {each.code: each for each in policy.expectations}
        self._file = policy.path or "policy"

    def level(self, code: str, kernel: str, target: str | None) -> tuple[Level, str]:
        """The level of a rule for a kernel, and which setting gave it (``default``, ``irdiff.toml: check.rules``)."""
        decided: tuple[Level, str] = ("off", DEFAULT)
        if code in self._rules:
            decided = (self._rules[code].level, DEFAULT)
        elif code in self._expectations:
            decided = (self._expectations[code].level, f"{self._file}: check.expect {code}")
        found = _level_in(self._policy.levels, code)
        if found is not None:
            decided = (found[0], f"{self._file}: check.rules {found[1]}")
        for override in self._policy.overrides:
            found = _level_in(override.levels, code)
            if found is not None and selects(override.selection, kernel, target):
                decided = (found[0], f"{override.where} {found[1]}")
        found = _level_in(self._policy.forced, code)
        return (found[0], f"--rule {found[1]}") if found is not None else decided

    def tolerance(self, code: str, kernel: str, target: str | None) -> tuple[Tolerance, str]:
        """How far a number may move before a rule fires on a kernel, and which setting says so."""
        decided = (self._rules[code].tolerance if code in self._rules else Tolerance(), DEFAULT)
        if code in self._policy.tolerances:
            decided = (self._policy.tolerances[code], f"{self._file}: check.tolerance {code}")
        for override in self._policy.overrides:
            if code in override.tolerances and selects(override.selection, kernel, target):
                decided = (override.tolerances[code], f"{override.where} tolerance {code}")
        return decided

    def selected(self, kernel: str, target: str | None) -> bool:
        """Whether a kernel is judged at all."""
        return selects(self._policy.selection, kernel, target)


def selects(selection: Selection, kernel: str, target: str | None) -> bool:
    """Whether a selection holds a kernel; one whose target is not known is matched by ``*`` alone."""
    if selection.kernels and not any(fnmatchcase(kernel, glob) for glob in selection.kernels):
        return False
    if any(fnmatchcase(kernel, glob) for glob in selection.exclude):
        return False
    return not selection.targets or any(
        glob == "*" if target is None else fnmatchcase(target, glob) for glob in selection.targets
    )


def within(tolerance: Tolerance, before: float, after: float) -> bool:
    """Whether a number moved no further than it may; at the limit it is still within."""
    moved = abs(after - before)
    return moved <= tolerance.absolute or moved <= abs(before) * tolerance.percent / 100


def facts_of(expression: Expression) -> tuple[str, ...]:
    """Ids of the facts that an expression names, once each, in order."""
    if isinstance(expression, Combination):
        names = [name for part in expression.parts for name in facts_of(part)]
    else:
        assert isinstance(expression, Comparison)
        sides = (expression.measured.fact, expression.bound.fact)
        names = [name for name in sides if name is not None]
    return tuple(dict.fromkeys(names))


def _level_in(levels: Mapping[str, Level], code: str) -> tuple[Level, str] | None:
    """The level that a table gives a code, and the key: exact before glob, a later glob before an earlier."""
    if code in levels:
        return levels[code], code
    globs = [glob for glob in levels if fnmatchcase(code, glob)]
    return (levels[globs[-1]], globs[-1]) if globs else None
