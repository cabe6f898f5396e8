"""A kernel that has been read: its bundle, what each stage said, and lookup of its facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.facts import Fact, FactSpec, Scope, Value
from irdiff.model.issues import Issue
from irdiff.model.specs import StageSpec
from irdiff.model.summary import Summary


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one stage said of one artifact."""

    stage: StageSpec
    sha256: str | None
    """None where the file could not be read."""
    summary: Summary | None
    """None where the stage is unreadable."""
    canonical: str | None = None
    """Digest of the canonical form; None where it was not asked for or could not be made."""
    erased: dict[str, str] = {}
    """Normalisation id to a digest of what it took away."""
    without: dict[str, str] = {}
    """As ``Canonical.without``."""
    issues: tuple[Issue, ...] = ()
    recorded: bool = False
    """Whether it was read earlier and elsewhere, and the artifact is not here: see ``Kernel.record``."""
    read: bool = True
    """False where nobody asked: the same bytes are on the other side, and ``summary`` is None for that alone."""

    @property
    def low_coverage(self) -> bool:
        """Whether too little of the artifact was understood to trust its facts."""
        return self.summary is not None and self.summary.coverage.ratio < self.stage.minimum_coverage


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """Which facts a record of a kernel holds where they are known."""

    facts: frozenset[str]
    in_loops: frozenset[str]
    """Of ``facts``, those that it holds in loops too."""


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle with everything that was read from it."""

    bundle: Bundle
    target: str | None
    """``cuda:90``; from the stage that knows it where the entry does not record it."""
    readings: dict[str, Reading]
    """Stage id to reading, in the order of the compiler."""
    missing: tuple[str, ...] = ()
    """Stages this entry is expected to hold and does not."""
    derived: tuple[Fact, ...] = ()
    issues: tuple[Issue, ...] = ()
    record: Recorded | None = None
    """Set where it is not read from artifacts but from a record of them, which holds some of the facts."""

    def holds(self, fact_id: str, scope: str = "") -> bool:
        """Whether a fact that is not there is not known, and not only left out of a record."""
        if self.record is None:
            return True
        return fact_id in (self.record.in_loops if scope else self.record.facts)

    @property
    def whole(self) -> bool:
        """Whether every stage that is there was read."""
        return all(reading.read for reading in self.readings.values())

    def facts(self) -> Iterable[Fact]:
        """Every fact, stage by stage, the derived ones last."""
        for reading in self.readings.values():
            if reading.summary is not None:
                yield from reading.summary.facts
        yield from self.derived

    def artifact(self, stage_id: str) -> Artifact:
        """The artifact of a stage that was read."""
        return self.bundle.artifacts[stage_id]


class KernelFactView:
    """Lookup over the facts of one kernel; implements the FactView protocol given to derived facts."""

    def __init__(self, readings: Mapping[str, Reading], target: str | None) -> None:
        self._values: dict[tuple[str, str], Value] = {}
        self._scopes: dict[str, tuple[Scope, ...]] = {}
        self._target = target
        for stage_id, reading in readings.items():
            if reading.summary is None:
                continue
            self._scopes[stage_id] = reading.summary.scopes
            for fact in reading.summary.facts:
                self._values[fact.id, fact.scope] = fact.value

    def value(self, fact_id: str, scope: str = "") -> Value | None:
        """The value, or None where it is not known."""
        return self._values.get((fact_id, scope))

    def trip_count(self, stage_id: str, scope: str) -> int | None:
        """Iterations of that loop in that stage, where constant."""
        return next((s.trip_count for s in self._scopes.get(stage_id, ()) if s.id == scope), None)

    def scopes(self, stage_id: str) -> tuple[str, ...]:
        """Scope ids of a stage."""
        return tuple(scope.id for scope in self._scopes.get(stage_id, ()))

    @property
    def backend(self) -> str | None:
        """``cuda``, ``hip``."""
        return self._target.partition(":")[0] if self._target else None

    @property
    def arch(self) -> str | None:
        """``90``, ``gfx942``."""
        return self._target.partition(":")[2] if self._target else None


def coordinates(kernel: Kernel) -> dict[str, Value]:
    """What ``comparable_when`` may name: the target's parts and every whole-kernel fact."""
    found: dict[str, Value] = {fact.id: fact.value for fact in kernel.facts() if not fact.scope}
    if kernel.target:
        found["target.backend"], _, found["target.arch"] = kernel.target.partition(":")
    return found


def facts_with_role(kernel: Kernel, specs: Mapping[str, FactSpec], role: str) -> list[Fact]:
    """Whole-kernel facts of a role, in the order of the compiler."""
    return [
        fact for fact in kernel.facts() if not fact.scope and fact.id in specs and specs[fact.id].role == role
    ]
