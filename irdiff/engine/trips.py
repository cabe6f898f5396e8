"""How often a change in a loop counts: the constant trip counts of the loop and of those around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from irdiff.model.facts import Scope
from irdiff.model.report import Change


def with_trips(
    changes: Iterable[Change], name: str, before: Sequence[Scope], after: Sequence[Scope]
) -> list[Change]:
    """The changes of one stage of the kernel ``name``, those in loops with how often these run, where constant."""
    known = [{scope.id: scope.trip_count for scope in scopes} for scopes in (before, after)]
    return [_counted(change, change.scope.removeprefix(name).lstrip("/"), known) for change in changes]


def _counted(change: Change, scope: str, known: Sequence[dict[str, int | None]]) -> Change:
    if not scope:
        return change
    found = [trips for trips in (_trips(scope, side) for side in known) if trips is not None]
    return msgspec.structs.replace(change, trips=max(found)) if found else change


def _trips(scope: str, known: dict[str, int | None]) -> int | None:
    """The product over the loop and those around it; None where one of them is not constant."""
    parts = scope.split("/")
    product = 1
    for depth in range(len(parts)):
        trips = known.get("/".join(parts[: depth + 1]))
        if trips is None:
            return None
        product *= trips
    return product
