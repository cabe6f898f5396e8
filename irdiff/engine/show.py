"""Turn kernels that were read into the value that ``irdiff show`` prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from irdiff.engine.kernels import Kernel, Reading
from irdiff.engine.road import road
from irdiff.engine.specializations import specializations
from irdiff.model.bundle import Artifact
from irdiff.model.facts import FactSpec, Value
from irdiff.model.issues import Issue
from irdiff.model.report import LoopInfo, Show, ShownKernel, ShownStage
from irdiff.model.specs import StageSpec

Lines: TypeAlias = Callable[[Reading, Artifact], Mapping[int, str]]
"""Places of an artifact to the user's lines: ``Reader.source_lines``."""


def show(
    kernels: Sequence[Kernel],
    issues: Sequence[Issue],
    specs: Mapping[str, FactSpec],
    stages: Sequence[StageSpec],
    *,
    evidence: bool = False,
    lines: Lines | None = None,
) -> Show:
    """Every fact of every kernel; ``evidence`` adds the places each rests on, ``lines`` the road."""
    order = {name: index for index, name in enumerate(specs)}
    return Show(
        kernels=tuple(_kernel(kernel, order, stages, evidence=evidence, lines=lines) for kernel in kernels),
        issues=tuple(issues),
        specializations=specializations(kernels, specs),
    )


def _kernel(
    kernel: Kernel,
    order: Mapping[str, int],
    stages: Sequence[StageSpec],
    *,
    evidence: bool,
    lines: Lines | None,
) -> ShownKernel:
    facts: dict[str, Value] = {}
    scopes: dict[str, dict[str, Value]] = {}
    places: dict[str, dict[str, tuple[int, ...]]] = {}
    for fact in sorted(
        kernel.facts(), key=lambda fact: (order.get(fact.id, len(order)), fact.id, fact.scope)
    ):
        if fact.scope:
            scopes.setdefault(fact.scope, {})[fact.id] = fact.value
        else:
            facts[fact.id] = fact.value
            if evidence and fact.evidence:
                places[fact.id] = fact.evidence
    shown = {name: _stage(kernel, name, reading) for name, reading in kernel.readings.items()}
    for spec in stages:
        if spec.id in kernel.missing:
            shown[spec.id] = ShownStage(
                sha256=None,
                coverage=None,
                issues=tuple(issue for issue in kernel.issues if issue.stage == spec.id),
                degraded="missing",
            )
    return ShownKernel(
        name=kernel.bundle.name,
        path=kernel.bundle.path,
        target=kernel.target,
        facts=facts,
        scopes=dict(sorted(scopes.items(), key=lambda item: scope_order(item[0]))),
        stages=shown,
        road=road(kernel, lambda stage_id, reading: lines(reading, kernel.artifact(stage_id)))
        if lines
        else {},
        evidence=places,
        issues=kernel.issues,
    )


def scope_order(scope: str) -> tuple[tuple[int, str], ...]:
    """Sorts scopes by their numbers: ``loop2`` before ``loop10``; the whole kernel first."""
    parts = []
    for part in scope.split("/"):
        digits = part.lstrip("abcdefghijklmnopqrstuvwxyz")
        parts.append((int(digits) if digits.isdigit() and digits.isascii() else -1, part))
    return tuple(parts)


def _stage(kernel: Kernel, name: str, reading: Reading) -> ShownStage:
    summary = reading.summary
    return ShownStage(
        sha256=reading.sha256,
        coverage=round(summary.coverage.ratio, 6) if summary else None,
        issues=reading.issues,
        degraded=summary.degraded if summary else "unreadable",
        file=kernel.bundle.artifacts[name].location,
        unknown=summary.coverage.unknown if summary else (),
        loops={
            scope.id: LoopInfo(trip_count=scope.trip_count, first=scope.first, last=scope.last)
            for scope in (summary.scopes if summary else ())
        },
    )
