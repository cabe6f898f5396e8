"""What the places of a stage's canonical lines count."""

from __future__ import annotations

from irdiff.model.facts import Place
from irdiff.model.specs import StageSpec


def place_of(spec: StageSpec) -> Place:
    """What the places of a stage's canonical lines count."""
    if spec.written is not None:
        return "address"
    return "byte" if spec.facts and all(fact.place == "byte" for fact in spec.facts) else "line"
