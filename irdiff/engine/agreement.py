"""Facts that two sources give: where they differ, one of the two files belongs to another compilation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from irdiff.engine.kernels import Reading
from irdiff.model.facts import FactSpec, Value
from irdiff.model.issues import Issue
from irdiff.model.report import Change


def disagreements(readings: Mapping[str, Reading], specs: Mapping[str, FactSpec]) -> Iterator[Issue]:
    """A warning for each fact that says something else than the one it repeats; estimates are not held to it."""
    facts = {
        fact.id: fact
        for reading in readings.values()
        for fact in (reading.summary.facts if reading.summary is not None else ())
        if not fact.scope and fact.id in specs
    }
    for fact_id, fact in facts.items():
        other = facts.get(specs[fact_id].repeats or "")
        if other is None or other.value == fact.value:
            continue
        if "estimate" in [each.exactness or specs[each.id].exactness for each in (fact, other)]:
            continue
        yield Issue(
            severity="warning",
            code="sources-disagree",
            message=f"{fact_id} is {fact.value}, and {other.id} is {other.value}",
            stage=fact_id.partition(".")[0],
            hint="one of the two belongs to another compilation of this kernel",
        )


def told_twice(
    change: Change, specs: Mapping[str, FactSpec], known: tuple[Mapping[str, Value], Mapping[str, Value]]
) -> bool:
    """Whether a change says once more that a fact known on both sides moved."""
    spec = specs.get(change.fact)
    if spec is None or spec.repeats is None:
        return False
    values = [side.get(spec.repeats) for side in known]
    return None not in values and values[0] != values[1]
