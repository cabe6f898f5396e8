"""What a policy decides: level and tolerance of a rule for one kernel, and which kernels are judged at all."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from irdiff.errors import UsageError
from irdiff.model.facts import FactSpec
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


def check_names(policy: Policy, rules: Sequence[RuleSpec], facts: Mapping[str, FactSpec]) -> None:
    """Raise UsageError for a code, fact or stage that nobody registers: a gate that judges nothing must say so."""
    codes = {rule.code for rule in rules}
    own = {each.code for each in policy.expectations}
    file = policy.path or "policy"
    for code in sorted(own & codes):
        raise UsageError(
            f"code {code} is one of irdiff's rules", where=f"{file}: check.expect", hint="take another code"
        )
    places: list[tuple[Collection[str], str]] = [(policy.levels, f"{file}: check.rules")]
    places.append((policy.tolerances, f"{file}: check.tolerance"))
    places += [(each.levels, f"{each.where} rules") for each in policy.overrides]
    places += [(each.tolerances, f"{each.where} tolerance") for each in policy.overrides]
    for table, where in (*places, (policy.forced, "--rule")):
        for code in table:
            if not any(fnmatchcase(known, code) for known in codes | own):
                raise _unknown("rule", code, codes | own, where, "irdiff rules")
    for each in policy.expectations:
        for name in facts_of(each.expression):
            if name not in facts:
                raise _unknown("fact", name, facts, f"{file}: check.expect {each.code}", "irdiff facts")


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


def _unknown(what: str, name: str, known: Collection[str], where: str, command: str) -> UsageError:
    near = difflib.get_close_matches(name, sorted(known), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"{command} lists them"
    return UsageError(f"no {what} is called {name!r}", where=where, hint=hint)
