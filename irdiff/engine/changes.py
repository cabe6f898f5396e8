"""Changes of facts between two readings of one stage, from the FactSpecs alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePath

import msgspec

from irdiff.model.facts import Fact, FactSpec, Value
from irdiff.model.report import Change, Effect
from irdiff.model.specs import KindSpec

MAX_EVIDENCE = 20
"""Places listed on each side of a change; the whole evidence is in ``show``."""


class ChangeFinder:
    """Compares facts by what their specs declare."""

    def __init__(self, specs: Mapping[str, FactSpec], kinds: Mapping[str, KindSpec]) -> None:
        self._specs = specs
        self._kinds = kinds

    def between(
        self,
        before: Iterable[Fact],
        after: Iterable[Fact],
        *,
        name: str,
        coordinates: tuple[Mapping[str, Value], Mapping[str, Value]],
        source_lines: tuple[Mapping[int, str], Mapping[int, str]] = ({}, {}),
        damaged: bool = False,
    ) -> tuple[list[Change], dict[str, Value]]:
        """The changes, and separately the deltas of provenance facts (by fact id).

        ``damaged`` says that part of one side was not read: its numbers differ, and no way is better.
        """
        facts_before = {(fact.id, fact.scope): fact for fact in before}
        facts_after = {(fact.id, fact.scope): fact for fact in after}
        scopes = {scope for _, scope in facts_before} & {scope for _, scope in facts_after}
        changes: list[Change] = []
        provenance: dict[str, Value] = {}
        for key in sorted({*facts_before, *facts_after}, key=lambda key: (key[1], key[0])):
            spec = self._specs.get(key[0])
            if spec is None or key[1] not in scopes:
                continue
            fact_before, fact_after = _filled(key, facts_before, facts_after, spec)
            change = self._one(spec, fact_before, fact_after, name, coordinates)
            if change is None:
                continue
            if damaged:
                change = msgspec.structs.replace(change, effect="incomparable")
            if fact_before is not None and fact_after is not None and spec.place != "byte":
                where = _source((fact_before, fact_after), change.delta, source_lines)
                change = msgspec.structs.replace(change, source=where) if where else change
            if spec.provenance:
                provenance[spec.id] = change.delta if change.delta is not None else "known on one side only"
            else:
                changes.append(change)
        return changes, provenance

    def _one(
        self,
        spec: FactSpec,
        before: Fact | None,
        after: Fact | None,
        name: str,
        coordinates: tuple[Mapping[str, Value], Mapping[str, Value]],
    ) -> Change | None:
        fact = before or after
        assert fact is not None
        scope = f"{name}/{fact.scope}" if fact.scope else name
        if before is None or after is None:
            return Change(
                fact=spec.id,
                scope=scope,
                before=before.value if before else None,
                after=after.value if after else None,
                delta=None,
                effect="incomparable",
            )
        kind = self._kinds[spec.kind]
        delta = kind.compare(before.value, after.value)
        if delta is None:
            return None
        return Change(
            fact=spec.id,
            scope=scope,
            before=before.value,
            after=after.value,
            delta=delta,
            effect=_effect(spec, kind, before.value, after.value, coordinates),
            evidence_before=_evidence(before, delta),
            evidence_after=_evidence(after, delta),
            limits=_limits(spec, coordinates) if scope == name else None,
        )


def _filled(
    key: tuple[str, str],
    before: Mapping[tuple[str, str], Fact],
    after: Mapping[tuple[str, str], Fact],
    spec: FactSpec,
) -> tuple[Fact | None, Fact | None]:
    """Both facts; where a loop's tally is absent although the kernel's is known, nothing of it is in the loop."""
    found = before.get(key), after.get(key)
    if not key[1] or None not in found:
        return found
    zeros: dict[str, Value] = {"tally": {}, "count": 0, "quantity": 0}
    zero = zeros.get(spec.kind)
    if zero is None:
        return found
    whole = (key[0], "")
    empty = Fact(id=key[0], scope=key[1], value=zero)
    return (
        found[0] or (empty if whole in before else None),
        found[1] or (empty if whole in after else None),
    )


def _effect(
    spec: FactSpec,
    kind: KindSpec,
    before: Value,
    after: Value,
    coordinates: tuple[Mapping[str, Value], Mapping[str, Value]],
) -> Effect:
    if any(coordinates[0].get(name) != coordinates[1].get(name) for name in spec.comparable_when):
        return "incomparable"
    if spec.better == "neutral":
        return "neutral"
    sign = kind.sign(before, after, spec)
    if not sign:
        return "neutral"
    return "better" if (sign > 0) == (spec.better == "higher") else "worse"


def _limits(
    spec: FactSpec, coordinates: tuple[Mapping[str, Value], Mapping[str, Value]]
) -> tuple[str, str] | None:
    found = [side.get(spec.limited_by or "") for side in coordinates]
    words = [value for value in found if isinstance(value, str)]
    return (words[0], words[1]) if len(words) == 2 else None


def _evidence(fact: Fact, delta: Value) -> tuple[int, ...]:
    """Places of the keys that moved, or of the whole fact."""
    keys = delta.keys() if isinstance(delta, dict) else ("",)
    places = {place for key in keys for place in fact.evidence.get(key, ())}
    return tuple(sorted(places)[:MAX_EVIDENCE])


def _source(
    facts: tuple[Fact, Fact], delta: Value | None, source_lines: tuple[Mapping[int, str], Mapping[int, str]]
) -> str | None:
    """``file.py:41``: the user's line that most of what came rests on, else most of what went; None where none does."""
    for fact, lines, sign in ((facts[1], source_lines[1], 1), (facts[0], source_lines[0], -1)):
        moved = delta if isinstance(delta, dict) else {"": sign}
        places = [
            place
            for key, count in moved.items()
            if isinstance(count, int) and count * sign > 0
            for place in fact.evidence.get(key, ())
        ]
        found = Counter(lines[place] for place in places if place in lines)
        if found:
            path, count = min(found.items(), key=lambda item: (-item[1], item[0]))
            return PurePath(path).name if 2 * count >= len(places) else None
    return None
