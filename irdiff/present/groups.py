"""Kernels that changed alike as one group: its signature, its size, its share of the time, the worst first."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from irdiff.model.report import Change, KernelReport, Report
from irdiff.present.ranking import HEADLINE_EFFECTS, is_fingerprint, is_headline, of_the_last_stage, ranked
from irdiff.present.wording import before_after, number, plural, selector

IN_FULL = 3
"""So many groups are told in full; of more of them all but the first two on a line each."""
FULL_BESIDE_OTHERS = 2
IN_SHORT = 8
"""Groups told on a line each, so that 1,000 kernels fit a screen of 50 lines."""
FACTS_IN_SHORT = 2
LONGEST = 48
"""Letters of a name in a line."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """How much is told of each group."""

    full: tuple[tuple[KernelReport, ...], ...]
    short: tuple[tuple[KernelReport, ...], ...]
    left: int
    """Groups that are only counted."""


def budgeted(found: Sequence[tuple[KernelReport, ...]], *, everything: bool, top: int | None) -> Shown:
    """The worst groups in full and some more in short; ``top`` says how many in full, ``everything`` lifts limits."""
    full = len(found) if everything else top or (len(found) if len(found) <= IN_FULL else FULL_BESIDE_OTHERS)
    rest = tuple(found[full:])
    return Shown(full=tuple(found[:full]), short=rest[:IN_SHORT], left=len(rest[IN_SHORT:]))


def groups(changed: Sequence[KernelReport], report: Report) -> list[tuple[KernelReport, ...]]:
    """Kernels with one signature of change: where it begins, why, and which facts moved which way.

    The worst groups first, then those that take the most time where times are known, then the largest; inside a
    group the kernel that takes the most time is the example.
    """
    found: dict[tuple[object, ...], list[KernelReport]] = {}
    for kernel in changed:
        headline = sorted({(c.fact, c.effect) for c in kernel.changes if c.effect in HEADLINE_EFFECTS})
        begins = kernel.first_divergence
        key = (begins.stage if begins else "", begins.cause if begins else "", tuple(headline))
        found.setdefault(key, []).append(kernel)
    rank = {"worse": 0, "mixed": 1, "neutral": 2, None: 2, "better": 3}
    made = [
        tuple(
            sorted(
                group,
                key=lambda kernel: (-(share_of(kernel, report) or 0.0), kernel.name, kernel.path_before),
            )
        )
        for group in found.values()
    ]
    return sorted(
        made,
        key=lambda group: (
            rank[group[0].direction],
            -(share_of_all(group, report) or 0.0),
            -len(group),
            group[0].name,
            group[0].path_before,
        ),
    )


def share_of(kernel: KernelReport, report: Report) -> float | None:
    """The share of the time, 0 to 1, that kernels of this name take; None where no time of it is known."""
    if isinstance(report.times, msgspec.UnsetType):
        return None
    found = report.times.get(kernel.name)
    return report.times.get(kernel.name_after) if found is None and kernel.name_after else found


def share_of_all(group: Sequence[KernelReport], report: Report) -> float | None:
    """The share of several kernels, each name counted once."""
    shares = {kernel.name: share_of(kernel, report) for kernel in group}
    known = [share for share in shares.values() if share is not None]
    return sum(known) if known else None


def title(group: Sequence[KernelReport], report: Report, *, everything: bool, short: bool = False) -> str:
    """How many, an example, the target where there are several, the direction, the share of the time.

    ``short`` leaves out the direction and the middle of a long name.
    """
    kernel = group[0]
    name = selector(kernel.name, kernel.path_before, [member.name for member in report.kernels])
    name = shortened(name) if short else name
    others = f" (and {len(group) - 1:,} more)" if len(group) > 1 else ""
    names = sorted({member.name for member in group}) if everything else []
    listed = f": {', '.join(names)}" if len(names) > 1 else ""
    several = len({member.target for member in report.kernels}) > 1
    target = kernel.target if several and kernel.target else ""
    parts = [
        f"{plural(len(group), 'kernel')}  {name}{others}{listed}",
        target,
        (kernel.direction or "") if not short else "",
    ]
    return "   ".join(part for part in (*parts, time_text(group, report)) if part)


def shortened(name: str) -> str:
    """The name with its middle left out where it is long: what tells kernels apart is at both ends."""
    kept = LONGEST // 2
    return name if len(name) <= LONGEST else f"{name[:kept]}…{name[-kept:]}"


def time_text(group: Sequence[KernelReport], report: Report) -> str:
    """``12.5 % of the time``; empty where no times were given."""
    if isinstance(report.times, msgspec.UnsetType):
        return ""
    share = share_of_all(group, report)
    return "time unknown" if share is None else f"{number(round(100 * share, 1), '%')} of the time"


def signature(group: Sequence[KernelReport], report: Report) -> str:
    """What moved in all of them, in short: ``+2 barriers in loop0, registers per thread +4 to +12``."""
    kernel = group[0]
    told = [change for change in ranked(kernel.changes, report) if not is_fingerprint(change, report)]
    headline = [change for change in told if is_headline(change, kernel, report)]
    chosen = (of_the_last_stage(headline or told, report))[:FACTS_IN_SHORT]
    return ", ".join(_moved(change, group, report) for change in chosen) or "no fact moved"


def _moved(change: Change, group: Sequence[KernelReport], report: Report) -> str:
    spec = report.facts.get(change.fact)
    where = change.scope.removeprefix(group[0].name).lstrip("/")
    if change.effect == "unexplained" or spec is None:
        return f"{change.fact.partition('.')[0].upper()} text"
    name = f"{spec.title} in {where}" if where else spec.title
    if len(group) == 1 or not isinstance(change.delta, int) or isinstance(change.delta, bool):
        return f"{name} {before_after(change, spec, most=1)}"
    least, most = spread(change, group)
    text = _signed(least) if least == most else f"{_signed(least)} to {_signed(most)}"
    return f"{name} {text} B" if spec.unit == "B" else f"{name} {text}"


def spread(change: Change, group: Sequence[KernelReport]) -> tuple[int, int]:
    """The least and the most by which the fact moved in the kernels of a group."""
    where = change.scope.removeprefix(group[0].name)
    deltas = [
        other.delta
        for kernel in group
        for other in kernel.changes
        if other.fact == change.fact
        and other.scope.removeprefix(kernel.name) == where
        and isinstance(other.delta, int)
    ]
    return min(deltas), max(deltas)


def _signed(value: int) -> str:
    return f"{'+' if value > 0 else ''}{value:,}"
