"""The words a user is told: status of a kernel, verdict of a report, direction, machine code."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from irdiff.engine.kernels import Kernel
from irdiff.model.facts import FactSpec
from irdiff.model.issues import Issue
from irdiff.model.report import Change, Direction, KernelReport, MachineCode, StageReport, Status


def status_of(stages: Mapping[str, StageReport], issues: Iterable[Issue]) -> Status:
    """What is certain comes first: a difference that was seen, then that something was not compared."""
    found = {report.sameness for report in stages.values()}
    if "changed" in found:
        return "changed"
    if "unreadable" in found or any(issue.severity == "error" for issue in issues):
        return "incomplete"
    if not found - {"missing"}:
        return "incomplete"
    return "equivalent" if "equivalent" in found else "identical"


SAME = ("identical", "equivalent")


def direction_of(
    changes: Sequence[Change],
    specs: Mapping[str, FactSpec],
    machine_code: MachineCode,
    earlier: Collection[str] = (),
) -> Direction:
    """Better, worse, or mixed by the exact facts that have a direction; never one summed score.

    Where the machine code is the same, what moved in the ``earlier`` steps of the compiler led to nothing: only what a
    launch is given beside the code (shared memory, for one) still has a direction.
    """
    silent = frozenset(earlier) if machine_code in SAME else frozenset()
    effects = {
        change.effect
        for change in changes
        if change.fact in specs
        and specs[change.fact].exactness == "exact"
        and change.fact.partition(".")[0] not in silent
    }
    if {"better", "worse"} <= effects:
        return "mixed"
    if "worse" in effects:
        return "worse"
    return "better" if "better" in effects else "neutral"


def machine_code_of(stages: Mapping[str, StageReport], before: Kernel, after: Kernel) -> MachineCode:
    """Sameness of what the GPU executes; unknown where it was not there or not readable on both sides."""
    declared = {
        name
        for kernel in (before, after)
        for name, reading in kernel.readings.items()
        if reading.stage.machine_code
    }
    found = {stages[name].sameness for name in declared if name in stages}
    if not found or found & {"missing", "unreadable"}:
        return "unknown"
    if "changed" in found:
        return "changed"
    return "equivalent" if "equivalent" in found else "identical"


def overall(reports: Sequence[KernelReport], issues: Iterable[Issue]) -> tuple[Status, Direction | None]:
    """Verdict and direction over all kernels; kernels on one side only change neither."""
    statuses = {report.status for report in reports}
    directions = {report.direction for report in reports} - {None, "neutral"}
    if "changed" in statuses:
        if not directions:
            return "changed", "neutral"
        return "changed", directions.pop() if len(directions) == 1 else "mixed"
    if not statuses or "incomplete" in statuses or any(issue.severity == "error" for issue in issues):
        return "incomplete", None
    return ("equivalent" if "equivalent" in statuses else "identical"), None
