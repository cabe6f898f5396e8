"""BUILD, SIZE, NUM and OPT: whether it compiles, how large it is, what it computes with, what it was compiled with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from irdiff.api import Fired, KernelRef, RuleExample, RuleSpec, RuleView, Tolerance
from irdiff_rules.numbers import risen, tally, whole

OPTIONS = "options"
MOST_NAMED = 6
PACKED = re.compile(r"(?<=[fi]\d\d)x(\d)\b")
"""Of an element type: how many are packed in one value."""


def no_longer_compiles(view: RuleView) -> Iterable[Fired]:
    """BUILD101."""
    if view.failed == (False, True):
        said = [issue.message for issue in view.kernel.issues if issue.code.startswith("compilation-")]
        yield Fired(
            message=f"compiled before, and now: {said[-1]}" if said else "compiled before and does no longer"
        )


def not_readable(view: RuleView) -> Iterable[Fired]:
    """BUILD102."""
    if True in view.failed:
        return  # what a compilation that failed does not hold is not missing
    for issue in view.kernel.issues:
        if issue.severity == "error" and issue.stage is not None:
            yield Fired(message=f"{issue.stage}: {issue.message}", issue=issue)


def disappeared(kernel: KernelRef) -> Iterable[Fired]:
    """BUILD103."""
    yield Fired(message="is there before and not after")


def arithmetic(view: RuleView) -> Iterable[Fired]:
    """NUM101: kinds of operations come or go, or some rise while others fall."""
    for change, spec in whole(view, "contraction"):
        before, after = _unpacked(tally(change.before)), _unpacked(tally(change.after))
        deltas = {key: after.get(key, 0) - before.get(key, 0) for key in sorted({*before, *after})}
        mixed = min(deltas.values(), default=0) < 0 < max(deltas.values(), default=0)
        if before and after and (mixed or before.keys() != after.keys()):
            yield Fired(message=f"{spec.title}: {_moved(before, after, deltas)}", change=change)


def _unpacked(counts: Mapping[str, int]) -> dict[str, int]:
    """Operations on packed values (`fma.rn.f32x2`) as so many of the plain ones: each lane rounds as it would alone."""
    found: dict[str, int] = {}
    for key, count in counts.items():
        packed = PACKED.search(key)
        name = key[: packed.start()] + key[packed.end() :] if packed else key
        found[name] = found.get(name, 0) + count * (int(packed[1]) if packed else 1)
    return found


def _moved(before: Mapping[str, int], after: Mapping[str, int], deltas: Mapping[str, int]) -> str:
    keys = sorted((key for key in deltas if deltas[key]), key=lambda key: (-abs(deltas[key]), key))
    parts = [f"{key} {before.get(key, 0):,} → {after.get(key, 0):,}" for key in keys[:MOST_NAMED]]
    more = [f"{len(keys) - MOST_NAMED} more"] if len(keys) > MOST_NAMED else []
    return ", ".join((*parts, *more))


def options(view: RuleView) -> Iterable[Fired]:
    """OPT101: between two releases, an option that both record has another value."""
    releases = [view.values(spec.id) for spec in view.facts("release")]
    if not any(before != after for before, after in releases):
        return
    for change, spec in whole(view, OPTIONS):
        before, after = change.before, change.after
        folded = view.folded(spec.id)
        if not isinstance(before, dict) or not isinstance(after, dict):
            continue
        names = [
            name
            for name in sorted(before.keys() & after.keys())
            if before[name] != after[name] and not (name in folded[0] and name in folded[1])
        ]
        if names:
            yield Fired(
                message=", ".join(
                    f"{name} {view.words(before[name], spec) if before[name] is not None else 'none'} → "
                    f"{view.words(after[name], spec) if after[name] is not None else 'none'}"
                    for name in names
                ),
                change=change,
            )


RULES = (
    RuleSpec(
        code="BUILD101",
        title="a kernel no longer compiles",
        level="error",
        role="",
        judge=no_longer_compiles,
        across_targets=True,
        launch=True,
        doc="The entry after is that of a compilation that failed, the one before is not. What the kernel would have "
        "become could not be judged, so bit 2 of the exit code is set as well.",
        why="Nothing else says it: an entry that is not there cannot be compared.",
        advice="`irdiff compile` keeps what the compiler said in `failed/`.",
        examples=(
            RuleExample(fires=True, before={}, after={}, failed=(False, True)),
            RuleExample(
                fires=False,
                before={},
                after={},
                failed=(True, True),
                note="It did not compile before either.",
            ),
            RuleExample(fires=False, before={}, after={}, failed=(True, False)),
        ),
    ),
    RuleSpec(
        code="BUILD102",
        title="an expected stage is missing or unreadable",
        level="error",
        role="",
        judge=not_readable,
        across_targets=True,
        launch=True,
        uncertain=True,
        doc="A stage that an entry written like this one holds is not there, cannot be read, or was not understood, on "
        "either side. It says that something could not be judged: bit 2, and not bit 1. As a warning, or off, such a "
        "stage no longer keeps `check` from passing.",
        why="A check that passes because it saw nothing is worse than none.",
        advice="Compile it again. `irdiff show -v` lists what was not understood.",
        examples=(
            RuleExample(
                fires=True,
                before={"sass.registers": 64},
                after={"sass.registers": 64},
                unreadable=("sass",),
                note="A cubin that is cut off.",
            ),
            RuleExample(
                fires=False,
                before={"sass.registers": 64, "ptx.fp": {"fma.rn.f32": 8}},
                after={"ptx.fp": {"fma.rn.f32": 8}},
                note="A tree that is not expected to hold machine code.",
            ),
        ),
    ),
    RuleSpec(
        code="BUILD103",
        title="a kernel or configuration disappeared",
        level="warn",
        role="",
        gone=disappeared,
        across_targets=True,
        launch=True,
        doc="A kernel of the side before has no counterpart after.",
        why="It was renamed, or its configuration is no longer compiled; or a run ended early.",
        advice="`--unpaired` lists the kernels of both sides that have no counterpart.",
        examples=(
            RuleExample(fires=True, before={"sass.registers": 64}, after={}, gone=True),
            RuleExample(fires=False, before={"sass.registers": 64}, after={"sass.registers": 64}),
        ),
    ),
    RuleSpec(
        code="SIZE101",
        title="code grows",
        level="warn",
        role="code_bytes",
        judge=lambda view: risen(view, "code_bytes"),
        tolerance=Tolerance(percent=20),
        doc="The machine code is over 20 % larger than before.",
        why="Loops that no longer fit the instruction cache are slower; a loop was unrolled, or a fast path lost.",
        advice="`sass.classes` says of what there is more.",
        examples=(
            RuleExample(fires=True, before={"sass.code_bytes": 768}, after={"sass.code_bytes": 2304}),
            RuleExample(fires=False, before={"sass.code_bytes": 8192}, after={"sass.code_bytes": 8320}),
        ),
    ),
    RuleSpec(
        code="NUM101",
        title="the mix or precision of fma, mul and add changes",
        level="warn",
        role="contraction",
        judge=arithmetic,
        doc="Kinds of floating-point products and sums (operation, rounding, type) come or go, or some become more and "
        "others fewer. More of everything (an unrolled loop, a larger tile) is none of it, nor are the same operations "
        "on packed values.",
        why="Results differ in the last bits or more, and half the arithmetic may be gone from the fused units.",
        advice="Look at `enable_fp_fusion`, at types in the TTIR, and at what LLVM folded.",
        examples=(
            RuleExample(
                fires=True,
                before={"ptx.fp": {"fma.rn.f32": 8}},
                after={"ptx.fp": {"add.rn.f32": 8, "mul.rn.f32": 8}},
            ),
            RuleExample(
                fires=False,
                before={"ptx.fp": {"fma.rn.f32": 8, "add.f32": 2}},
                after={"ptx.fp": {"fma.rn.f32": 16, "add.f32": 4}},
                note="A loop unrolled twice.",
            ),
            RuleExample(
                fires=False,
                before={"ptx.fp": {"add.f32": 14, "mul.f32": 8}},
                after={"ptx.fp": {"add.f32": 8, "add.f32x2": 3, "mul.f32x2": 4}},
                note="The same sums and products, two at once.",
            ),
        ),
    ),
    RuleSpec(
        code="OPT101",
        title="options differ between releases",
        level="warn",
        role=OPTIONS,
        also=("release",),
        judge=options,
        across_targets=True,
        launch=True,
        doc="Two releases of the compiler wrote the entries, both record an option, and its values differ: its default "
        "changed, or it was set differently. Values that say no more than the release's own default or the target are "
        "passed over; so are differences within one release, which somebody set.",
        why="A default that changes silently is the first thing to rule out when an upgrade changes numbers or speed.",
        advice="Set the option explicitly on both sides and compare again.",
        examples=(
            RuleExample(
                fires=True,
                before={"meta.triton": "3.1.0", "meta.options": {"num_warps": 4, "allow_tf32": True}},
                after={"meta.triton": "3.6.0", "meta.options": {"num_warps": 4, "allow_tf32": False}},
            ),
            RuleExample(
                fires=False,
                before={"meta.triton": "3.6.0", "meta.options": {"num_warps": 4}},
                after={"meta.triton": "3.6.0", "meta.options": {"num_warps": 8}},
                note="One release: somebody set it.",
            ),
        ),
    ),
)
