"""Compare two kernels that were read: sameness per stage, changes of facts, where it began, what is not accounted for.

Nothing unaccounted: where canonical forms differ there is at least one change, an ``unexplained`` one if no
fact moved. Nothing silently degraded: a stage that should be there and is not, or could not be read, is an
issue and makes the kernel ``incomplete`` unless something else already shows that it changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from irdiff.engine.agreement import told_twice
from irdiff.engine.causes import FINGERPRINT
from irdiff.engine.changes import MAX_EVIDENCE, ChangeFinder
from irdiff.engine.explain import explained, first_divergence
from irdiff.engine.kernels import Kernel, Reading, coordinates
from irdiff.engine.sequences import hunks
from irdiff.engine.summarize import Reader
from irdiff.engine.trips import with_trips
from irdiff.engine.verdicts import direction_of, machine_code_of, status_of
from irdiff.model.facts import Fact, Value
from irdiff.model.issues import Issue
from irdiff.model.report import Change, KernelReport, Pairing, StageReport
from irdiff.registry import Registry

IDENTICAL = StageReport(sameness="identical")


class PairComparer:
    """Compares pairs of what one Reader read, with one Registry."""

    def __init__(self, registry: Registry, reader: Reader) -> None:
        self._registry = registry
        self._reader = reader
        self._steps = frozenset(stage.id for stage in registry.stages if stage.pipeline)
        self._finder = ChangeFinder(registry.facts, registry.kinds)

    def report(self, before: Kernel, after: Kernel, pairing: Pairing) -> KernelReport:
        """What was found, before rules."""
        names = [*before.readings, *(name for name in after.readings if name not in before.readings)]
        names += [name for name in (*before.missing, *after.missing) if name not in names]
        order = {stage.id: index for index, stage in enumerate(self._registry.stages)}
        names = sorted(set(names), key=lambda name: (order.get(name, len(order)), name))
        failed = "failed" in (before.bundle.layout, after.bundle.layout)
        if failed:  # what describes a compilation that ended early says nothing of the code
            names = [name for name in names if name in self._steps]
        stages: dict[str, StageReport] = {}
        by_stage: dict[str, list[Change]] = {}
        provenance: dict[str, Value] = {}
        issues: list[Issue] = [*before.issues, *after.issues]
        places = (coordinates(before), coordinates(after))
        for name in names:
            old, new = before.readings.get(name), after.readings.get(name)
            stages[name] = self._stage(name, old, new, before, after)
            issues.extend(issue for reading in (old, new) if reading is not None for issue in reading.issues)
            issues.extend(
                _low_coverage(reading)
                for reading in (old, new)
                if reading is not None and reading.low_coverage
            )
            if old is None or new is None or old.summary is None or new.summary is None:
                continue
            if stages[name].sameness == "identical":
                continue
            changes, moved = self._finder.between(
                *_on_record(old.summary.facts, new.summary.facts, before, after),
                name=before.bundle.name,
                coordinates=places,
                source_lines=(self._source_lines(old, before), self._source_lines(new, after))
                if stages[name].sameness == "changed"
                else ({}, {}),
                damaged=any(issue.severity == "error" for issue in (*old.issues, *new.issues)),
            )
            changes = with_trips(changes, before.bundle.name, old.summary.scopes, new.summary.scopes)
            provenance |= moved
            if stages[name].sameness == "changed":
                told = any(self._registry.facts[change.fact].role != FINGERPRINT for change in changes)
                changes = [
                    change for change in changes if not told_twice(change, self._registry.facts, places)
                ]
                by_stage[name] = changes if told else [*changes, self._unexplained(name, before, after)]
        if stages and not failed and all(stage.sameness == "missing" for stage in stages.values()):
            issues.append(_nothing_shared(before, after))
        changes = [change for found in by_stage.values() for change in found]
        derived, moved = self._finder.between(
            *_on_record(before.derived, after.derived, before, after),
            name=before.bundle.name,
            coordinates=places,
        )
        provenance |= moved
        if changes:
            changes += derived
        unique = tuple(dict.fromkeys(issues))
        status = status_of(stages, unique)
        machine_code = machine_code_of(stages, before, after)
        earlier = [stage.id for stage in self._registry.stages if stage.pipeline and not stage.machine_code]
        report = KernelReport(
            name=before.bundle.name,
            name_after=after.bundle.name if after.bundle.name != before.bundle.name else None,
            path_before=before.bundle.path,
            path_after=after.bundle.path,
            target=_target(before, after),
            pairing=pairing,
            status=status,
            direction=direction_of(changes, self._registry.facts, machine_code, earlier)
            if status == "changed"
            else None,
            machine_code=machine_code,
            first_divergence=first_divergence(
                before, after, stages, by_stage, self._registry.facts, self._registry.kinds
            ),
            stages=stages,
            changes=tuple(changes),
            provenance=dict(sorted(provenance.items())),
            issues=unique,
        )
        return explained(report, self._registry.explainers)

    def _with_canonical(self, reading: Reading, kernel: Kernel) -> Reading:
        artifact = kernel.bundle.artifacts.get(reading.stage.id)
        return self._reader.with_canonical(reading, artifact) if artifact is not None else reading

    def _source_lines(self, reading: Reading, kernel: Kernel) -> Mapping[int, str]:
        """Places to the user's lines; none for a kernel of which only facts are known."""
        artifact = kernel.bundle.artifacts.get(reading.stage.id)
        return self._reader.source_lines(reading, artifact) if artifact is not None else {}

    def _stage(
        self, name: str, old: Reading | None, new: Reading | None, before: Kernel, after: Kernel
    ) -> StageReport:
        if old is None or new is None:
            absent = [side for side, reading in (("before", old), ("after", new)) if reading is None]
            expected = [
                side
                for side, kernel in (("before", before), ("after", after))
                if side in absent and name in kernel.missing
            ]
            reasons = [f"missing {side}" if side in expected else f"not written {side}" for side in absent]
            return StageReport(sameness="missing", reasons=tuple(reasons))
        if old.sha256 is not None and old.sha256 == new.sha256:
            if old.summary is None and old.read:
                return StageReport(
                    sameness="unreadable", reasons=("unreadable, and the same bytes on both sides",)
                )
            return IDENTICAL
        if old.recorded or new.recorded:
            return self._against_record(old, new, before, after)
        old, new = self._with_canonical(old, before), self._with_canonical(new, after)
        if old.canonical is None or new.canonical is None:
            return StageReport(
                sameness="unreadable",
                reasons=tuple(
                    f"unreadable {side}"
                    for side, reading in (("before", old), ("after", new))
                    if reading.canonical is None
                ),
            )
        proven = self._same_fingerprint(old, new)
        if old.canonical != new.canonical and not proven:
            return StageReport(sameness="changed")
        titles = {rule.id: rule.title for rule in old.stage.normalizations}
        reasons = [
            titles.get(rule, rule)
            for rule in sorted({*old.erased, *new.erased}, key=lambda rule: _rank(titles, rule))
            if old.erased.get(rule) != new.erased.get(rule)
        ]
        if proven is False and not reasons:
            return StageReport(sameness="changed")  # bits that the text of neither side shows
        return StageReport(sameness="equivalent", reasons=tuple(reasons) or ("spelling",))

    def _against_record(self, old: Reading, new: Reading, before: Kernel, after: Kernel) -> StageReport:
        """One stage of which one side has no bytes; without a form that can be compared the recorded facts decide."""
        old, new = self._with_canonical(old, before), self._with_canonical(new, after)
        if old.summary is None or new.summary is None:
            lost = [side for side, each in (("before", old), ("after", new)) if each.summary is None]
            return StageReport(sameness="unreadable", reasons=tuple(f"unreadable {side}" for side in lost))
        if self._same_fingerprint(old, new):
            return StageReport(sameness="equivalent")
        if old.canonical is not None and new.canonical is not None:
            return StageReport(sameness="equivalent" if old.canonical == new.canonical else "changed")
        facts = _on_record(old.summary.facts, new.summary.facts, before, after)
        if not facts[0]:
            return StageReport(sameness="missing", reasons=("not recorded in a form that can be compared",))
        places = (coordinates(before), coordinates(after))
        changes, _ = self._finder.between(*facts, name=before.bundle.name, coordinates=places)
        return StageReport(sameness="changed" if changes else "equivalent")

    def _same_fingerprint(self, old: Reading, new: Reading) -> bool | None:
        """Whether fingerprints are equal, which proves machine code equal even where it is not disassembled.

        None where nothing is known of it, or where a difference that fingerprints leave out was asked for.
        """
        if self._reader.switched_off & {rule.id for rule in old.stage.normalizations}:
            return None
        found = [
            {
                fact.value
                for fact in reading.summary.facts
                if self._registry.facts[fact.id].role == FINGERPRINT
            }
            for reading in (old, new)
            if reading.summary is not None
        ]
        return found[0] == found[1] if len(found) == 2 and all(found) else None

    def _unexplained(self, name: str, before: Kernel, after: Kernel) -> Change:
        """A change for a stage whose canonical form moved and no fact did, with the places of its hunks."""
        mine, theirs = before.bundle.artifacts.get(name), after.bundle.artifacts.get(name)
        old = new = None
        if mine is not None and theirs is not None:  # else one side is a record, and has no lines
            old, new = self._reader.canonical(mine, theirs), self._reader.canonical(theirs)
        places: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
        moved: int | None = None
        if old is not None and new is not None:
            found = hunks(old.lines, new.lines)
            moved = sum(max(h.before[1] - h.before[0], h.after[1] - h.after[0]) for h in found)
            places = (
                tuple(p for h in found for p in old.places[h.before[0] : h.before[1]])[:MAX_EVIDENCE],
                tuple(p for h in found for p in new.places[h.after[0] : h.after[1]])[:MAX_EVIDENCE],
            )
        return Change(
            fact=f"{name}.unexplained",
            scope=before.bundle.name,
            before=None,
            after=None,
            delta=moved,
            effect="unexplained",
            evidence_before=places[0],
            evidence_after=places[1],
        )


