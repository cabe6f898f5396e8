"""Tensor work of one CTA, from the dots of the TTIR and the trip counts of the loops they are in.

The TTIR, and not the instructions it becomes: one dot is 16 ``mma.sync`` on one architecture and 2 ``wgmma`` on
another, the software pipeliner of the TTGIR peels iterations off loops, and loops of PTX and SASS seldom have a
constant trip count. A dot in the branch of an ``scf.if`` counts as if it were always taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import prod

import msgspec

from irdiff.api import FactView

STAGE = "ttir"
DOTS = "ttir.dots"

_OPERANDS = re.compile(
    r"(\d{1,9}(?:x\d{1,9}){1,3})x([A-Za-z]\w*) \* (\d{1,9}(?:x\d{1,9}){1,3})x([A-Za-z]\w*) -> "
)


class TensorWork(msgspec.Struct, frozen=True, kw_only=True):
    """Floating-point (or integer) operations of matrix products, a multiplication and an addition each counted."""

    total: int | None
    """Per CTA; None where a trip count, or the work of one dot, is not known."""
    per_iteration: int | None
    """Of one pass through the loop that does most of it; None where no loop holds a dot."""


def tensor_work(view: FactView) -> TensorWork | None:
    """The work of a kernel; None where its dots are not known or there are none."""
    whole = _tally(view, "")
    if not whole:
        return None
    scopes = view.scopes(STAGE)
    own = {scope: _own_work(view, scope, scopes) for scope in ("", *scopes)}
    if None in own.values():
        return TensorWork(total=None, per_iteration=None)
    work = {scope: flops for scope, flops in own.items() if flops}
    times = {scope: _times(view, scope) for scope in work}
    total: int | None = 0
    for scope, flops in work.items():
        count = times[scope]
        total = None if total is None or count is None else total + flops * count
    loops = [scope for scope in work if scope]
    if None in times.values():
        hottest = max(loops, key=lambda scope: (scope.count("/"), work[scope] or 0), default=None)
    else:
        hottest = max(loops, key=lambda scope: (work[scope] or 0) * (times[scope] or 0), default=None)
    return TensorWork(total=total, per_iteration=work[hottest] if hottest is not None else None)


def flops_of(key: str) -> int | None:
    """Operations of one dot, from its key ``64x32xf16 * 32x64xf16 -> ...``; None where it cannot be said."""
    found = _OPERANDS.match(key)
    if found is None or "e2m1" in key:  # of packed 4-bit operands the shapes do not say the depth
        return None
    *batch, rows, depth = map(int, found[1].split("x"))
    *other_batch, other_depth, columns = map(int, found[3].split("x"))
    if batch != other_batch or depth != other_depth:
        return None
    return 2 * prod(batch) * rows * depth * columns


def _tally(view: FactView, scope: str) -> Mapping[str, object]:
    value = view.value(DOTS, scope)
    return value if isinstance(value, dict) else {}


def _own_work(view: FactView, scope: str, scopes: Iterable[str]) -> int | None:
    """Work of the dots in a scope that are in no loop inside it, done once (a loop's tally includes inner loops')."""
    counts = {key: count for key, count in _tally(view, scope).items() if isinstance(count, int)}
    for inner in scopes:
        if _parent(inner) == scope:
            for key, count in _tally(view, inner).items():
                if isinstance(count, int):
                    counts[key] = counts.get(key, 0) - count
    total = 0
    for key, count in counts.items():
        flops = flops_of(key) if count else 0
        if flops is None or count < 0:
            return None
        total += flops * count
    return total


def _parent(scope: str) -> str:
    return scope.rpartition("/")[0]


def _times(view: FactView, scope: str) -> int | None:
    """How often a scope runs in one CTA."""
    times = 1
    while scope:
        trips = view.trip_count(STAGE, scope)
        if trips is None:
            return None
        times *= trips
        scope = _parent(scope)
    return times
