"""Two stages of one dialect, compared with each other: what the passes between them did to a kernel."""

from __future__ import annotations

import msgspec

from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.specs import StageSpec
from irdiff.registry import Registry


def in_one_stage(
    registry: Registry, before: Bundle, after: Bundle
) -> tuple[Bundle, Bundle, tuple[str, str]] | None:
    """Both sides as the later of their two stages, and the stages they are of; None where that is not so.

    Each side must hold one step of the compiler (a file that the user named: ``k.source`` and ``k.ttir``), the
    stages must differ, and both declare the same ``StageSpec.dialect``: then either can be read as the other.
    """
    first, second = _only_step(registry, before), _only_step(registry, after)
    if first is None or second is None or first.id == second.id or first.dialect is None:
        return None
    if first.dialect != second.dialect:
        return None
    order = [stage.id for stage in registry.stages]
    later = max(first.id, second.id, key=order.index)
    return _as(before, first.id, later), _as(after, second.id, later), (first.id, second.id)


def _only_step(registry: Registry, bundle: Bundle) -> StageSpec | None:
    steps = [stage for stage in registry.stages if stage.pipeline and stage.id in bundle.artifacts]
    known = {stage.id for stage in registry.stages}
    return steps[0] if len(steps) == 1 and known.issuperset(bundle.artifacts) else None


def _as(bundle: Bundle, stage: str, other: str) -> Bundle:
    """The bundle with its step read as another stage."""
    if stage == other:
        return bundle
    artifact = bundle.artifacts[stage]
    read_as = Artifact(
        stage=other,
        suffix=artifact.suffix,
        location=artifact.location,
        read=artifact.read,
        size=artifact.size,
    )
    rest = {name: each for name, each in bundle.artifacts.items() if name != stage}
    return msgspec.structs.replace(bundle, artifacts={**rest, other: read_as})