def _on_record(
    old: Iterable[Fact], new: Iterable[Fact], before: Kernel, after: Kernel
) -> tuple[list[Fact], list[Fact]]:
    """The facts of both sides that both would hold: a record of a kernel holds some."""
    return (
        [fact for fact in old if after.holds(fact.id, fact.scope)],
        [fact for fact in new if before.holds(fact.id, fact.scope)],
    )


def _rank(titles: dict[str, str], rule: str) -> tuple[int, str]:
    order = list(titles)
    return (order.index(rule) if rule in titles else len(order), rule)


def _nothing_shared(before: Kernel, after: Kernel) -> Issue:
    held = [", ".join(name.upper() for name in kernel.readings) or "nothing" for kernel in (before, after)]
    return Issue(
        severity="error",
        code="no-common-stage",
        message=f"nothing to compare: before is {held[0]}, after is {held[1]}",
        where=before.bundle.path,
        hint="compare files of one stage, or the folders they lie in",
    )


def _low_coverage(reading: Reading) -> Issue:
    assert reading.summary is not None
    coverage = reading.summary.coverage
    first = f", first at {coverage.unknown[0][0]}: {coverage.unknown[0][1]}" if coverage.unknown else ""
    return Issue(
        severity="error",
        code="low-coverage",
        message=f"only {coverage.ratio:.1%} of {coverage.total} lines understood{first}",
        stage=reading.stage.id,
        hint="facts of this stage may be incomplete; irdiff show -v lists what was not understood",
    )


def _target(before: Kernel, after: Kernel) -> str | None:
    if before.target == after.target:
        return before.target
    return f"{before.target or 'unknown'} -> {after.target or 'unknown'}"
