"""``[[fact]]`` tables of ``irdiff.toml`` (or ``[[tool.irdiff.fact]]`` of ``pyproject.toml``) as pattern facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from irdiff.errors import UsageError
from irdiff.model.facts import Better
from irdiff.model.pattern_cost import PatternError, checked
from irdiff.model.patterns import PatternFact
from irdiff.nearest import nearest
from irdiff.plugin_checks import FACT_ID, NAME

MOST = 200
"""Tables that are taken."""


class FactTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A counting fact."""

    id: str
    title: str
    pattern: str
    stage: str | None = None
    """Only said again: it is the first part of ``id``."""
    better: Better = "neutral"
    unit: str = "lines"
    role: str | None = None
    comparable_when: list[str] = []
    doc: str = ""


def pattern_facts(content: Mapping[str, Any], where: str) -> tuple[PatternFact, ...]:
    """The facts that a configuration declares, in order; ``where`` names its file.

    Raises UsageError with the file, the number of the table and the nearest names for one that means nothing.
    """
    tables = content.get("fact", [])
    if not isinstance(tables, list):
        raise UsageError("fact is no list of tables", where=where, hint="write [[fact]]")
    if len(tables) > MOST:
        raise UsageError(f"there are more than {MOST} [[fact]] tables", where=where)
    facts: list[PatternFact] = []
    for number, table in enumerate(tables, 1):
        made = _fact(table, f"{where}: fact {number}")
        if made.id in (each.id for each in facts):
            raise UsageError(f"{made.id} is declared twice", where=f"{where}: fact {number}")
        facts.append(made)
    return tuple(facts)


def _fact(table: object, where: str) -> PatternFact:
    if not isinstance(table, dict):
        raise UsageError("is no table", where=where, hint="write [[fact]]")
    known = FactTable.__struct_fields__
    for key in table:
        if key not in known:
            raise UsageError(f"no key is called {key!r}", where=where, hint=nearest(key, known))
    try:
        made = msgspec.convert(table, FactTable)
    except msgspec.ValidationError as error:
        raise UsageError(
            _words(error), where=where, hint="irdiff.toml in the documentation lists the keys"
        ) from None
    _check(made, where)
    return PatternFact(
        id=made.id,
        title=made.title,
        pattern=made.pattern,
        better=made.better,
        unit=made.unit,
        role=made.role,
        comparable_when=tuple(made.comparable_when),
        doc=made.doc,
    )


def _check(table: FactTable, where: str) -> None:
    """Raise UsageError for an id, a role or a pattern that cannot be."""
    if not FACT_ID.fullmatch(table.id):
        raise UsageError(f"id {table.id!r} is not like stage.thing", where=where, hint="as in ptx.prefetches")
    stage = table.id.partition(".")[0]
    if table.stage not in (None, stage):
        raise UsageError(
            f"{table.id} counts in {stage}, not in {table.stage}",
            where=where,
            hint=f"call it {table.stage}.{table.id.partition('.')[2]}, or leave stage out",
        )
    if not table.title.strip():
        raise UsageError("title is empty", where=where, hint="say in words what is counted")
    if table.role is not None and not NAME.fullmatch(table.role):
        raise UsageError(f"role {table.role!r} must be a lower-case name", where=where)
    if not all(table.comparable_when):
        raise UsageError("comparable_when holds an empty name", where=where)
    try:
        checked(table.pattern)
    except PatternError as error:
        raise UsageError(str(error), where=where, hint=f"pattern = {table.pattern!r}") from None


def _words(error: msgspec.ValidationError) -> str:
    """What msgspec found, with the key as TOML calls it."""
    text, _, place = str(error).partition(" - at ")
    key = place.strip("`").removeprefix("$.")
    text = text[:1].lower() + text[1:]
    return f"{key}: {text}" if key else text.replace("object missing required field", "there is no key")
