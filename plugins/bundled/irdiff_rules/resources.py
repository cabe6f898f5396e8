"""RES: registers, spills, stack, shared memory, and how many CTAs fit on a multiprocessor."""

from __future__ import annotations

from collections.abc import Iterable

from irdiff.api import Change, Fired, RuleExample, RuleSpec, RuleView, Tolerance
from irdiff_rules.loops import in_loops, where
from irdiff_rules.numbers import moved, number, risen, whole

SPILLS = "spills"
STACK = "stack"
BYTES = "B"
LIMIT = 100.0
"""Per cent of the shared memory that a CTA may have."""


def spills(view: RuleView) -> Iterable[Fired]:
    """RES101: one finding for all spill facts together."""
    grown: list[tuple[Change, str]] = []
    sums = [0.0, 0.0]
    for spec in view.facts(SPILLS):
        before, after = (number(value) for value in view.values(spec.id))
        if before is None or after is None:
            continue
        sums = [sums[0] + before, sums[1] + after]
    for change, spec in whole(view, SPILLS):
        before, after = number(change.before), number(change.after)
        if before is not None and after is not None and after > before:
            loops = in_loops(view, spec.id)
            inside = f", in {where(view, spec.id)} {loops[0]:,} → {loops[1]:,}" if loops[1] > loops[0] else ""
            grown.append((change, f"{moved(change, spec, view)}{inside}"))
    if grown and sums[1] >= sums[0]:
        changes = [change for change, _ in grown]
        yield Fired(
            message="; ".join(text for _, text in grown),
            change=changes[0],
            beside=tuple(changes[1:]),
            before=sums[0],
            after=sums[1] if sums[1] > sums[0] else sums[0] + 1,
        )


def occupancy(view: RuleView) -> Iterable[Fired]:
    """RES103."""
    for change, spec in whole(view, "occupancy"):
        before, after = number(change.before), number(change.after)
        if before is not None and after is not None and after < before:
            limit = f", limited by {change.limits[1]}" if change.limits is not None else ""
            yield Fired(
                message=f"{moved(change, spec, view)}{limit}", change=change, before=before, after=after
            )


def over_the_limit(view: RuleView) -> Iterable[Fired]:
    """RES105."""
    for change, spec in whole(view, "shared_limit"):
        before, after = number(change.before), number(change.after)
        if before is not None and after is not None and before <= LIMIT < after:
            yield Fired(
                message=f"{moved(change, spec, view)}: it cannot be launched",
                change=change,
                before=before,
                after=after,
            )


def stack(view: RuleView) -> Iterable[Fired]:
    """RES106: a stack that grows by more than spills account for."""
    spilled = 0.0
    for spec in view.facts(SPILLS):
        before, after = (number(value) for value in view.values(spec.id))
        if before is None or after is None or after <= before:
            continue
        if spec.unit != BYTES:
            return  # spills in registers are not comparable with a stack in bytes
        spilled = max(spilled, after - before)  # a slot is stored to once at least
    for fired in risen(view, STACK):
        assert fired.before is not None
        assert fired.after is not None
        if fired.after - fired.before > spilled:
            yield fired


