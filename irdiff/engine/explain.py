"""Where a change begins and why, from the stages' own declarations and the facts that describe a compilation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from irdiff.engine.causes import FINGERPRINT, Case, cause_of
from irdiff.engine.kernels import Kernel
from irdiff.model.facts import FactSpec
from irdiff.model.report import Change, FirstDivergence, KernelReport, StageReport
from irdiff.model.specs import Explanation, KindSpec
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
        stage
        for stage in differing
        if any(
            change.fact in specs and specs[change.fact].role != FINGERPRINT
            for change in changes.get(stage.id, ())
        )
    ]
    at_the_front = first.id == next(name for name in steps if stages[name].sameness != "missing")
    return FirstDivergence(
        stage=first.reported_as or first.id,
        fact_stage=(with_facts[0].reported_as or with_facts[0].id) if with_facts else None,
        cause=cause_of(
            Case(
                before=before,
                after=after,
                first=first,
                at_the_front=at_the_front,
                stages=stages,
                changes=changes.get(first.id, ()),
                specs=specs,
                kinds=kinds,
            )
        ),
    )


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
