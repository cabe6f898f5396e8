"""What a policy names must be there, and what its expressions compare must be comparable.

A gate that judges nothing must say so: a code, fact or word that nobody knows is an error of the configuration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from irdiff.engine.gate.policy import facts_of
from irdiff.errors import UsageError
from irdiff.model.facts import FactSpec
from irdiff.model.policy import Comparison, Expression, Policy
from irdiff.model.rules import RuleSpec
from irdiff.nearest import nearest

NUMBERS = frozenset({"count", "quantity", "flag"})
"""Kinds whose values are no text."""
WITHOUT = "write a number, true or false without quotes"
JOINED = " + "
"""Between the words of a token that names several."""


def check_names(policy: Policy, rules: Sequence[RuleSpec], facts: Mapping[str, FactSpec]) -> None:
    """Raise UsageError for a code, a fact or a word of a fact that nobody registers, with the place of it."""
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
                raise UsageError(
                    f"no rule is called {code!r}", where=where, hint=nearest_rule(code, codes | own)
                )
    for each in policy.expectations:
        where = f"{file}: check.expect {each.code}"
        for name in facts_of(each.expression):
            if name not in facts:
                raise UsageError(
                    f"no fact is called {name!r}",
                    where=where,
                    hint=nearest(name, facts, "irdiff facts lists them"),
                )
        for comparison in _comparisons(each.expression):
            _check_words(comparison, facts, where)


def nearest_rule(code: str, known: Collection[str]) -> str:
    """A hint with the codes most like one that is none, in whatever case it is written."""
    return nearest(code.upper(), known, "irdiff rules lists them", cutoff=0.5)


def _comparisons(expression: Expression) -> Iterator[Comparison]:
    if isinstance(expression, Comparison):
        yield expression
    else:
        for part in expression.parts:
            yield from _comparisons(part)


def _check_words(comparison: Comparison, facts: Mapping[str, FactSpec], where: str) -> None:
    """Raise UsageError where a fact is compared with a text that it never is."""
    sides = (comparison.measured, comparison.bound)
    for measured, bound in (sides, sides[::-1]):
        if measured.fact is None or not isinstance(bound.constant, str) or measured.key is not None:
            continue
        equal = comparison.operator in ("==", "!=")
        _check_word(facts[measured.fact], bound.constant, where, equal=equal)


def _check_word(spec: FactSpec, text: str, where: str, *, equal: bool) -> None:
    if spec.kind in NUMBERS:
        raise UsageError(f"{spec.id} is never a text, and so not {text!r}", where=where, hint=WITHOUT)
    if spec.kind != "token":
        return
    if spec.order:
        for word in text.split(JOINED) if equal else (text,):
            if word not in spec.order:
                known = f"it is one of {', '.join(spec.order)}, in ascending order"
                meant = nearest(word, spec.order, "")
                raise UsageError(f"{spec.id} is never {word!r}", where=where, hint=f"{meant} {known}".strip())
    elif not equal:
        raise UsageError(
            f"the values of {spec.id} have no order: no text is more than another",
            where=where,
            hint="compare it with == or !=",
        )
