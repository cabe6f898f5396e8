"""Facts as a table for other programs: one row for each kernel, scope and fact, always with the same columns.

A value has three forms, so that every column has one type: ``value_number`` for what can be summed or plotted (a
count, a quantity, a flag as 0 or 1, the sum of a tally), ``value_text`` for what can be grouped by (a token, a flag),
and ``value_json`` for every value in full, keys and all. A tally is one row and not one for each key: its keys depend
on the kernel, and a row that is not there would not say whether the count is 0 or unknown.
"""

from __future__ import annotations

import msgspec


class FactRow(msgspec.Struct, frozen=True, kw_only=True):
    """One fact of one kernel in one scope; the fields are the columns, in this order."""

    kernel: str
    path: str
    target: str | None
    """``cuda:90``."""
    entry: str | None
    """Name of the entry's folder, where it is one."""
    stage: str
    """The stage that said it; of a derived fact the first part of its id."""
    fact: str
    scope: str
    """Empty for the whole kernel, else ``loop0`` or ``loop0/loop1``."""
    kind: str
    value_number: float | None
    value_text: str | None
    value_json: str
    unit: str | None
    better: str
    role: str | None
    exactness: str
    evidence: int
    """Places in the artifact that it rests on."""


COLUMNS = FactRow.__struct_fields__
UNKNOWABLE = frozenset({"target", "entry", "value_number", "value_text", "unit", "role"})
"""Columns that may hold nothing."""
