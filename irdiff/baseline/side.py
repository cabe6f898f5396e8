"""A baseline as one side of a comparison: kernels without artifacts, and what cannot be compared with them any more."""

from __future__ import annotations

from pathlib import Path

from irdiff.baseline.choose import judged_facts
from irdiff.baseline.content import Baseline, Form, RecordedKernel
from irdiff.baseline.read import parse_baseline
from irdiff.baseline.record import reader_of
from irdiff.engine.kernels import Kernel, Reading, Recorded
from irdiff.engine.unclaimed import unclaimed_stage
from irdiff.errors import InputError
from irdiff.model.bundle import Bundle, Target
from irdiff.model.facts import Fact
from irdiff.model.issues import Issue
from irdiff.model.summary import Coverage, Summary
from irdiff.registry import Registry

AGAIN = "write the baseline again: irdiff baseline write DIR -o FILE"
NAMED = 3
"""Facts or stages named in an issue."""


def read_side(
    path: Path, registry: Registry, *, switched_off: frozenset[str] = frozenset()
) -> tuple[tuple[Kernel, ...], tuple[Issue, ...]]:
    """The kernels of a baseline, and issues about the file as a whole.

    ``switched_off`` holds normalisations that the other side is read without: forms are compared only of stages that
    have none of them. Raises InputError where the file cannot be read, is no baseline, or holds no kernel.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}",
            where=str(path),
            hint="make it: irdiff baseline write DIR -o FILE",
        ) from None
    baseline = parse_baseline(data, where=str(path), kinds=registry.kinds)
    if not baseline.kernels:
        raise InputError("holds no kernel", where=str(path), hint=AGAIN)
    return kernels_of(baseline, registry, where=str(path), switched_off=switched_off)


def kernels_of(
    baseline: Baseline, registry: Registry, *, where: str, switched_off: frozenset[str] = frozenset()
) -> tuple[tuple[Kernel, ...], tuple[Issue, ...]]:
    """As :func:`read_side`, for a baseline that is already parsed."""
    return _Side(baseline, registry, where, switched_off).all()


class _Side:
    def __init__(
        self, baseline: Baseline, registry: Registry, where: str, switched_off: frozenset[str]
    ) -> None:
        self._baseline = baseline
        self._registry = registry
        self._where = where
        self._stages = {
            name: registry.stage(name) or unclaimed_stage(name)
            for name in sorted({*baseline.readers, *_mentioned(baseline)})
        }
        self._order = {stage.id: index for index, stage in enumerate(registry.stages)}
        self._known = {
            name: spec
            for name, spec in baseline.specs.items()
            if name in registry.facts and registry.facts[name].kind == spec.kind
        }
        self._other_readers = sorted(
            stage
            for stage, reader in baseline.readers.items()
            if registry.stage(stage) is not None and reader != reader_of(stage, registry)
        )
        self._incomparable = {
            *self._other_readers,
            *(
                name
                for name, stage in self._stages.items()
                if switched_off & {rule.id for rule in stage.normalizations}
            ),
        }
        self._record = Recorded(
            facts=frozenset(self._known),
            in_loops=frozenset(name for name, spec in self._known.items() if spec.in_loops),
        )

    def all(self) -> tuple[tuple[Kernel, ...], tuple[Issue, ...]]:
        """The kernels and the issues."""
        kernels = tuple(self._kernel(kernel) for kernel in self._baseline.kernels)
        return kernels, (*self._unknown_facts(), *self._other_versions(), *self._not_recorded())

    def _kernel(self, recorded: RecordedKernel) -> Kernel:
        place = f"{self._where}:{recorded.line}"
        by_stage: dict[str, list[Fact]] = {}
        for fact in recorded.facts:
            if fact.id in self._known:
                by_stage.setdefault(self._known[fact.id].stage, []).append(fact)
        names = sorted(
            {*recorded.forms, *recorded.unreadable},
            key=lambda name: (self._order.get(name, len(self._order)), name),
        )
        readings = {name: self._reading(name, recorded, by_stage.get(name, []), place) for name in names}
        return Kernel(
            bundle=Bundle(
                name=recorded.name,
                path=place,
                layout=recorded.layout,
                target=_target(recorded.target),
            ),
            target=recorded.target,
            readings=readings,
            missing=recorded.missing,
            derived=tuple(by_stage.get("", ())),
            issues=tuple(_issue("missing-stage", "was not there", name, place) for name in recorded.missing),
            record=self._record,
        )

    def _reading(self, name: str, recorded: RecordedKernel, facts: list[Fact], place: str) -> Reading:
        stage = self._stages[name]
        if name not in recorded.forms:
            issue = _issue("unreadable-file", "could not be read", name, place)
            return Reading(stage=stage, sha256=None, summary=None, issues=(issue,), recorded=True)
        form: Form = recorded.forms[name]
        comparable = name not in self._incomparable
        return Reading(
            stage=stage,
            sha256=None,
            summary=Summary(
                facts=tuple(facts),
                scopes=recorded.scopes.get(name, ()),
                coverage=Coverage(understood=0, total=0),
                folded=form.folded,
                degraded=form.degraded,
            ),
            canonical=form.canonical if comparable else None,
            without=form.without if comparable else {},
            recorded=True,
        )

    def _unknown_facts(self) -> list[Issue]:
        """Facts that no plugin makes now, or makes as another kind: an error where a rule judges their role."""
        judged = {rule.role for rule in self._registry.rules} | {
            role for rule in self._registry.rules for role in rule.also
        }
        lost: dict[bool, list[str]] = {True: [], False: []}
        for name, spec in sorted(self._baseline.specs.items()):
            if name not in self._known:
                lost[bool(spec.role) and spec.role in judged].append(name)
        issues = []
        if lost[True]:
            issues.append(
                Issue(
                    severity="error",
                    code="baseline-fact-unknown",
                    message=f"{_named(lost[True])} cannot be judged: recorded here, and known to no plugin now",
                    where=self._where,
                    hint=f"install the plugin that it was written with, or {AGAIN}",
                )
            )
        if lost[False]:
            issues.append(
                Issue(
                    severity="warning",
                    code="baseline-fact-unknown",
                    message=f"{_named(lost[False])} not compared: recorded here, and known to no plugin now",
                    where=self._where,
                    hint=AGAIN,
                )
            )
        return issues

    def _other_versions(self) -> list[Issue]:
        """Stages whose forms were made by another version."""
        if not self._other_readers:
            return []
        stage = self._other_readers[0]
        return [
            Issue(
                severity="warning",
                code="baseline-of-another-version",
                message=f"written by {self._baseline.readers[stage]}, read by {reader_of(stage, self._registry)}: "
                f"of {_named(self._other_readers)} recorded facts alone are compared",
                where=self._where,
                hint=AGAIN,
            )
        ]

    def _not_recorded(self) -> list[Issue]:
        """Facts that rules judge and that the baseline does not have though it has their stage."""
        judged = judged_facts(self._registry)
        recorded = {spec.role for spec in self._baseline.specs.values()}
        new = sorted(
            fact.id
            for stage in self._registry.stages
            if stage.id in self._baseline.readers
            for fact in stage.facts
            if fact.id in judged and fact.id not in self._baseline.specs and fact.role not in recorded
        )
        if not new:
            return []
        return [
            Issue(
                severity="warning",
                code="baseline-lacks-fact",
                message=f"{_named(new)} not recorded, which rules judge",
                where=self._where,
                hint=AGAIN,
            )
        ]


def _mentioned(baseline: Baseline) -> set[str]:
    return {
        name for kernel in baseline.kernels for name in (*kernel.forms, *kernel.unreadable, *kernel.missing)
    }


def _target(text: str | None) -> Target | None:
    backend, colon, arch = (text or "").partition(":")
    return Target(backend=backend, arch=arch) if colon else None


def _issue(code: str, what: str, stage: str, place: str) -> Issue:
    return Issue(
        severity="error",
        code=code,
        message=f"{stage} {what} when the baseline was written",
        where=place,
        stage=stage,
        hint="compile it again, and write the baseline again",
    )


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"
