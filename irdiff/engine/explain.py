"""Where a change begins and why, from the stages' own declarations and the facts that describe a compilation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from irdiff.engine.kernels import Kernel, facts_with_role
from irdiff.model.facts import FactSpec, Scalar, Value
from irdiff.model.report import Change, FirstDivergence, KernelReport, StageReport
from irdiff.model.specs import Explanation, KindSpec, StageSpec
from irdiff.registry import GuardedExplainer, PluginProblem


def first_divergence(
    before: Kernel,
    after: Kernel,
    stages: Mapping[str, StageReport],
    changes: Mapping[str, Sequence[Change]],
    specs: Mapping[str, FactSpec],
    kinds: Mapping[str, KindSpec],
) -> FirstDivergence | None:
    """The first step of the compiler whose canonical form differs, the first whose facts do, and the cause.

    ``changes`` holds the changes of each stage by stage id. None where no step of the compiler differs.
    A difference that a later step no longer has led to nothing behind it: where something differs behind the
    last step that is the same on both sides, it begins there.
    """
    declared = {
        stage_id: reading.stage for kernel in (before, after) for stage_id, reading in kernel.readings.items()
    }
    steps = [name for name in stages if name in declared and declared[name].pipeline]
    differing = [declared[name] for name in steps if stages[name].sameness == "changed"]
    if not differing:
        return None
    same = [at for at, name in enumerate(steps) if stages[name].sameness in ("identical", "equivalent")]
    behind = {name for at, name in enumerate(steps) if same and at > same[-1]}
    differing = [stage for stage in differing if stage.id in behind] or differing
    first = differing[0]
    with_facts = [
        stage for stage in differing if any(c.effect != "unexplained" for c in changes.get(stage.id, ()))
    ]
    at_the_front = first.id == next(name for name in steps if stages[name].sameness != "missing")
    return FirstDivergence(
        stage=first.reported_as or first.id,
        fact_stage=(with_facts[0].reported_as or with_facts[0].id) if with_facts else None,
        cause=_cause(before, after, first, stages, specs, kinds, at_the_front=at_the_front),
    )


def _cause(
    before: Kernel,
    after: Kernel,
    first: StageSpec,
    stages: Mapping[str, StageReport],
    specs: Mapping[str, FactSpec],
    kinds: Mapping[str, KindSpec],
    *,
    at_the_front: bool,
) -> str | None:
    """In words; an argument explains what is already there in front, an option anything."""
    if before.target != after.target:
        return f"target {before.target or 'unknown'} -> {after.target or 'unknown'}"
    if at_the_front:
        for role, word in (("specialization", "argument"), ("arguments", "argument")):
            moved = _moved(before, after, role, specs, kinds)
            if moved:
                return f"{word} {moved}"
    moved = _moved(_differing(before, stages), _differing(after, stages), "options", specs, kinds)
    if moved:
        return f"option {moved}"
    if not first.produced_by:
        return None
    versions = _versions(before, after, first)
    return f"{first.produced_by} ({versions})" if versions else first.produced_by


def _differing(kernel: Kernel, stages: Mapping[str, StageReport]) -> Kernel:
    """The kernel without what stages of equal meaning say: an option that only one release writes is no cause."""
    readings = {name: r for name, r in kernel.readings.items() if stages[name].sameness != "equivalent"}
    return msgspec.structs.replace(kernel, readings=readings)


def _moved(
    before: Kernel, after: Kernel, role: str, specs: Mapping[str, FactSpec], kinds: Mapping[str, KindSpec]
) -> str:
    """``name: before -> after`` of the first fact of a role; at most three, and only what both sides record."""
    known_after = {fact.id: fact for fact in facts_with_role(after, specs, role)}
    for fact in facts_with_role(before, specs, role):
        other = known_after.get(fact.id)
        if other is None:
            continue
        delta = kinds[specs[fact.id].kind].compare(fact.value, other.value)
        if not isinstance(delta, dict):
            continue
        sides = [value for value in (fact.value, other.value) if isinstance(value, dict)]
        named = [f"{name}: {text}" for name, text in delta.items() if all(name in side for side in sides)]
        if role == "arguments" and len(sides) == 2:
            named += _specialized_away(sides[0], sides[1])
        if named:
            more = f" (and {len(named) - 3} more)" if len(named) > 3 else ""
            return "; ".join(named[:3]) + more
    return ""


def _specialized_away(before: Mapping[str, Scalar], after: Mapping[str, Scalar]) -> list[str]:
    """Arguments that one side still has and the other was compiled without (constant 1, None, constexpr).

    Only where all others are the same ones: another set of names may be another spelling of them.
    """
    if not (before.keys() < after.keys() or after.keys() < before.keys()):
        return []
    gone = "compiled in"
    return [
        f"{name}: {before.get(name, gone)} -> {after.get(name, gone)}"
        for name in sorted(before.keys() ^ after.keys())
    ]


def _versions(before: Kernel, after: Kernel, stage: StageSpec) -> str:
    """``12.8 -> 12.9``: the versions of the part that wrote the stage, where both are recorded and differ."""
    values_before = _tokens(before)
    values_after = _tokens(after)
    for fact_id in stage.version_facts:
        old, new = values_before.get(fact_id), values_after.get(fact_id)
        if old is not None and new is not None and old != new:
            return f"{old} -> {new}"
    return ""


def _tokens(kernel: Kernel) -> dict[str, Value]:
    return {fact.id: fact.value for fact in kernel.facts() if not fact.scope}


def explained(report: KernelReport, explainers: Sequence[GuardedExplainer]) -> KernelReport:
    """The report with the cause that a plugin knows, if one has a better one; a plugin's failure is an issue."""
    if report.first_divergence is None:
        return report
    answers = [explain(report) for explain in explainers]
    issues = tuple(answer.issue() for answer in answers if isinstance(answer, PluginProblem))
    known = [answer for answer in answers if isinstance(answer, Explanation)]
    divergence = report.first_divergence
    if known:
        best = max(known, key=lambda answer: (answer.priority, answer.cause))
        divergence = msgspec.structs.replace(divergence, cause=best.cause)
    return msgspec.structs.replace(report, first_divergence=divergence, issues=(*report.issues, *issues))
