"""MMA: which instructions do the matrix products, how many of them there are, and on what types."""

from __future__ import annotations

from collections.abc import Iterable

from irdiff.api import Fired, RuleExample, RuleSpec, RuleView, Value
from irdiff_rules.numbers import moved, number, tally, whole

SAME_KERNEL = ("nearest", "name")
"""Pairings of kernels that were compiled for other constants: they need not do the same work."""


def mma_class(view: RuleView) -> Iterable[Fired]:
    """MMA101: by the order that the fact declares."""
    for change, spec in whole(view, "mma_class"):
        if change.effect == "worse":
            yield Fired(message=moved(change, spec, view), change=change)


def tensor_work(view: RuleView) -> Iterable[Fired]:
    """MMA102."""
    if view.kernel.pairing.method in SAME_KERNEL:
        return
    for spec in view.facts("tile_dots"):
        tiles = [set(tally(value)) for value in view.values(spec.id)]
        if tiles[0] != tiles[1]:
            return  # other tiles: another kernel
    if any(_other_constants(*view.values(spec.id)) for spec in view.facts("specialization")):
        return
    for change, spec in whole(view, "tensor_flops"):
        before, after = number(change.before), number(change.after)
        if before is not None and after is not None:
            yield Fired(message=moved(change, spec, view), change=change, before=before, after=after)


def _other_constants(before: Value | None, after: Value | None) -> bool:
    """Whether a constexpr argument is recorded with another value."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return False
    return any(
        before[name] != after[name] and str(before[name]).startswith("constexpr")
        for name in before.keys() & after.keys()
    )


def types(view: RuleView) -> Iterable[Fired]:
    """MMA103: the set of types, however many products there are of each."""
    for change, _ in whole(view, "mma_types"):
        before, after = (sorted(tally(value)) for value in (change.before, change.after))
        if before and after and before != after:
            gone = [key for key in before if key not in after]
            new = [key for key in after if key not in before]
            yield Fired(
                message=f"products of {'; '.join(gone or before)} → {'; '.join(new or after)}", change=change
            )


RULES = (
    RuleSpec(
        code="MMA101",
        title="the class of matrix instructions falls",
        level="error",
        role="mma_class",
        judge=mma_class,
        doc="Matrix products fall to an older class of instructions: tcgen05, wgmma, mma.sync, fma in this order, on "
        "one target. Other instructions of one class (fp8 operands instead of converted ones) are no fall.",
        why="Each class has several times the throughput of the one before it. The compiler falls back without a word "
        "where a tile, a type or a number of warps does not fit.",
        advice="wgmma and tcgen05 need 4 warps and tiles of 64 or 128 rows: look at `num_warps` and the tile size.",
        examples=(
            RuleExample(
                fires=True,
                before={"kernel.mma_class": "wgmma"},
                after={"kernel.mma_class": "mma.sync"},
                note="2 warps instead of 4.",
            ),
            RuleExample(
                fires=False,
                before={
                    "kernel.mma_class": "mma.sync",
                    "ptx.mma": {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": 128},
                },
                after={
                    "kernel.mma_class": "mma.sync",
                    "ptx.mma": {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32": 64},
                },
                note="fp8 without a detour over f16: half the instructions for the same work.",
            ),
            RuleExample(
                fires=False, before={"kernel.mma_class": "mma.sync"}, after={"kernel.mma_class": "wgmma"}
            ),
        ),
    ),
    RuleSpec(
        code="MMA102",
        title="tensor work per CTA changes with equal tiles",
        level="error",
        role="tensor_flops",
        also=("tile_dots", "specialization"),
        judge=tensor_work,
        across_targets=True,
        doc="The floating-point operations of all matrix products of one CTA differ, though the tiles are the same "
        "and all trip counts are constants. Of kernels known to be compiled for other constants, or paired by likeness "
        "alone (another specialization, another name), nothing is said.",
        why="The same tiles over the same loops are the same work, on every target and whatever instructions do it: a "
        "loop runs more or less often than it did.",
        advice="Compare `ttir.loops`: a bound or a step changed. If K itself is another one, this is another kernel.",
        examples=(
            RuleExample(
                fires=True,
                before={
                    "kernel.tensor_flops": 2097152,
                    "ttir.dots": {"64x32xf16 * 32x64xf16 -> 64x64xf32": 1},
                },
                after={
                    "kernel.tensor_flops": 1835008,
                    "ttir.dots": {"64x32xf16 * 32x64xf16 -> 64x64xf32": 1},
                },
                note="7 instead of 8 iterations.",
            ),
            RuleExample(
                fires=False,
                before={
                    "kernel.tensor_flops": 2097152,
                    "ttir.dots": {"64x32xf16 * 32x64xf16 -> 64x64xf32": 1},
                    "ptx.mma": {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": 16},
                },
                after={
                    "kernel.tensor_flops": 2097152,
                    "ttir.dots": {"64x32xf16 * 32x64xf16 -> 64x64xf32": 1},
                    "ptx.mma": {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16": 2},
                },
                note="Another generation of instructions for the same work.",
            ),
            RuleExample(
                fires=False,
                before={
                    "kernel.tensor_flops": 2097152,
                    "ttir.dots": {"64x32xf16 * 32x64xf16 -> 64x64xf32": 1},
                },
                after={
                    "kernel.tensor_flops": 8388608,
                    "ttir.dots": {"128x32xf16 * 32x128xf16 -> 128x128xf32": 1},
                },
                note="Another tile.",
            ),
        ),
    ),
    RuleSpec(
        code="MMA103",
        title="operand or accumulator type of matrix products changes",
        level="warn",
        role="mma_types",
        judge=types,
        doc="The set of element types of A, B and result, or the precision of f32 products, is another one.",
        why="It changes results as well as speed: tf32 is not f32, and an f16 accumulator overflows.",
        advice="Look at `input_precision`, `allow_tf32` and the casts before `tl.dot`.",
        examples=(
            RuleExample(
                fires=True,
                before={"ttgir.mma_types": {"f32 * f32 -> f32": 1}},
                after={"ttgir.mma_types": {"f32 * f32 -> f32, tf32": 1}},
            ),
            RuleExample(
                fires=False,
                before={"ttgir.mma_types": {"f16 * f16 -> f32": 1}},
                after={"ttgir.mma_types": {"f16 * f16 -> f32": 2}},
                note="A loop unrolled twice.",
            ),
        ),
    ),
)
