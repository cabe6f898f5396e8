"""How much of something is done in loops: over all of them, since loops of two compilations need not correspond."""

from __future__ import annotations

from collections.abc import Callable

from irdiff.api import FactSpec, RuleView, Value

Measure = Callable[[Value | None], int]
"""How many of what is counted a value names."""
UNROLLED = 0.75
"""Share of the growth of a count that all operations of the loops must show for it to be called unrolling."""


def total(value: Value | None) -> int:
    """A count, or the sum of a tally; 0 for what is not known."""
    if isinstance(value, dict):
        return sum(count for count in value.values() if isinstance(count, int))
    return value if isinstance(value, int) else 0


def in_loops(view: RuleView, fact_id: str, measure: Measure = total) -> tuple[int, int]:
    """The sum over the outermost loops, before and after: a loop counts what its inner loops hold."""
    sums = []
    for side, scopes in enumerate(view.scopes(fact_id)):
        outer = [scope for scope in scopes if "/" not in scope]
        sums.append(sum(measure(view.values(fact_id, scope)[side]) for scope in outer))
    return sums[0], sums[1]


def added_in_loops(view: RuleView, fact: FactSpec, measure: Measure = total) -> tuple[int, int] | None:
    """The sums in loops where more is done in them than before; None where it is not.

    No more is done where a loop was unrolled (all of it is there several times), where code became a loop that was
    none before (and was there more often), or where the loops run less often for it.
    """
    before, after = in_loops(view, fact.id, measure)
    if after <= before or _unrolled(view, fact.id, before, after) or _rolled(view, fact.id, measure):
        return None
    runs = [_runs(view, fact.id, side, measure) for side in (0, 1)]
    if runs[0] is not None and runs[1] is not None and runs[1] <= runs[0]:
        return None
    return before, after


def where(view: RuleView, fact_id: str, measure: Measure = total) -> str:
    """``loop0``: the innermost loops in which there is more than before; ``loops`` where they do not correspond."""
    scopes = view.scopes(fact_id)
    if scopes[0] != scopes[1]:
        return "loops" if len(scopes[1]) != 1 else scopes[1][0]
    more = [scope for scope in scopes[1] if _more(view, fact_id, scope, measure)]
    innermost = [scope for scope in more if not any(other.startswith(f"{scope}/") for other in more)]
    return ", ".join(innermost) or "loops"


def change_scope(view: RuleView, fact_id: str, measure: Measure = total) -> str:
    """The loop of :func:`where` if it is one; empty where it is several."""
    found = where(view, fact_id, measure)
    return found if found in view.scopes(fact_id)[1] else ""


def _more(view: RuleView, fact_id: str, scope: str, measure: Measure) -> bool:
    before, after = view.values(fact_id, scope)
    return measure(after) > measure(before)


def _unrolled(view: RuleView, fact_id: str, before: int, after: int) -> bool:
    """Whether everything in the loops is there as many times more."""
    if not before or after % before:
        return False
    for operations in view.facts("operations", beside=fact_id):
        sums = in_loops(view, operations.id)
        if sums[0] and sums[1] / sums[0] >= UNROLLED * after / before:
            return True
    return False


def _rolled(view: RuleView, fact_id: str, measure: Measure) -> bool:
    """Whether there are more loops than before and no more of what is counted in the kernel as a whole."""
    scopes = view.scopes(fact_id)
    before, after = (measure(value) for value in view.values(fact_id))
    return len(scopes[1]) > len(scopes[0]) and after <= before


def _runs(view: RuleView, fact_id: str, side: int, measure: Measure) -> int | None:
    """How often it is done in one start of the kernel; None where a loop with some of it has no constant count."""
    scopes = view.scopes(fact_id)[side]
    sums = 0
    for scope in scopes:
        own = measure(view.values(fact_id, scope)[side]) - sum(
            measure(view.values(fact_id, inner)[side])
            for inner in scopes
            if inner.rpartition("/")[0] == scope
        )
        if own <= 0:
            continue
        trips = view.trips(fact_id, scope)[side]
        if trips is None:
            return None
        sums += own * trips
    return sums
