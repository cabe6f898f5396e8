"""LAY and BAR: what threads hand to each other: layout conversions, reductions, barriers."""

from __future__ import annotations

from collections.abc import Iterable

from irdiff.api import Change, FactSpec, Fired, RuleExample, RuleSpec, RuleView, Value
from irdiff_rules.loops import added_in_loops, change_scope, in_loops, total, where
from irdiff_rules.numbers import tally, whole

CONVERSIONS = "layout_conversions"
REACH = "conversion_reach"
NOTHING_MOVES = "nothing moves"
REDUCTIONS = "reduce_reach"
FAR = ("across lanes", "across warps", "across blocks")
BARRIERS = "barrier_instructions"


def _moving(value: Value | None) -> int:
    """Conversions that move something."""
    return sum(count for key, count in tally(value).items() if key != NOTHING_MOVES)


def _counted(view: RuleView) -> FactSpec | None:
    """What counts conversions: by how far they reach where that is known, since some move nothing."""
    conversions = view.facts(CONVERSIONS)
    reach = view.facts(REACH, beside=conversions[0].id) if conversions else ()
    return next(iter((*reach, *conversions)), None)


def conversions_in_loops(view: RuleView) -> Iterable[Fired]:
    """LAY101."""
    spec = _counted(view)
    found = added_in_loops(view, spec, _moving) if spec is not None else None
    if spec is None or found is None:
        return
    scope = change_scope(view, spec.id, _moving)
    yield Fired(
        message=f"layout conversions {found[0]:,} → {found[1]:,} in {where(view, spec.id, _moving)}",
        change=_change(view, spec, scope),
        fact=spec.id,
        scope=scope,
        before=found[0],
        after=found[1],
        beside=_also(view, scope),
    )


def conversions_outside(view: RuleView) -> Iterable[Fired]:
    """LAY102: more in the kernel as a whole, and more outside of loops."""
    spec = _counted(view)
    if spec is None:
        return
    before, after = (_moving(value) for value in view.values(spec.id))
    inside = in_loops(view, spec.id, _moving)
    outside = before - inside[0], after - inside[1]
    if after > before and outside[1] > outside[0]:
        yield Fired(
            message=f"layout conversions {outside[0]:,} → {outside[1]:,} outside loops",
            change=_change(view, spec, ""),
            fact=spec.id,
            before=outside[0],
            after=outside[1],
            beside=_also(view, ""),
        )


def _also(view: RuleView, scope: str) -> tuple[Change, ...]:
    """The change of the conversions themselves: what the reader knows them by."""
    place = f"{view.kernel.name}/{scope}" if scope else view.kernel.name
    return tuple(change for change in view.changes(CONVERSIONS) if change.scope == place)


def _change(view: RuleView, spec: FactSpec, scope: str) -> Change | None:
    changes = [change for change in view.changes(spec.role or "") if change.fact == spec.id]
    place = f"{view.kernel.name}/{scope}" if scope else view.kernel.name
    inside = [change for change in changes if change.scope == place]
    return next(iter(inside or changes), None)


def reductions(view: RuleView) -> Iterable[Fired]:
    """LAY103: reductions that the program had before reach further."""
    for change, spec in whole(view, REDUCTIONS):
        before, after = tally(change.before), tally(change.after)
        further = [key for key in FAR if after.get(key, 0) > before.get(key, 0)]
        counts = [
            [total(value) for value in view.values(each.id)]
            for each in view.facts("reductions", beside=spec.id)
        ]
        more = any(new > old for old, new in counts)
        if further and not more:
            numbers = ", ".join(f"{key} {before.get(key, 0):,} → {after[key]:,}" for key in further)
            yield Fired(message=f"reductions {numbers}", change=change)


def barriers(view: RuleView) -> Iterable[Fired]:
    """BAR101."""
    for spec in view.facts(BARRIERS):
        found = added_in_loops(view, spec)
        if found is None:
            continue
        scope = change_scope(view, spec.id)
        yield Fired(
            message=f"{spec.title} {found[0]:,} → {found[1]:,} in {where(view, spec.id)}",
            change=_change(view, spec, scope),
            fact=spec.id,
            scope=scope,
            before=found[0],
            after=found[1],
        )


_WITHIN: dict[str, Value] = {"ttgir.convert_layouts": {"a -> b": 1}, "ttgir.convert_layouts @ loop0": {}}

