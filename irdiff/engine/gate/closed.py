"""What keeps the gate from passing because it could not be judged. It fails closed, and only then.

Something that had to be judged and was not read, decoded or compared is :class:`Unjudged`. What an entry is not
expected to hold is not: a dump tree without JSON, a binary-only tree, releases that write no ``.source``, code that no
tool decoded and whose fingerprints are equal, stages of text that no plugin reads, kernels on one side only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from irdiff.engine.gate.evaluate import SAME
from irdiff.engine.gate.view import PairView, sound
from irdiff.engine.kernels import Kernel, Reading
from irdiff.model.bundle import Artifact
from irdiff.model.gate import Unjudged
from irdiff.model.issues import Issue
from irdiff.model.report import KernelReport, Report
from irdiff.model.rules import RuleSpec
from irdiff.registry import PluginProblem, Registry

SIDES = ("before", "after")
FAILED = "compilation-"
"""What the codes of issues begin with that say that a kernel did not compile."""


def failed_before(report: Report) -> frozenset[str]:
    """Paths of compilations that failed and are there before alone: nothing was lost, and nothing is to be judged."""
    failed = {issue.where for issue in report.issues if issue.code.startswith(FAILED)}
    return frozenset(each.path for each in report.removed if each.path in failed)


def known_failures(view: PairView, kernels: tuple[Kernel, Kernel]) -> set[Issue]:
    """What is said of compilations that failed on the side before: one that fails still, or no longer, is no news."""
    sides = {(True, True): kernels, (True, False): kernels[:1]}.get(view.failed, ())
    return {issue for kernel in sides for issue in kernel.bundle.issues}


def of_nothing(
    report: Report, *, selected: int, failed: int, enabled: bool, policy: str | None
) -> Iterator[Unjudged]:
    """Where there is nothing to judge, or nothing that judges.

    ``selected`` of the report's pairs are judged by the policy, of these ``failed`` did not compile on either side;
    ``enabled`` is whether any rule is.
    """
    if report.kernels and not selected:
        yield Unjudged(
            code="nothing-selected",
            message=f"the policy selects none of {len(report.kernels):,} kernels",
            path=policy,
            hint="widen `kernels` and `targets` of the policy",
        )
    if selected and failed == selected:
        yield Unjudged(
            code="nothing-compiled",
            message="no kernel compiled, neither before nor after: there is nothing to judge",
            path=report.kernels[0].path_after,
            hint="irdiff show says why they did not compile",
        )
    if not enabled:
        yield Unjudged(
            code="no-rules",
            message="no rule is enabled",
            path=policy,
            hint="irdiff rules lists them",
        )


def of_plugins(problems: Iterable[PluginProblem]) -> Iterator[Unjudged]:
    """Plugins that should have been loaded and were not: their stages and rules judged nothing."""
    for problem in problems:
        issue = problem.issue()
        yield Unjudged(code=issue.code, message=issue.message, hint=issue.hint)


def of_issue(issue: Issue, kernel: KernelReport | None, registry: Registry) -> Unjudged:
    """An issue of severity error: something was not compared."""
    return Unjudged(
        code=issue.code,
        message=issue.message,
        kernel=kernel.name if kernel is not None else None,
        path=issue.where or (kernel.path_after if kernel is not None else None),
        stage=issue.stage,
        rules=judging(issue.stage, registry),
        hint=issue.hint,
    )


def judging(stage_id: str | None, registry: Registry) -> tuple[str, ...]:
    """Codes of the rules that judge facts of a stage."""
    stage = registry.stage(stage_id) if stage_id is not None else None
    roles = {spec.role for spec in stage.facts} if stage is not None else set()
    return tuple(sorted(rule.code for rule in registry.rules if rule.role and rule.role in roles))


def of_stages(kernel: KernelReport, told: Iterable[str | None]) -> Iterator[Unjudged]:
    """Stages that could not be compared and of which no issue speaks."""
    spoken = set(told)
    for stage_id, stage in kernel.stages.items():
        if stage.sameness == "unreadable" and stage_id not in spoken:
            yield Unjudged(
                code="unreadable",
                message=f"{stage_id} was not compared: {'; '.join(stage.reasons)}",
                kernel=kernel.name,
                path=kernel.path_after,
                stage=stage_id,
            )
    if kernel.status == "incomplete" and not spoken and not kernel.issues:
        yield Unjudged(
            code="incomplete", message="it was not compared", kernel=kernel.name, path=kernel.path_after
        )


def of_required(
    view: PairView, kernels: tuple[Kernel, Kernel], required: Sequence[str]
) -> Iterator[Unjudged]:
    """Stages that every kernel must hold, read in full on both sides unless they are the same."""
    report = view.kernel
    for stage_id in required:
        same = report.stages[stage_id].sameness in SAME if stage_id in report.stages else False
        for side, kernel in zip(SIDES, kernels, strict=True):
            reading = kernel.readings.get(stage_id)
            why = _lacking(reading, same=same)
            if why:
                yield Unjudged(
                    code="required-stage",
                    message=f"{stage_id} is required, and {why} {side}",
                    kernel=report.name,
                    path=kernel.bundle.path,
                    stage=stage_id,
                    hint="compile it again, or leave out --require",
                )


def of_targets(view: PairView, rules: Iterable[RuleSpec]) -> Iterator[Unjudged]:
    """A pair compiled for two targets: its numbers are not those of one machine, and most rules leave it alone."""
    before, after = view.targets
    codes = tuple(sorted(rule.code for rule in rules if not rule.across_targets))
    if None in (before, after) or before == after or view.kernel.status in SAME or not codes:
        return
    yield Unjudged(
        code="other-target",
        message=f"it was compiled for {before} before and for {after} after, which are not judged together",
        kernel=view.kernel.name,
        path=view.kernel.path_after,
        rules=codes,
        hint="compare kernels that were compiled for one target",
    )


def of_unread(
    view: PairView, kernels: tuple[Kernel, Kernel], rules: Iterable[RuleSpec], registry: Registry
) -> Iterator[Unjudged]:
    """Machine code that differs and that no plugin reads.

    A binary is taken for machine code where the kernel has no other: a fork's own stages are text, and a binary
    beside machine code that is read comes before it.
    """
    stages = view.kernel.stages
    final = {stage.id for stage in registry.stages if stage.machine_code}
    if any(stage_id in final and stage.sameness in (*SAME, "changed") for stage_id, stage in stages.items()):
        return
    for stage_id, stage in stages.items():
        if stage.sameness != "changed" or registry.stage(stage_id) is not None:
            continue
        artifacts = [kernel.bundle.artifacts.get(stage_id) for kernel in kernels]
        found = [artifact for artifact in artifacts if artifact is not None and _binary(artifact)]
        if found:
            suffix = found[-1].suffix
            yield Unjudged(
                code="unread-machine-code",
                message=f"its machine code ({suffix}) differs, and no plugin reads it",
                kernel=view.kernel.name,
                path=view.kernel.path_after,
                stage=stage_id,
                rules=tuple(sorted(rule.code for rule in rules)),
                hint=f"install the plugin that reads {suffix}; irdiff plugins lists those that are there",
            )


def _binary(artifact: Artifact) -> bool:
    """Whether it is no text; one that cannot be read is told elsewhere."""
    try:
        data = artifact.read()
        data.decode("utf-8")
    except OSError:
        return False
    except UnicodeDecodeError:
        return True
    return b"\0" in data


def _lacking(reading: Reading | None, *, same: bool) -> str:
    if reading is None:
        return "is not there"
    if reading.summary is None or not sound(reading):
        return "is not readable"
    return (
        f"is not read in full ({reading.summary.degraded})" if reading.summary.degraded and not same else ""
    )


def of_tools(
    view: PairView, kernels: tuple[Kernel, Kernel], rules: Iterable[RuleSpec], registry: Registry
) -> Iterator[Unjudged]:
    """Stages whose code no tool decoded though it differs, where a rule needs what only the tool can say."""
    found: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for rule in rules:
        if not rule.role or view.known(rule.role):
            continue
        for stage_id, side, reason in _undecoded(view.kernel, kernels, rule.role, registry):
            if rule.answered is not None and rule.answered(view):
                break
            sides, codes = found.setdefault((stage_id, reason), (set(), set()))
            sides.add(side)
            codes.add(rule.code)
    for (stage_id, reason), (sides, codes) in found.items():
        told = [side for side in SIDES if side in sides]
        yield Unjudged(
            code="not-decoded",
            message=f"{reason} ({' and '.join(told)})",
            kernel=view.kernel.name,
            path=kernels[SIDES.index(told[-1])].bundle.path,
            stage=stage_id,
            rules=tuple(sorted(codes)),
            hint=_how_to_get(stage_id, registry),
        )


def _undecoded(
    report: KernelReport, kernels: tuple[Kernel, Kernel], role: str, registry: Registry
) -> Iterator[tuple[str, str, str]]:
    """(stage, side, reason) where facts of a role are not known for want of a tool, and the code differs."""
    for stage_id, needed in _needing(role, registry).items():
        if stage_id not in report.stages or report.stages[stage_id].sameness != "changed":
            continue
        for side, kernel in zip(SIDES, kernels, strict=True):
            reading = kernel.readings.get(stage_id)
            summary = reading.summary if reading is not None else None
            if summary is None or not summary.degraded:
                continue
            if not {fact.id for fact in summary.facts} & needed:
                yield stage_id, side, summary.degraded


def _needing(role: str, registry: Registry) -> Mapping[str, frozenset[str]]:
    """Stage to its facts of a role that need a tool."""
    found: dict[str, frozenset[str]] = {}
    for stage in registry.stages:
        needed = frozenset(spec.id for spec in stage.facts if spec.role == role and spec.needs)
        if needed:
            found[stage.id] = needed
    return found


def _how_to_get(stage_id: str, registry: Registry) -> str | None:
    stage = registry.stage(stage_id)
    hints = [tool.hint for tool in registry.tools if stage is not None and tool.id in stage.needs]
    return "; ".join(hints) or None
