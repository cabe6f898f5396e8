"""One pair of kernels as a rule sees it: facts by role, in the stage that judges them, where both sides are sound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irdiff.engine.kernels import Kernel, Reading, coordinates
from irdiff.model.facts import Fact, FactSpec, Scope, Value
from irdiff.model.report import Change, KernelReport
from irdiff.model.words import value_words
from irdiff.registry import Registry

FAILED = "failed"
ZEROS: Mapping[str, Value] = {"tally": {}, "count": 0, "quantity": 0}
"""What a loop that is known has of a fact of that kind where it names none."""
NUMBERS = ("count", "quantity")
"""Kinds of which a plugin may know the whole kernel's value alone: it shows where no loop has one."""


class PairView:
    """Implements the RuleView protocol over two kernels that were read and compared."""

    def __init__(self, before: Kernel, after: Kernel, report: KernelReport, registry: Registry) -> None:
        self._report = report
        self._registry = registry
        self._kernels = (before, after)
        self._facts = (_trusted(before), _trusted(after))
        self._coordinates = (coordinates(before), coordinates(after))
        self._order = {stage.id: index for index, stage in enumerate(registry.stages)}
        self._looped = {fact_id for facts in self._facts for fact_id, scope in facts if scope}
        self._changes: dict[str, list[Change]] = {}
        for change in report.changes:
            self._changes.setdefault(change.fact, []).append(change)
        self._roles: dict[str, dict[str, list[FactSpec]]] = {}
        both = self._facts[0].keys() & self._facts[1].keys()
        for fact_id, scope in both:
            spec = registry.facts.get(fact_id)
            if not scope and spec is not None and spec.role is not None and (spec.repeats, "") not in both:
                self._roles.setdefault(spec.role, {}).setdefault(_stage(fact_id), []).append(spec)

    @property
    def kernel(self) -> KernelReport:
        """The pair as it was compared."""
        return self._report

    @property
    def failed(self) -> tuple[bool, bool]:
        """Whether the entry is one of a compilation that failed, before and after."""
        return self._kernels[0].bundle.layout == FAILED, self._kernels[1].bundle.layout == FAILED

    @property
    def targets(self) -> tuple[str | None, str | None]:
        """``cuda:90``, before and after."""
        return self._kernels[0].target, self._kernels[1].target

    def known(self, role: str) -> bool:
        """Whether a fact of a role is known on both sides, comparable or not."""
        return role in self._roles

    def facts(self, role: str, beside: str = "") -> tuple[FactSpec, ...]:
        """The facts of a role in the stage that judges it; empty where none is known on both sides and comparable."""
        stages = self._roles.get(role, {})
        if not stages:
            return ()
        last = len(self._order)
        judging = (
            _stage(beside) if beside else max(stages, key=lambda name: (self._order.get(name, last), name))
        )
        found = [spec for spec in stages.get(judging, ()) if self._comparable(spec)]
        return tuple(sorted(found, key=lambda spec: spec.id))

    def changes(self, role: str) -> tuple[Change, ...]:
        """Changes of the facts of a role in the stage that judges it, the whole kernel first; no incomparable ones."""
        found = [
            change
            for spec in self.facts(role)
            for change in self._changes.get(spec.id, ())
            if change.effect != "incomparable"
        ]
        return tuple(sorted(found, key=lambda change: (self.scope_of(change), change.fact)))

    def change(self, fact_id: str, scope: str = "") -> Change | None:
        """The change of a fact in a scope."""
        return next((c for c in self._changes.get(fact_id, ()) if self.scope_of(c) == scope), None)

    def scope_of(self, change: Change) -> str:
        """``loop0``; empty for the whole kernel."""
        return change.scope.removeprefix(self._report.name).lstrip("/")

    def values(self, fact_id: str, scope: str = "") -> tuple[Value | None, Value | None]:
        """The value before and after; None where it is not known."""
        return self._value(0, fact_id, scope), self._value(1, fact_id, scope)

    def scopes(self, fact_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Loops in which a fact is known, before and after."""
        return self._scopes(0, fact_id), self._scopes(1, fact_id)

    def trips(self, fact_id: str, scope: str) -> tuple[int | None, int | None]:
        """How often that loop runs for one start of the kernel, before and after, where constant."""
        return self._trips(0, fact_id, scope), self._trips(1, fact_id, scope)

    def folded(self, fact_id: str) -> tuple[frozenset[str], frozenset[str]]:
        """Fields of a record whose values say nothing by themselves, before and after."""
        found = []
        for kernel in self._kernels:
            reading = kernel.readings.get(_stage(fact_id))
            summary = reading.summary if reading is not None else None
            found.append(frozenset(summary.folded) if summary is not None else frozenset())
        return found[0], found[1]

    def words(self, value: Value | None, spec: FactSpec) -> str:
        """A value as a user reads it, with its unit."""
        return value_words(value, spec.unit)

    def spec(self, fact_id: str) -> FactSpec:
        """The declaration of a fact."""
        return self._registry.facts[fact_id]

    def is_derived(self, fact_id: str) -> bool:
        """Whether a fact is computed from several stages."""
        return _stage(fact_id) not in self._order

    def exact(self, fact_id: str) -> bool:
        """Whether a fact is exact on both sides."""
        spec = self._registry.facts.get(fact_id)
        if spec is not None and spec.exactness != "exact":
            return False
        return all(
            fact.exactness != "estimate"
            for side in self._facts
            if (fact := side.get((fact_id, ""))) is not None
        )

    def _comparable(self, spec: FactSpec) -> bool:
        before, after = self._coordinates
        return all(before.get(name) == after.get(name) for name in spec.comparable_when)

    def _value(self, side: int, fact_id: str, scope: str) -> Value | None:
        found = self._facts[side].get((fact_id, scope))
        if found is not None:
            return found.value
        spec = self._registry.facts.get(fact_id)
        if not scope or spec is None:
            return None
        if scope not in self._scopes(side, fact_id):
            return None
        whole = self._facts[side][fact_id, ""].value
        if spec.kind in NUMBERS and whole != 0 and fact_id not in self._looped:
            return None  # registers are of the whole kernel: nothing is known of a loop
        return ZEROS.get(spec.kind)

    def _scopes(self, side: int, fact_id: str) -> tuple[str, ...]:
        if (fact_id, "") not in self._facts[side] or not self._kernels[side].holds(fact_id, "loop"):
            return ()
        return tuple(scope.id for scope in self._regions(side, fact_id))

    def _trips(self, side: int, fact_id: str, scope: str) -> int | None:
        known = {region.id: region.trip_count for region in self._regions(side, fact_id)}
        parts = scope.split("/")
        product = 1
        for depth in range(len(parts)):
            trips = known.get("/".join(parts[: depth + 1]))
            if trips is None:
                return None
            product *= trips
        return product

    def _regions(self, side: int, fact_id: str) -> Sequence[Scope]:
        reading = self._kernels[side].readings.get(_stage(fact_id))
        return reading.summary.scopes if reading is not None and reading.summary is not None else ()


def sound(reading: Reading) -> bool:
    """Whether everything in it was read: else its numbers are those of a part."""
    return (
        reading.summary is not None
        and not reading.low_coverage
        and not any(issue.severity == "error" for issue in reading.issues)
    )


def _trusted(kernel: Kernel) -> dict[tuple[str, str], Fact]:
    """Facts of the stages that were read as a whole; derived ones where every stage was."""
    facts = {
        (fact.id, fact.scope): fact
        for reading in kernel.readings.values()
        if reading.summary is not None and sound(reading)
        for fact in reading.summary.facts
    }
    if all(sound(reading) for reading in kernel.readings.values()):
        facts |= {(fact.id, fact.scope): fact for fact in kernel.derived}
    return facts


def _stage(fact_id: str) -> str:
    return fact_id.partition(".")[0]
