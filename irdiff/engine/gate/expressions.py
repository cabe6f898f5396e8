"""Whether an expression over facts holds for a pair of kernels: true, false, or not known."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Protocol

from irdiff.model.facts import FactSpec, Scalar, Value
from irdiff.model.policy import Combination, Comparison, Expression, Operand


class Values(Protocol):
    """Values of facts of one pair."""

    def values(self, fact_id: str, scope: str = "") -> tuple[Value | None, Value | None]:
        """The value before and after; None where it is not known."""


def holds(expression: Expression, values: Values, facts: Mapping[str, FactSpec]) -> bool | None:
    """Three-valued: ``None`` where a fact that decides it is not known (``false and unknown`` is false)."""
    if isinstance(expression, Comparison):
        return _compare(expression, values, facts)
    assert isinstance(expression, Combination)
    parts = [holds(part, values, facts) for part in expression.parts]
    if expression.word == "not":
        return None if parts[0] is None else not parts[0]
    decisive = expression.word == "or"
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def measured(expression: Expression, values: Values) -> tuple[tuple[str, Value | None, Value | None], ...]:
    """What the expression rests on: each fact as written (``sass.registers @ loop0``) with both values."""
    if isinstance(expression, Combination):
        return tuple(dict.fromkeys(each for part in expression.parts for each in measured(part, values)))
    assert isinstance(expression, Comparison)
    found = []
    for operand in (expression.measured, expression.bound):
        if operand.fact is not None:
            before, after = (
                _part(value, operand.key) for value in values.values(operand.fact, operand.scope)
            )
            found.append((written(operand), before, after))
    return tuple(dict.fromkeys(found))


def written(operand: Operand) -> str:
    """The fact of an operand as a user writes it, without side and factor."""
    key = f'["{operand.key}"]' if operand.key is not None else ""
    scope = f" @ {operand.scope}" if operand.scope else ""
    return f"{operand.fact}{key}{scope}"


_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}


def _compare(comparison: Comparison, values: Values, facts: Mapping[str, FactSpec]) -> bool | None:
    left = _value(comparison.measured, values)
    right = _value(comparison.bound, values)
    if left is None or right is None:
        return None
    if comparison.operator in ("==", "!=") and isinstance(left, str | bool) and type(left) is type(right):
        return (left == right) == (comparison.operator == "==")
    named = comparison.measured.fact or comparison.bound.fact or ""
    numbers = (_rank(left, facts.get(named)), _rank(right, facts.get(named)))
    if numbers[0] is None or numbers[1] is None:
        return None
    return _OPERATORS[comparison.operator](numbers[0], numbers[1])


def _value(operand: Operand, values: Values) -> Scalar:
    if operand.fact is None:
        return operand.constant
    before, after = values.values(operand.fact, operand.scope)
    found = _part(before if operand.side == "before" else after, operand.key)
    if isinstance(found, int | float) and not isinstance(found, bool):
        return found * operand.factor if operand.factor != 1.0 else found
    return found


def _part(value: Value | None, key: str | None) -> Scalar:
    """One number or word of a value: a tally without a key counts all, a key that it lacks counts 0."""
    if isinstance(value, dict):
        counts = [each for each in value.values() if isinstance(each, int | float)]
        tally = len(counts) == len(value) and not any(isinstance(each, bool) for each in counts)
        if key is not None:
            return value.get(key, 0 if tally else None)
        return sum(counts) if tally else None
    if isinstance(value, tuple):
        return len(value) if key is None else key in value
    return value if key is None else None


def _rank(value: Scalar, spec: FactSpec | None) -> float | None:
    """A number to compare by: a token's place in its order, where it has one."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and spec is not None and value in spec.order:
        return float(spec.order.index(value))
    return None
