"""Facts that a user's configuration adds to the registry: checked against the stages that are there."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import msgspec

from irdiff.errors import UsageError
from irdiff.model.patterns import PatternFact, with_pattern_facts
from irdiff.nearest import nearest
from irdiff.registry import Registry


def with_user_facts(registry: Registry, facts: Sequence[PatternFact], where: str) -> Registry:
    """The registry with facts by pattern in its stages; ``where`` names the configuration file.

    Raises UsageError for a stage that no plugin has, and for an id that is taken. Where a plugin is switched off or
    skipped, its stages take their facts with them: facts of unknown stages are then passed over.
    """
    if not facts:
        return registry
    stages = {stage.id: stage for stage in registry.stages}
    complete = all(info.status == "loaded" for info in registry.plugins)
    added: dict[str, list[PatternFact]] = {}
    for number, fact in enumerate(facts, 1):
        at = f"{where}: fact {number}"
        if fact.stage not in stages:
            if not complete:
                continue  # it may be a stage of a plugin that is not loaded
            raise UsageError(f"no stage is called {fact.stage!r}", where=at, hint=nearest(fact.stage, stages))
        if fact.id in registry.facts:
            owner = registry.owners.get(fact.id)
            raise UsageError(
                f"{fact.id} is a fact of {f'plugin {owner.name} ({owner.origin})' if owner else 'irdiff'}",
                where=at,
                hint=f"give it another name: {fact.stage}.my_{fact.id.rpartition('.')[2]}",
            )
        added.setdefault(fact.stage, []).append(fact)
    made = tuple(with_pattern_facts(stage, added.get(stage.id, ())) for stage in registry.stages)
    specs = {spec.id: spec for stage in made for spec in stage.facts}
    return msgspec.structs.replace(registry, stages=made, facts=MappingProxyType({**registry.facts, **specs}))
