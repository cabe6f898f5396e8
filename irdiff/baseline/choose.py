"""Which facts are worth keeping: those that a rule can judge, those that tell kernels apart, and versions.

A fact with a direction or with a role that a rule judges, what its direction depends on, provenance, and whatever is
asked for; of the first step of the compiler that most kernels hold every tally with a role, for by what a kernel does
it is found again under another number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from irdiff.baseline.content import RecordedSpec
from irdiff.engine.kernels import Kernel
from irdiff.engine.likeness import DESCRIBING_ROLES, FINGERPRINT
from irdiff.errors import UsageError
from irdiff.model.facts import FactSpec
from irdiff.registry import Registry

ALWAYS = frozenset((*DESCRIBING_ROLES, FINGERPRINT, "environment"))
"""Roles that pairing and causes go by."""


def chosen(
    kernels: Sequence[Kernel], registry: Registry, asked: Collection[str] = ()
) -> dict[str, RecordedSpec]:
    """The facts to record, by id; ``asked`` holds ids or globs. Raises UsageError for one that is no fact."""
    stages = {fact.id: stage.id for stage in registry.stages for fact in stage.facts}
    held = {"", *(name for kernel in kernels for name in kernel.readings)}
    first = _first_step(kernels)
    facts = {name: spec for name, spec in registry.facts.items() if stages.get(name, "") in held}
    wanted = judged_facts(registry, first).keys() & facts.keys()
    wanted |= {name for name, spec in facts.items() if _worth(spec)}
    wanted |= set(_asked(asked, registry.facts)) & facts.keys()
    wanted |= {
        other
        for name in wanted
        for other in (*facts[name].comparable_when, facts[name].limited_by or "")
        if other in facts
    }
    describing = {
        name
        for name, spec in facts.items()
        if stages.get(name) == first and spec.kind == "tally" and spec.role is not None and not spec.opt_in
    }
    in_loops = {fact.id for kernel in kernels for fact in kernel.facts() if fact.scope} & wanted
    return {
        name: RecordedSpec(
            stage=stages.get(name, ""),
            kind=facts[name].kind,
            role=facts[name].role,
            in_loops=name in in_loops,
        )
        for name in sorted(wanted | describing)
    }


def judged_facts(registry: Registry, first: str | None = None) -> dict[str, str]:
    """Facts that a rule reads, and a rule that does: those of its role, and of the other roles that it reads.

    These are read beside the facts it judges where they have that stage in common; else in the ``first`` step of the
    compiler where that has them, else wherever they are.
    """
    by_role: dict[str, list[tuple[str, str]]] = {}
    for stage_id, specs in (
        *((stage.id, stage.facts) for stage in registry.stages),
        *(("", derived.facts) for derived in registry.derived),
    ):
        for spec in specs:
            if spec.role and not spec.opt_in:
                by_role.setdefault(spec.role, []).append((stage_id, spec.id))
    found: dict[str, str] = {}
    for rule in registry.rules:
        own = by_role.get(rule.role, [])
        stages = {stage for stage, _ in own}
        found |= dict.fromkeys((name for _, name in own), rule.code)
        for role in rule.also:
            others = by_role.get(role, [])
            beside = [name for stage, name in others if stage in stages]
            there = [name for stage, name in others if stage == first]
            found |= dict.fromkeys(beside or there or [name for _, name in others], rule.code)
    return found


def _worth(spec: FactSpec) -> bool:
    if spec.opt_in:
        return False
    return spec.role in ALWAYS or spec.provenance or (spec.better != "neutral" and spec.exactness == "exact")


def _asked(asked: Iterable[str], facts: Mapping[str, FactSpec]) -> Iterable[str]:
    for glob in asked:
        found = [name for name in facts if fnmatchcase(name, glob)]
        if not found:
            raise UsageError(
                f"no fact is called {glob!r}",
                where="--fact",
                hint="irdiff facts lists them; * and ? may stand in it",
            )
        yield from found


def _first_step(kernels: Sequence[Kernel]) -> str | None:
    """The step of the compiler that most kernels hold; of several the earliest."""
    counts = Counter(
        name
        for kernel in kernels
        for name, reading in kernel.readings.items()
        if reading.summary is not None and reading.stage.pipeline and reading.stage.reported_as is None
    )
    return max(counts, key=lambda name: counts[name], default=None)
