"""From kernels that were read to what a baseline keeps of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from irdiff.baseline.choose import chosen
from irdiff.baseline.content import Baseline, Form, RecordedKernel, RecordedSpec
from irdiff.engine.kernels import Kernel
from irdiff.model.facts import Fact, Scope
from irdiff.registry import Registry


def recorded(kernels: Sequence[Kernel], registry: Registry, asked: Collection[str] = ()) -> Baseline:
    """The baseline of kernels read with their canonical forms. Raises UsageError for an unknown fact in ``asked``."""
    specs = chosen(kernels, registry, asked)
    stages = {name for kernel in kernels for name in kernel.readings}
    return Baseline(
        readers={name: reader_of(name, registry) for name in sorted(stages)},
        specs=specs,
        kernels=tuple(_kernel(kernel, specs) for kernel in kernels),
    )


def reader_of(stage_id: str, registry: Registry) -> str:
    """Who reads a stage, with the version: digests made by another one cannot be compared."""
    info = registry.owners.get(stage_id)
    return info.origin if info is not None else "irdiff"


def _kernel(kernel: Kernel, specs: Mapping[str, RecordedSpec]) -> RecordedKernel:
    kept = [
        Fact(
            id=fact.id,
            value=fact.value,
            scope=fact.scope,
            exactness="estimate" if fact.exactness == "estimate" else None,
        )
        for fact in kernel.facts()
        if fact.id in specs and (not fact.scope or specs[fact.id].in_loops)
    ]
    looped = {specs[fact.id].stage for fact in kept if fact.scope}
    return RecordedKernel(
        name=kernel.bundle.name,
        target=kernel.target,
        layout=kernel.bundle.layout,
        forms={
            name: Form(
                canonical=reading.canonical,
                without=reading.without,
                degraded=reading.summary.degraded,
                folded=tuple(sorted(set(reading.summary.folded))),
            )
            for name, reading in sorted(kernel.readings.items())
            if reading.summary is not None
        },
        unreadable=tuple(sorted(n for n, reading in kernel.readings.items() if reading.summary is None)),
        missing=tuple(sorted(kernel.missing)),
        facts=tuple(sorted(kept, key=lambda fact: (fact.scope, fact.id))),
        scopes={
            name: tuple(Scope(id=scope.id, trip_count=scope.trip_count) for scope in reading.summary.scopes)
            for name, reading in sorted(kernel.readings.items())
            if reading.summary is not None and name in looped
        },
    )
