"""PIPE: loads that overlap with work, how many of them, and how long a loop waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from irdiff.api import Change, Fired, RuleExample, RuleSpec, RuleView
from irdiff_rules.loops import added_in_loops, change_scope, in_loops, where
from irdiff_rules.numbers import tally, whole

WAITING = "unpipelined_loads"
DEPTH = "pipeline_depth"
WAITS = "async_waits"


def synchronous(view: RuleView) -> Iterable[Fired]:
    """PIPE101: loads that wait appear in loops, and asynchronous copies in loops become fewer."""
    for spec in view.facts(WAITING):
        found = added_in_loops(view, spec)
        copies = _copies(view, spec.id)
        if found is None or copies is None or copies[1] >= copies[0]:
            continue
        scope = change_scope(view, spec.id)
        yield Fired(
            message=f"{spec.title} {found[0]:,} → {found[1]:,} in {where(view, spec.id)}, asynchronous copies there "
            f"{copies[0]:,} → {copies[1]:,}",
            change=_change(view, WAITING, spec.id, scope),
            fact=spec.id,
            scope=scope,
            before=found[0],
            after=found[1],
        )


def _copies(view: RuleView, beside: str) -> tuple[int, int] | None:
    """Asynchronous copies in loops, before and after."""
    found = [in_loops(view, spec.id) for spec in view.facts(DEPTH, beside=beside)]
    return (sum(pair[0] for pair in found), sum(pair[1] for pair in found)) if found else None


def shallower(view: RuleView) -> Iterable[Fired]:
    """PIPE102: by the deepest buffer, and by the mean where as many copies are made."""
    for change, spec in whole(view, DEPTH):
        before, after = (_depths(tally(value)) for value in (change.before, change.after))
        if not before or not after:
            continue
        means = [
            sum(depth * count for depth, count in side.items()) / sum(side.values())
            for side in (before, after)
        ]
        deepest = max(before), max(after)
        if deepest[1] < deepest[0] or (sum(before.values()) == sum(after.values()) and means[1] < means[0]):
            yield Fired(
                message=f"{spec.title} {_listed(before)} → {_listed(after)}",
                change=change,
                before=max(before) if deepest[1] < deepest[0] else means[0],
                after=max(after) if deepest[1] < deepest[0] else means[1],
            )


def _depths(counts: Mapping[str, int]) -> dict[int, int]:
    return {int(key): count for key, count in counts.items() if key.isdecimal() and len(key) < 10}


def _listed(depths: Mapping[int, int]) -> str:
    return ", ".join(f"{depth} ({depths[depth]:,} copies)" for depth in sorted(depths, reverse=True))


def stricter(view: RuleView) -> Iterable[Fired]:
    """PIPE103: a wait of one kind, in a loop, lets fewer things stay under way; for as many copies as before."""
    for spec in view.facts(WAITS):
        copies = _copies(view, spec.id)
        if copies is not None and copies[1] < copies[0]:
            continue  # fewer copies in flight need no wait for as many
        least = [_least(view, spec.id, side) for side in (0, 1)]
        for kind in sorted(least[0].keys() & least[1].keys()):
            before, after = least[0][kind], least[1][kind]
            if after < before:
                scope = change_scope(view, spec.id)
                yield Fired(
                    message=f"{spec.title}: {kind} = {before} → {after} in loops",
                    change=_change(view, WAITS, spec.id, scope),
                    fact=spec.id,
                    scope=scope,
                    before=before,
                    after=after,
                )


def _least(view: RuleView, fact_id: str, side: int) -> dict[str, int]:
    """Kind of wait to the least that may stay under way, in all loops: ``warp_group_dot pendings`` -> 1."""
    found: dict[str, int] = {}
    for scope in view.scopes(fact_id)[side]:
        for key in tally(view.values(fact_id, scope)[side]):
            kind, equals, number = key.rpartition(" = ")
            if equals and number.isdecimal() and len(number) < 10:
                found[kind] = min(found.get(kind, int(number)), int(number))
    return found


def _change(view: RuleView, role: str, fact_id: str, scope: str) -> Change | None:
    """The change of a fact in a loop, or of the whole kernel."""
    changes = [change for change in view.changes(role) if change.fact == fact_id]
    inside = [change for change in changes if change.scope == f"{view.kernel.name}/{scope}"]
    return next(iter(inside or changes), None)


RULES = (
    RuleSpec(
        code="PIPE101",
        title="a load in a loop is no longer asynchronous",
        level="error",
        role=WAITING,
        also=(DEPTH, "operations"),
        judge=synchronous,
        doc="Loops hold more loads that wait for their data than before, and fewer asynchronous copies. A load that is "
        "new, and never was asynchronous, is none of it; nor is a loop that was unrolled.",
        why="A loop that waits for each load runs at the latency of memory instead of its bandwidth.",
        advice="The software pipeliner gives up on loads that are narrower than 4 bytes per thread, that depend on "
        "other loads, or whose layout the dot does not read: compare `ttgir.layout_by_use` and `ttgir.vector_bytes`.",
        examples=(
            RuleExample(
                fires=True,
                before={
                    "ttgir.sync_loads_in_loop": 0,
                    "ttgir.sync_loads_in_loop @ loop0": 0,
                    "ttgir.pipeline_depth": {"2": 4},
                    "ttgir.pipeline_depth @ loop0": {"2": 2},
                },
                after={
                    "ttgir.sync_loads_in_loop": 1,
                    "ttgir.sync_loads_in_loop @ loop0": 1,
                    "ttgir.pipeline_depth": {"2": 2},
                    "ttgir.pipeline_depth @ loop0": {"2": 1},
                },
            ),
            RuleExample(
                fires=False,
                before={
                    "ttgir.sync_loads_in_loop": 0,
                    "ttgir.sync_loads_in_loop @ loop0": 0,
                    "ttgir.pipeline_depth": {"2": 4},
                    "ttgir.pipeline_depth @ loop0": {"2": 2},
                },
                after={
                    "ttgir.sync_loads_in_loop": 1,
                    "ttgir.sync_loads_in_loop @ loop0": 1,
                    "ttgir.pipeline_depth": {"2": 4},
                    "ttgir.pipeline_depth @ loop0": {"2": 2},
                },
                note="A load that the program did not have before.",
            ),
        ),
    ),
    RuleSpec(
        code="PIPE102",
        title="fewer pipeline buffers",
        level="warn",
        role=DEPTH,
        judge=shallower,
        doc="The deepest buffer of an asynchronous copy holds fewer stages, or as many copies share fewer on average.",
        why="Fewer copies under way hide less of the memory's latency.",
        advice="Look at `num_stages`, and whether shared memory ran out (RES104).",
        examples=(
            RuleExample(
                fires=True,
                before={"ttgir.pipeline_depth": {"3": 6}},
                after={"ttgir.pipeline_depth": {"2": 4}},
            ),
            RuleExample(
                fires=False,
                before={"ttgir.pipeline_depth": {"3": 6}},
                after={"ttgir.pipeline_depth": {"3": 6, "2": 2}},
                note="One copy more, with a buffer of its own.",
            ),
        ),
    ),
    RuleSpec(
        code="PIPE103",
        title="a wait in a loop gets stricter",
        level="warn",
        role=WAITS,
        also=(DEPTH,),
        judge=stricter,
        doc="A wait of the same kind, inside a loop, lets fewer asynchronous operations stay under way, though loops "
        "make as many copies.",
        why="A wait for everything makes a pipeline of any depth as slow as one without.",
        advice="Compare `ttgir.async_waits`; `num = 0` inside the loop is a pipeline that does not overlap.",
        examples=(
            RuleExample(
                fires=True,
                before={"ttgir.async_waits": {"num = 2": 1}, "ttgir.async_waits @ loop0": {"num = 2": 1}},
                after={"ttgir.async_waits": {"num = 0": 1}, "ttgir.async_waits @ loop0": {"num = 0": 1}},
            ),
            RuleExample(
                fires=False,
                before={"ttgir.async_waits": {"num = 2": 1}, "ttgir.async_waits @ loop0": {"num = 2": 1}},
                after={
                    "ttgir.async_waits": {"num = 0": 1, "num = 2": 1},
                    "ttgir.async_waits @ loop0": {"num = 2": 1},
                },
                note="Behind the loop.",
            ),
        ),
    ),
)