RULES = (
    RuleSpec(
        code="RES101",
        title="spills appear or grow",
        level="error",
        role=SPILLS,
        judge=spills,
        doc="The kernel stores or loads more spilled registers than before: any fact of spills grows, and their sum "
        "does not fall. Loops are named where the machine code is decoded. An estimate (cubins of ptxas before 12.8) "
        "is a warning.",
        why="A spilled value goes through local memory, which is global memory behind the caches. Where the register "
        "count is at its limit (255 on NVIDIA), it is the only number that shows that pressure rose.",
        advice="Look at what the hottest loop keeps alive (`irdiff show -v`), at `maxnreg`, at the number of warps, "
        "and at the tile size.",
        examples=(
            RuleExample(
                fires=True,
                before={"sass.registers": 255, "sass.spill_store_bytes": 0, "sass.spill_load_bytes": 0},
                after={"sass.registers": 255, "sass.spill_store_bytes": 288, "sass.spill_load_bytes": 288},
                note="The register count says nothing: it was at its limit before.",
            ),
            RuleExample(
                fires=False,
                before={"sass.stack": 0, "sass.spill_store_bytes": 0, "sass.spill_load_bytes": 0},
                after={"sass.stack": 2304, "sass.spill_store_bytes": 0, "sass.spill_load_bytes": 0},
                note="A stack that is a local array is no spill: RES106.",
            ),
            RuleExample(
                fires=False,
                before={"sass.spill_store_bytes": 536, "sass.spill_load_bytes": 528},
                after={"sass.spill_store_bytes": 64, "sass.spill_load_bytes": 64},
                note="Fewer spills.",
            ),
        ),
    ),
    RuleSpec(
        code="RES102",
        title="registers grow",
        level="warn",
        role="registers",
        judge=lambda view: risen(view, "registers"),
        doc="A thread uses more registers than before.",
        why="Alone it costs nothing. It is the first sign of a step down in occupancy, or of spills, to come.",
        advice="RES103 says whether fewer CTAs fit; `kernel.next_step` says what one more would need.",
        examples=(
            RuleExample(fires=True, before={"sass.registers": 64}, after={"sass.registers": 72}),
            RuleExample(fires=False, before={"sass.registers": 72}, after={"sass.registers": 64}),
        ),
    ),
    RuleSpec(
        code="RES103",
        title="fewer CTAs fit on a multiprocessor",
        level="error",
        role="occupancy",
        judge=occupancy,
        launch=True,
        doc="Of CTAs with as many warps as before, fewer run on a multiprocessor at once.",
        why="Occupancy moves in steps: a few registers or bytes of shared memory more can halve it. Instruction counts "
        "may fall at the same time and the kernel be slower all the same.",
        advice="The message names what limits it; `kernel.next_step` says what one more CTA would need.",
        examples=(
            RuleExample(
                fires=True,
                before={"kernel.ctas_per_sm": 2, "meta.num_warps": 16, "sass.instructions": 496},
                after={"kernel.ctas_per_sm": 1, "meta.num_warps": 16, "sass.instructions": 464},
                note="Fewer instructions and no spill, yet half the warps.",
            ),
            RuleExample(
                fires=False,
                before={"kernel.ctas_per_sm": 4, "meta.num_warps": 4},
                after={"kernel.ctas_per_sm": 2, "meta.num_warps": 8},
                note="Half as many CTAs of twice the warps are as many warps.",
            ),
        ),
    ),
    RuleSpec(
        code="RES104",
        title="shared memory grows",
        level="warn",
        role="shared_bytes",
        judge=lambda view: risen(view, "shared_bytes"),
        launch=True,
        tolerance=Tolerance(percent=10),
        doc="A launch asks for over 10 % more dynamic shared memory than before.",
        why="It may lower occupancy here, or go over the limit on a smaller GPU.",
        advice="`ttgir.shared_allocs` lists the buffers; RES103 and RES105 say whether it matters on this target.",
        examples=(
            RuleExample(fires=True, before={"meta.shared": 24576}, after={"meta.shared": 57344}),
            RuleExample(
                fires=False,
                before={"meta.shared": 24576},
                after={"meta.shared": 25600},
                note="4 % more is within the tolerance.",
            ),
        ),
    ),
    RuleSpec(
        code="RES105",
        title="shared memory over the target's limit",
        level="error",
        role="shared_limit",
        judge=over_the_limit,
        launch=True,
        doc="A CTA needs more shared memory than the target lets one have, and did not before.",
        why="It compiles, and every launch fails (`OutOfResources`).",
        advice="Fewer pipeline stages, smaller tiles, or another target.",
        examples=(
            RuleExample(
                fires=True,
                before={"kernel.shared_limit_share": 97.0},
                after={"kernel.shared_limit_share": 129.3},
            ),
            RuleExample(
                fires=False,
                before={"kernel.shared_limit_share": 24.2},
                after={"kernel.shared_limit_share": 56.6},
            ),
        ),
    ),
    RuleSpec(
        code="RES106",
        title="the stack grows without spills",
        level="warn",
        role=STACK,
        also=(SPILLS,),
        judge=stack,
        doc="The stack of a thread grows by more bytes than spills account for: a local array, or a call.",
        why="An array that is indexed by a value not known to the compiler goes to local memory as spills do, and no "
        "spill counter shows it: 32 registers and a stack of 2.3 KB is a slow kernel.",
        advice="`ptx.local_bytes` says whether the array is there before ptxas; unrolling the loop that indexes it "
        "often removes it.",
        examples=(
            RuleExample(
                fires=True,
                before={"sass.stack": 0, "sass.spill_store_bytes": 0, "sass.spill_load_bytes": 0},
                after={"sass.stack": 2304, "sass.spill_store_bytes": 0, "sass.spill_load_bytes": 0},
            ),
            RuleExample(
                fires=False,
                before={"sass.stack": 0, "sass.spill_store_bytes": 0, "sass.spill_load_bytes": 0},
                after={"sass.stack": 280, "sass.spill_store_bytes": 288, "sass.spill_load_bytes": 288},
                note="A stack of spill slots: RES101.",
            ),
        ),
    ),
)
