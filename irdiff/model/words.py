"""A value on one line, as findings and acceptances say it."""

from __future__ import annotations

from irdiff.model.facts import Scalar, Value
from irdiff.model.kinds import scalar_text

WRITTEN_UNITS = frozenset({"B", "%", "KiB", "cycles", "FLOP"})
"""Units that stand behind a number; others are things counted, which the title names."""


def number_words(value: Scalar, unit: str = "") -> str:
    """``288 B``, ``1,180``, ``12.5 %``."""
    fractional = isinstance(value, float) and not value.is_integer()
    text = f"{value:,.1f}" if fractional else scalar_text(value)
    return f"{text} {unit}" if unit in WRITTEN_UNITS else text


def value_words(value: Value | None, unit: str = "") -> str:
    """A whole value; ``unknown`` for none."""
    if value is None:
        return "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {number_words(item)}" for key, item in value.items()) or "none"
    if isinstance(value, tuple):
        return "; ".join(value) or "none"
    return number_words(value, unit)
