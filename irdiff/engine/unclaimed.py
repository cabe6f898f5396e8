"""Stages that no plugin claims: compared as bytes, then as lines, so that a fork's own stage is never ignored."""

from __future__ import annotations

import hashlib

from irdiff.model.bundle import Artifact
from irdiff.model.specs import Context, StageSpec
from irdiff.model.summary import Canonical, Coverage, Summary


def unclaimed_stage(stage_id: str) -> StageSpec:
    """A stage made up for a suffix without a plugin: no facts, its canonical form is its lines."""
    return StageSpec(
        id=stage_id,
        title=f".{stage_id} (no plugin reads it)",
        suffixes=(f".{stage_id}",),
        facts=(),
        summarize=_summarize,
        canonical=_canonical,
    )


def _summarize(artifact: Artifact, context: Context) -> Summary:
    artifact.read()
    return Summary(coverage=Coverage(understood=0, total=0), degraded="no plugin reads this stage")


def _canonical(artifact: Artifact, context: Context) -> Canonical:
    data = artifact.read()
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return Canonical(lines=(f"sha256 {hashlib.sha256(data).hexdigest()}",), places=(1,))
    return Canonical.of(lines, places=range(1, len(lines) + 1))
