"""Who owns which id: settles what two plugins both claim, and refuses what cannot stand alone."""

from __future__ import annotations

import importlib.metadata
import re
from collections import defaultdict
from collections.abc import Mapping

import msgspec

from irdiff.model.kinds import standard_kinds
from irdiff.plugin_checks import Contributions
from irdiff.registry import PluginProblem, one_line, predecessors

BUNDLED = "irdiff"
"""The distribution whose plugins are the bundled ones."""


def normalized(name: str) -> str:
    """As PEP 503 compares names of distributions."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One entry point with the distribution it came in."""

    name: str
    distribution: str
    version: str
    point: importlib.metadata.EntryPoint

    @property
    def bundled(self) -> bool:
        """Whether it came in irdiff's own distribution."""
        return normalized(self.distribution) == BUNDLED

    def problem(self, reason: str) -> PluginProblem:
        """Why this one is skipped, in one printable line."""
        return PluginProblem(
            plugin=self.name, distribution=self.distribution, version=self.version, reason=one_line(reason)
        )


class Plugin(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin whose hooks all answered."""

    found: Found
    has: Contributions
    claims: frozenset[tuple[str, str]]
    """(what, id) of everything that only one plugin may own."""


def contested(loaded: Mapping[int, Plugin]) -> dict[int, str]:
    """A bundled id wins over an external claim; of two claims of the same rank neither is loaded."""
    reasons: dict[int, str] = {}
    kinds = {("kind", kind) for kind in standard_kinds()}
    for index, plugin in loaded.items():
        if taken := sorted(plugin.claims & kinds):
            reasons[index] = f"{taken[0][0]} {taken[0][1]} is irdiff's own"
    for rank in (True, False):
        holders: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index, plugin in loaded.items():
            if index not in reasons and (plugin.found.bundled or not rank):
                for claim in plugin.claims:
                    holders[claim].append(index)
        lost: dict[int, str] = {}
        for (what, which), indexes in sorted(holders.items()):
            owners = [index for index in indexes if loaded[index].found.bundled]
            losers = indexes if len(owners) != 1 else [index for index in indexes if index not in owners]
            for index in losers if len(indexes) > 1 else ():
                others = [loaded[other].found for other in (owners or indexes) if other != index]
                named = ", ".join(f"{one.name} ({one.distribution} {one.version})" for one in others)
                lost.setdefault(index, f"{what} {which} is also claimed by {named}")
        reasons.update(lost)
    return reasons


def unknown_kinds(loaded: Mapping[int, Plugin]) -> dict[int, str]:
    """Refuse facts of a kind that nobody registers, until those left need nothing of those refused."""
    reasons: dict[int, str] = {}
    while True:
        left = {index: plugin for index, plugin in loaded.items() if index not in reasons}
        known = {*standard_kinds(), *(kind.id for plugin in left.values() for kind in plugin.has.value_kinds)}
        lost = {
            index: f"fact {fact.id} is of kind {fact.kind}, which nobody registers"
            for index, plugin in left.items()
            for fact in plugin.has.facts()
            if fact.kind not in known
        }
        if not lost:
            return reasons
        reasons.update(lost)


def circular(loaded: Mapping[int, Plugin]) -> dict[int, str]:
    """Refuse plugins whose stages come before themselves: the external ones of a circle, if there are any."""
    reasons: dict[int, str] = {}
    while True:
        stages = [
            (index, stage)
            for index, plugin in loaded.items()
            if index not in reasons
            for stage in plugin.has.stages
        ]
        after = {stage.id: stage.after for _, stage in stages}
        turning = [(index, stage) for index, stage in stages if stage.id in predecessors(after, stage.id)]
        if not turning:
            return reasons
        named = ", ".join(sorted(stage.id for _, stage in turning))
        guilty = [item for item in turning if not loaded[item[0]].found.bundled] or turning
        for index, stage in guilty:
            reasons.setdefault(index, f"stage {stage.id} comes before itself (circle through {named})")
