"""Times of kernels brought into a report: shares by name, and which names of either side the other does not have."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from irdiff.model.issues import Issue
from irdiff.model.report import Report

NAMED = 5
"""Names listed in an issue."""


def timed(report: Report, times: Mapping[str, float], where: str) -> Report:
    """The report with each known kernel's share of the whole time, 0 to 1; ``times`` in one unit, their sum above 0."""
    total = sum(times.values())
    names = {kernel.name: kernel.name_after for kernel in report.kernels}
    here = {*names, *(name for name in names.values() if name)}
    shares = {name: round(times[name] / total, 9) for name in sorted(times.keys() & here)}
    unknown = [name for name, other in sorted(names.items()) if name not in shares and other not in shares]
    issues = list(report.issues)
    if not shares:
        issues.append(
            Issue(
                severity="warning",
                code="no-times",
                message="none of its kernels is compared here",
                where=where,
                hint="the names must be those of the kernels: irdiff show lists them",
            )
        )
    elif unknown:
        more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
        issues.append(
            Issue(
                severity="warning",
                code="time-unknown",
                message=f"no time of {', '.join(unknown[:NAMED])}{more}: ranked after those whose time is known",
                where=where,
            )
        )
    return msgspec.structs.replace(report, times=shares, issues=tuple(issues))
