"""PatternFact: a fact that counts the canonical lines of a stage that begin as a pattern says, without any code."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from irdiff.errors import IrdiffError
from irdiff.model.bundle import Artifact
from irdiff.model.facts import Better, Fact, FactSpec, Scope, Value
from irdiff.model.issues import Issue
from irdiff.model.pattern_cost import LONGEST_LINE, PatternError, checked
from irdiff.model.places import place_of
from irdiff.model.specs import Context, StageSpec
from irdiff.model.summary import Canonical, Summary

SECONDS = 5.0
"""Time that all pattern facts of one artifact may take; then those not yet counted are unknown, and that is told."""
KEY = "key"
"""The named group that makes a fact a tally."""


class PatternFact(msgspec.Struct, frozen=True, kw_only=True):
    """A counting fact: canonical lines of a stage that match from their beginning (``irdiff show --canonical``)."""

    id: str
    """``ptx.prefetches``: the stage, a dot, and a name of its own."""
    title: str
    pattern: str
    """Regular expression, matched where a line begins behind its indentation (``re.match``); a group called ``key``
    makes the fact a tally by what it matched. At most 512 characters of a line are looked at; an expression that could
    backtrack for long is refused."""
    better: Better = "neutral"
    unit: str = "lines"
    role: str | None = None
    comparable_when: tuple[str, ...] = ()
    doc: str = ""

    @property
    def stage(self) -> str:
        """Id of the stage that it counts in."""
        return self.id.partition(".")[0]


def with_pattern_facts(stage: StageSpec, facts: Iterable[PatternFact]) -> StageSpec:
    """The stage with further facts, counted in its canonical form as a whole and in each of its loops.

    Each rests on the places of the lines it counted. Raises PatternError (a ValueError) for a pattern that is none,
    that matches anything or that can take too long. ``versionadded``: 0.1.
    """
    added = tuple(facts)
    if not added:
        return stage
    patterns = [(fact, checked(fact.pattern)) for fact in added]
    key = f"canonical form of {stage.id}"

    def canonical(artifact: Artifact, context: Context) -> Canonical:
        return context.once(key, lambda: stage.canonical(artifact, context))

    def summarize(artifact: Artifact, context: Context) -> Summary:
        summary = stage.summarize(artifact, context)
        if summary.degraded is not None:
            return summary  # what is not there was not counted: unknown, not zero
        return _counted(summary, patterns, lambda: canonical(artifact, context), stage.id)

    specs = tuple(spec_of(fact, stage) for fact in added)
    return msgspec.structs.replace(
        stage, facts=(*stage.facts, *specs), summarize=summarize, canonical=canonical
    )


def spec_of(fact: PatternFact, stage: StageSpec) -> FactSpec:
    """What a fact declared by a pattern means."""
    tally = KEY in checked(fact.pattern).groupindex
    shown = fact.pattern.replace("`", "'")
    by = ", by the group `key`" if tally else ""
    return FactSpec(
        id=fact.id,
        title=fact.title,
        kind="tally" if tally else "count",
        unit=fact.unit,
        better=fact.better,
        role=fact.role,
        comparable_when=fact.comparable_when,
        group="declared",
        place=place_of(stage),
        doc=f"{fact.doc} Canonical lines that match `{shown}` from their beginning{by}.".strip(),
    )


def _counted(
    summary: Summary,
    patterns: Sequence[tuple[PatternFact, re.Pattern[str]]],
    make: Callable[[], Canonical],
    stage_id: str,
) -> Summary:
    try:
        canonical = make()
    except IrdiffError as error:
        return _untold(summary, patterns, f"there is no canonical form: {error.message}", stage_id)
    ends = time.monotonic() + SECONDS
    facts: list[Fact] = []
    for number, (fact, pattern) in enumerate(patterns):
        found = _matches(canonical, pattern, ends)
        if found is None:
            more = _replaced(summary, facts)
            return _untold(more, patterns[number:], f"matching took longer than {SECONDS:g} s", stage_id)
        tally = KEY in pattern.groupindex
        facts += _facts(fact.id, found, summary.scopes if canonical.places else (), tally=tally)
    return _replaced(summary, facts)


def _replaced(summary: Summary, facts: Iterable[Fact]) -> Summary:
    return msgspec.structs.replace(summary, facts=(*summary.facts, *facts))


def _matches(
    canonical: Canonical, pattern: re.Pattern[str], ends: float
) -> list[tuple[str, int | None]] | None:
    """(key, place) of each line that matches; None where the time is up."""
    found: list[tuple[str, int | None]] = []
    placed = bool(canonical.places)
    for number, line in enumerate(canonical.lines):
        if not number % 64 and time.monotonic() > ends:
            return None
        matched = pattern.match(line.lstrip()[:LONGEST_LINE])
        if matched is not None:
            key = matched[KEY] if KEY in pattern.groupindex else ""
            found.append((key or "", canonical.places[number] if placed else None))
    return found


def _facts(
    fact_id: str, found: Sequence[tuple[str, int | None]], scopes: Sequence[Scope], *, tally: bool
) -> Iterable[Fact]:
    yield _fact(fact_id, found, "", tally=tally)
    for scope in scopes:
        inside = [each for each in found if each[1] is not None and scope.first <= each[1] <= scope.last]
        yield _fact(fact_id, inside, scope.id, tally=tally)


def _fact(fact_id: str, found: Sequence[tuple[str, int | None]], scope: str, *, tally: bool) -> Fact:
    counts: dict[str, int] = {}
    places: dict[str, set[int]] = {}
    for key, place in found:
        counts[key] = counts.get(key, 0) + 1
        if place is not None:
            places.setdefault(key, set()).add(place)
    value: Value = {key: counts[key] for key in sorted(counts)} if tally else len(found)
    evidence = {key: tuple(sorted(places[key])) for key in sorted(places)}
    return Fact(id=fact_id, value=value, scope=scope, evidence=evidence)


def _untold(
    summary: Summary, patterns: Sequence[tuple[PatternFact, object]], why: str, stage_id: str
) -> Summary:
    named = ", ".join(fact.id for fact, _ in patterns)
    issue = Issue(
        severity="warning",
        code="fact-not-counted",
        message=f"{named} could not be counted: {why}",
        stage=stage_id,
        hint="simplify the pattern, or leave the fact out",
    )
    return msgspec.structs.replace(summary, issues=(*summary.issues, issue))


__all__ = ["PatternError", "PatternFact", "spec_of", "with_pattern_facts"]