RULES = (
    RuleSpec(
        code="LAY101",
        title="a layout conversion inside a loop is added",
        level="error",
        role=CONVERSIONS,
        also=(REACH, "operations"),
        judge=conversions_in_loops,
        doc="Loops hold more conversions between layouts than before. Those that move nothing do not count; nor does a "
        "loop that was unrolled, nor code that became a loop.",
        why="A conversion between warps writes a tile to shared memory, waits, and reads it back: in every iteration.",
        advice="`ttgir.convert_layouts` names both layouts. Often one operand's layout was not taken over by the dot, "
        "or an elementwise operation sits between load and dot.",
        examples=(
            RuleExample(
                fires=True,
                before=_WITHIN,
                after={
                    "ttgir.convert_layouts": {"a -> b": 2},
                    "ttgir.convert_layouts @ loop0": {"a -> b": 1},
                },
            ),
            RuleExample(
                fires=False,
                before=_WITHIN,
                after={"ttgir.convert_layouts": {"a -> b": 2}, "ttgir.convert_layouts @ loop0": {}},
                note="Outside of the loop: LAY102.",
            ),
            RuleExample(
                fires=False,
                before={
                    "ttgir.convert_layouts": {"a -> b": 1},
                    "ttgir.convert_layouts @ loop0": {"a -> b": 1},
                },
                after={
                    "ttgir.convert_layouts": {"a -> b": 2},
                    "ttgir.convert_layouts @ loop0": {"a -> b": 2},
                },
                trips={"loop0": (8, 4)},
                note="Unrolled twice: as many conversions when it runs.",
            ),
        ),
    ),
    RuleSpec(
        code="LAY102",
        title="layout conversions are added",
        level="warn",
        role=CONVERSIONS,
        also=(REACH,),
        judge=conversions_outside,
        doc="The kernel holds more conversions between layouts than before, and more of them outside of loops.",
        why="Once per CTA it costs little; in a short kernel it may be most of the time.",
        advice="`ttgir.convert_layouts` names both layouts.",
        examples=(
            RuleExample(
                fires=True,
                before={"ttgir.convert_layouts": {}},
                after={"ttgir.convert_layouts": {"a -> b": 1}},
            ),
            RuleExample(
                fires=False,
                before={
                    "ttgir.convert_layouts": {"a -> b": 1},
                    "ttgir.convert_layouts @ loop0": {"a -> b": 1},
                },
                after={"ttgir.convert_layouts": {"a -> b": 1}, "ttgir.convert_layouts @ loop0": {}},
                note="Moved out of the loop.",
            ),
        ),
    ),
    RuleSpec(
        code="LAY103",
        title="a reduction now crosses lanes or warps",
        level="warn",
        role=REDUCTIONS,
        also=("reductions",),
        judge=reductions,
        doc="More reductions than before reach other lanes, warps or blocks, though the program has no more of them.",
        why="Inside a thread a sum costs additions; across lanes shuffles; across warps shared memory and a barrier.",
        advice="The layout of what is reduced changed: compare `ttgir.layout_by_use`.",
        examples=(
            RuleExample(
                fires=True,
                before={"ttgir.reduce_reach": {"inside a thread": 1}, "ttgir.reduces": {"axis 0": 1}},
                after={
                    "ttgir.reduce_reach": {"across lanes": 1, "across warps": 1},
                    "ttgir.reduces": {"axis 0": 1},
                },
            ),
            RuleExample(
                fires=False,
                before={"ttgir.reduce_reach": {"across lanes": 1}, "ttgir.reduces": {"axis 0": 1}},
                after={"ttgir.reduce_reach": {"across lanes": 2}, "ttgir.reduces": {"axis 0": 2}},
                note="A reduction that the program did not have before.",
            ),
        ),
    ),
    RuleSpec(
        code="BAR101",
        title="barriers in a loop are added",
        level="warn",
        role=BARRIERS,
        also=("operations",),
        judge=barriers,
        doc="Loops hold more barrier instructions than before; a loop that was unrolled, or code that became a loop, "
        "is none of it.",
        why="At a barrier all warps of a CTA wait for the slowest one, in every iteration.",
        advice="A barrier guards a buffer in shared memory that is used again: look at `ttgir.shared_allocs`.",
        examples=(
            RuleExample(
                fires=True,
                before={"ptx.barriers": {"bar.sync": 3}, "ptx.barriers @ loop0": {"bar.sync": 1}},
                after={"ptx.barriers": {"bar.sync": 5}, "ptx.barriers @ loop0": {"bar.sync": 3}},
            ),
            RuleExample(
                fires=False,
                before={
                    "ptx.barriers": {"bar.sync": 3},
                    "ptx.barriers @ loop0": {"bar.sync": 1},
                    "ptx.opcodes": {"bar.sync": 3, "fma.rn.f32": 60},
                    "ptx.opcodes @ loop0": {"bar.sync": 1, "fma.rn.f32": 40},
                },
                after={
                    "ptx.barriers": {"bar.sync": 4},
                    "ptx.barriers @ loop0": {"bar.sync": 2},
                    "ptx.opcodes": {"bar.sync": 4, "fma.rn.f32": 100},
                    "ptx.opcodes @ loop0": {"bar.sync": 2, "fma.rn.f32": 80},
                },
                note="Unrolled twice: everything is there two times.",
            ),
        ),
    ),
)
