"""Words and numbers as a user reads them: one place for rounding, arrows and plurals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath

from irdiff.model.facts import FactSpec, Scalar, Value
from irdiff.model.kinds import scalar_text
from irdiff.model.report import Change

ARROW = "→"
MAX_KEYS = 3
"""Keys of a tally or fields of a record named in one row."""


def plural(count: int, noun: str) -> str:
    """``1 kernel``, ``1,200 kernels``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def joined(items: list[str], *, most: int) -> str:
    """The first ``most`` items, and how many more there are."""
    text = ", ".join(items[:most])
    return f"{text} and {len(items) - most} more" if len(items) > most else text


def number(value: Scalar, unit: str = "") -> str:
    """A number with its unit where the unit is not a thing counted."""
    fractional = isinstance(value, float) and not value.is_integer()
    text = f"{value:,.1f}" if fractional else scalar_text(value)
    return f"{text} {unit}" if unit in {"B", "%", "KiB", "cycles"} else text


def before_after(change: Change, spec: FactSpec | None, *, most: int = MAX_KEYS) -> str:
    """``64 → 72``; for a tally or record up to ``most`` of the keys that moved, each with both values."""
    before, after = change.before, change.after
    unit = spec.unit if spec else ""
    if change.effect == "unexplained":
        if change.delta is None:
            return "its form differs, and its lines are not here"
        lines = change.delta if isinstance(change.delta, int) else 0
        if not lines:
            return "bytes that its text does not show differ"
        return f"{plural(lines, 'line')} {'differs' if lines == 1 else 'differ'}"
    if isinstance(change.delta, dict):
        old, new = _entries(before), _entries(after)
        items = [
            f"{key}: {number(old(key))} {ARROW} {number(new(key))}"
            for key in sorted(change.delta, key=lambda key: (-_size(change.delta, key), key))
        ]
        return joined(items, most=most)
    if isinstance(change.delta, tuple):
        return joined(list(change.delta), most=most)
    return f"{value_text(before)} {ARROW} {value_text(after, unit)}"


def _entries(value: Value | None) -> Callable[[str], Scalar]:
    """The entries of a tally or record: an absent key counts 0 in a tally of counts and is none in a record."""
    if not isinstance(value, dict):
        return lambda key: None
    counts = all(isinstance(item, int) and not isinstance(item, bool) for item in value.values())
    absent = 0 if counts else None
    return lambda key: value.get(key, absent)


def _size(delta: Value | None, key: str) -> int:
    moved = delta.get(key) if isinstance(delta, dict) else None
    return abs(moved) if isinstance(moved, int) else 0


def value_text(value: Value | None, unit: str = "") -> str:
    """A whole value on one line."""
    if value is None:
        return "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{key} {number(item)}" for key, item in value.items()) or "none"
    if isinstance(value, tuple):
        return "; ".join(value) or "none"
    return number(value, unit)


def printable(text: str) -> str:
    """Text from an artifact made safe for a terminal: control characters (escape sequences) become ``?``."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)


def one_line(text: str) -> str:
    """As ``printable``, on one line: a name with a line end in it must not begin a line of its own.

    On a CI's log a line that begins with ``::`` is a command.
    """
    return printable(text).replace("\n", " ")


def selector(name: str, path: str, names: Sequence[str]) -> str:
    """The name of a kernel, with the beginning of its entry where others are called the same."""
    return f"{name}::{PurePath(path).name[:8]}" if names.count(name) > 1 else name
