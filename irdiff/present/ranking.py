"""Which changes a reader wants to hear of, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

from irdiff.model.report import Change, KernelReport, Report

ROLES = (
    "spills", "registers", "stack", "occupancy", "shared_bytes", "shared_limit", "mma_class", "mma_operands",
    "global_access_bytes", "unpipelined_loads", "pipeline_depth", "shared_buffers", "layout_conversions",
    "local_accesses", "barrier_instructions", "async_waits", "contraction", "reduce_reach", "code_bytes",
)  # fmt: skip
"""Roles in the order in which a reader wants to hear of them."""
IN_LOOPS = ("spills", "unpipelined_loads", "layout_conversions", "local_accesses", "barrier_instructions")
"""Roles whose facts are told for loops as well: in a loop they are worse news than outside."""
FOR_RULES = ("operations", "tile_dots", "tile_loads", "tile_stores", "reductions")
"""Roles by which rules find a fact, and whose facts say something else in each stage."""
HEADLINE_EFFECTS = ("worse", "better", "incomparable")


def ranked(changes: Sequence[Change], report: Report) -> list[Change]:
    """Most important first: what a rule names, worse before better, facts with a role, exact, late stages."""
    effects = {"worse": 0, "unexplained": 1, "better": 1, "incomparable": 2, "neutral": 3}
    order = {name: index for index, name in enumerate(report.stages)}

    def key(change: Change) -> tuple[object, ...]:
        spec = report.facts.get(change.fact)
        stage = change.fact.partition(".")[0]
        return (
            not change.rules,
            effects[change.effect],
            ROLES.index(spec.role) if spec is not None and spec.role in ROLES else len(ROLES),
            spec is not None and spec.exactness != "exact",
            -change.trips if isinstance(change.trips, int) else -1,
            "/" in change.scope,
            -order.get(stage, len(order)),
            change.fact,
            change.scope,
        )

    return sorted(changes, key=key)


def of_the_last_stage(changes: Sequence[Change], report: Report) -> list[Change]:
    """Where several stages have facts of one role, those of the last one: they are what the GPU is given."""
    order = {name: index for index, name in enumerate(report.stages)}

    def place(change: Change) -> tuple[str, int]:
        spec = report.facts.get(change.fact)
        role = spec.role if spec is not None and spec.role not in FOR_RULES else None
        return (
            role or "",
            order.get(change.fact.partition(".")[0], len(order)),
        )

    last: dict[str, int] = {}
    for role, index in map(place, changes):
        last[role] = max(last.get(role, 0), index)
    return [
        change for change in changes if not place(change)[0] or place(change)[1] == last[place(change)[0]]
    ]


def is_headline(change: Change, kernel: KernelReport, report: Report) -> bool:
    """Whether a reader wants it before asking for everything; of loops only what is news because it is in one."""
    spec = report.facts.get(change.fact)
    role = spec.role if spec is not None else None
    if change.rules or change.effect == "unexplained":
        return True
    if change.scope != kernel.name and role not in IN_LOOPS:
        return False
    if spec is not None and spec.exactness == "estimate" and role not in ROLES:
        return False
    return change.effect in HEADLINE_EFFECTS or role in ROLES


def is_fingerprint(change: Change, report: Report) -> bool:
    """Whether it says only that something moved."""
    """Whether it says only that something moved."""
    spec = report.facts.get(change.fact)
    return spec is not None and spec.role == "fingerprint"
