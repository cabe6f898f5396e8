"""Who owns which id: settles what two plugins both claim, and refuses what cannot stand alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Protocol

import msgspec

from irdiff.model.kinds import standard_kinds
from irdiff.plugin_checks import Contributions
from irdiff.registry import PluginProblem, one_line, predecessors

GROUP = "irdiff"
"""The entry-point group; also pluggy's project name."""
BUNDLED = "irdiff"
"""The distribution whose plugins are the bundled ones."""


def normalized(name: str) -> str:
    """As PEP 503 compares names of distributions."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Loadable(Protocol):
    """An entry point."""

    def load(self) -> object:
        """Import what it names."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One entry point with the distribution it came in."""

    name: str
    distribution: str
    version: str
    point: Loadable

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
    bundled = {index: plugin for index, plugin in loaded.items() if plugin.found.bundled}
    reasons = _among_equals(bundled)
    owners = {
        claim: plugin.found
        for index, plugin in bundled.items()
        if index not in reasons
        for claim in plugin.claims
    }
    external: dict[int, Plugin] = {}
    for index, plugin in loaded.items():
        if plugin.found.bundled:
            continue
        taken = sorted(plugin.claims & owners.keys())
        if own := sorted(plugin.claims & {("kind", kind) for kind in standard_kinds()}):
            reasons[index] = f"kind {own[0][1]} is irdiff's own"
        elif taken:
            reasons[index] = _also_claimed(taken[0], [owners[taken[0]]])
        else:
            external[index] = plugin
    return reasons | _among_equals(external)


def _among_equals(plugins: Mapping[int, Plugin]) -> dict[int, str]:
    """Everyone who claims what another of them claims, too."""
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, plugin in plugins.items():
        for claim in plugin.claims:
            holders[claim].append(index)
    reasons: dict[int, str] = {}
    for claim, indexes in sorted(holders.items()):
        for index in indexes if len(indexes) > 1 else ():
            others = [plugins[other].found for other in indexes if other != index]
            reasons.setdefault(index, _also_claimed(claim, others))
    return reasons


def _also_claimed(claim: tuple[str, str], others: list[Found]) -> str:
    named = ", ".join(f"{one.name} ({one.distribution} {one.version})" for one in others)
    return f"{claim[0]} {claim[1]} is also claimed by {named}"


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
