"""A kernel put together from what its stages said: target, what is missing, derived facts, issues."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from irdiff.engine.agreement import disagreements
from irdiff.engine.isolation import guarded
from irdiff.engine.kernels import Kernel, KernelFactView, Reading
from irdiff.engine.work import Bench
from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.facts import Fact
from irdiff.model.issues import Issue
from irdiff.model.specs import DerivedSpec, EntryInfo, FactView, StageSpec
from irdiff.registry import Registry


class Assembly:
    """Makes kernels with the stages and derivations of a registry."""

    def __init__(self, registry: Registry, bench: Bench) -> None:
        self._registry = registry
        self._bench = bench
        self._expected: dict[tuple[str, EntryInfo], bool | Issue] = {}
        self._order = {stage.id: index for index, stage in enumerate(registry.stages)}

    def ordered(self, bundle: Bundle) -> list[tuple[str, Artifact]]:
        """The artifacts in the order of the compiler."""
        return sorted(
            bundle.artifacts.items(), key=lambda item: (self._order.get(item[0], len(self._order)), item[0])
        )

    def kernel(self, bundle: Bundle, readings: Mapping[str, Reading], target: str | None = None) -> Kernel:
        """The kernel; ``target`` where a stage that is not among the readings said it.

        Facts are derived, and their sources held against each other, only where every stage was read.
        """
        found = str(bundle.target) if bundle.target else target or self._target_of(readings)
        missing, issues = self._missing(bundle, found)
        derived: tuple[Fact, ...] = ()
        trouble: list[Issue] = []
        if all(reading.read for reading in readings.values()):
            derived, trouble = self._derive(readings, found)
            trouble += disagreements(readings, self._registry.facts)
        return Kernel(
            bundle=bundle,
            target=found,
            readings=dict(readings),
            missing=missing,
            derived=derived,
            issues=(*_untold(bundle, readings), *issues, *trouble),
        )

    def _target_of(self, readings: Mapping[str, Reading]) -> str | None:
        """The target as a stage's fact of role ``target`` says it."""
        for reading in readings.values():
            for fact in reading.summary.facts if reading.summary else ():
                spec = self._registry.facts.get(fact.id)
                if spec is not None and spec.role == "target" and isinstance(fact.value, str):
                    return fact.value
        return None

    def _missing(self, bundle: Bundle, target: str | None) -> tuple[tuple[str, ...], tuple[Issue, ...]]:
        entry = EntryInfo(
            layout=bundle.layout,
            backend=target.partition(":")[0] if target else None,
            release=_major_minor(bundle.release),
            suffixes=frozenset(artifact.suffix for artifact in bundle.artifacts.values()),
        )
        missing: list[str] = []
        issues: list[Issue] = []
        told = {issue.stage for issue in bundle.issues if issue.severity == "error"}
        earlier = self._registry.stage_after(bundle.begins) if bundle.begins is not None else ()
        for stage in self._registry.stages:
            if stage.id in bundle.artifacts or stage.id in earlier:
                continue
            expected = self._expects(stage, entry)
            if isinstance(expected, Issue):
                issues.append(expected)
            elif expected:
                missing.append(stage.id)
                if stage.id in told:
                    continue
                issues.append(
                    Issue(
                        severity="error",
                        code="missing-stage",
                        message=f"no {stage.suffixes[0]} file, which an entry written like this one has",
                        where=bundle.path,
                        stage=stage.id,
                        hint="compile it again, or compare the entry it was copied from",
                    )
                )
        return tuple(missing), tuple(issues)

    def _expects(self, stage: StageSpec, entry: EntryInfo) -> bool | Issue:
        """Whether entries like this one hold the stage, asked once: a tree holds few kinds of them."""
        known = self._expected.get((stage.id, entry))
        if known is None:
            known = guarded(partial(stage.expected, entry), bool, self._bench.owner(stage.id), None)
            self._expected[stage.id, entry] = known
        return known

    def _derive(
        self, readings: Mapping[str, Reading], target: str | None
    ) -> tuple[tuple[Fact, ...], list[Issue]]:
        view = KernelFactView(readings, target)
        facts: list[Fact] = []
        issues: list[Issue] = []
        for spec in self._registry.derived:
            made = guarded(partial(_derived, spec, view), tuple, self._bench.owner(spec.id), None)
            if isinstance(made, Issue):
                issues.append(made)
            else:
                facts.extend(made)
        return tuple(facts), issues


def _derived(spec: DerivedSpec, view: FactView) -> tuple[Fact, ...]:
    return tuple(spec.derive(view))


def _untold(bundle: Bundle, readings: Mapping[str, Reading]) -> list[Issue]:
    """What was wrong with the files, but for those of which a stage says it again."""
    told = {
        issue.where for reading in readings.values() for issue in reading.issues if issue.severity == "error"
    }
    return [issue for issue in bundle.issues if issue.where not in told]


def _major_minor(release: str | None) -> tuple[int, int] | None:
    parts = (release or "").split(".")
    if len(parts) < 2 or not parts[0].isdigit() or not parts[1].isdigit():
        return None
    return int(parts[0]), int(parts[1])
