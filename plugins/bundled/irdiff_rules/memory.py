"""MEM: how wide accesses to global memory are, and local memory in loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from irdiff.api import Fired, RuleExample, RuleSpec, RuleView
from irdiff_rules.loops import added_in_loops, change_scope, where
from irdiff_rules.numbers import number, tally

ACCESS = "global_access_bytes"
LOCAL = "local_accesses"
TILES = ("tile_loads", "tile_stores")
MOST = 0.75
"""Share of the bytes that wide accesses lost that narrower ones must have gained: the same bytes in more pieces."""
LEAST = 0.1
"""Share of all bytes that must have moved to narrower accesses."""


def narrower(view: RuleView) -> Iterable[Fired]:
    """MEM101: one finding for each fact whose bytes moved to narrower accesses."""
    for spec in view.facts(ACCESS):
        before, after = (_widths(tally(value)) for value in view.values(spec.id))
        widest = _main(before), _main(after)
        if not before or not after:
            continue
        main_fell = widest[1] < widest[0] and _same_tiles(view)
        pieces = _in_pieces(before, after)
        if not main_fell and pieces is None:
            continue
        was, now = widest if widest[1] < widest[0] else pieces or widest
        change = next(
            (c for c in view.changes(ACCESS) if c.fact == spec.id and c.scope == view.kernel.name), None
        )
        yield Fired(
            message=f"{spec.title}: {was} → {now} B per access ({_told(before)} → {_told(after)})",
            change=change,
            fact=spec.id,
            before=was,
            after=now,
        )


def _widths(counts: Mapping[str, int]) -> dict[int, int]:
    """Bytes per access to number of accesses; keys that name no size are left out."""
    found: dict[int, int] = {}
    for key, count in counts.items():
        head = key.split(" ", 1)[0]
        if head.isdecimal() and len(head) < 10:
            found[int(head)] = found.get(int(head), 0) + count
    return found


def _main(counts: Mapping[int, int]) -> int:
    """The width at which most bytes are moved; the wider of two."""
    return max(counts, key=lambda width: (width * counts[width], width), default=0)


def _in_pieces(before: Mapping[int, int], after: Mapping[int, int]) -> tuple[int, int] | None:
    """Widths that bytes moved from and to, where the same bytes are accessed in narrower pieces; None where not.

    A wide access that is gone, or a narrow one that is new, is no such move.
    """
    everything = sum(width * count for width, count in before.items())
    for limit in sorted(before, reverse=True):
        lost = _bytes(before, limit) - _bytes(after, limit)
        gained = _bytes(after, 0) - _bytes(after, limit) - (_bytes(before, 0) - _bytes(before, limit))
        if lost > 0 and gained >= MOST * lost and lost >= LEAST * everything:
            narrow = {width: count - before.get(width, 0) for width, count in after.items() if width < limit}
            return limit, _main({width: count for width, count in narrow.items() if count > 0})
    return None


def _bytes(counts: Mapping[int, int], least: int) -> int:
    return sum(width * count for width, count in counts.items() if width >= least)


def _same_tiles(view: RuleView) -> bool:
    """Whether the program loads and stores the same tiles, as far as that is known."""
    found = [view.values(spec.id) for role in TILES for spec in view.facts(role)]
    return bool(found) and all(before == after for before, after in found)


def _told(counts: Mapping[int, int]) -> str:
    return ", ".join(f"{counts[width]:,} of {width} B" for width in sorted(counts, reverse=True))


def local_in_loops(view: RuleView) -> Iterable[Fired]:
    """MEM102."""
    for spec in view.facts(LOCAL):
        found = added_in_loops(view, spec)
        if found is None or found[0]:
            continue
        scope = change_scope(view, spec.id)
        changes = [change for change in view.changes(LOCAL) if change.fact == spec.id]
        inside = [change for change in changes if change.scope == f"{view.kernel.name}/{scope}"]
        yield Fired(
            message=f"{spec.title} 0 → {found[1]:,} in {where(view, spec.id)}",
            change=next(iter(inside or changes), None),
            fact=spec.id,
            scope=scope,
            before=0,
            after=found[1],
        )


def no_local_memory(view: RuleView) -> bool:
    """Whether there is no stack after: then there is no access to local memory, in a loop or elsewhere."""
    stacks = [number(view.values(spec.id)[1]) for spec in view.facts("stack")]
    spilled = [number(view.values(spec.id)[1]) for spec in view.facts("spills")]
    return bool(stacks) and not any(stacks) and None not in stacks and not any(spilled)


RULES = (
    RuleSpec(
        code="MEM101",
        title="bytes per global access fall",
        level="error",
        role=ACCESS,
        also=TILES,
        judge=narrower,
        doc="The same bytes go to or from global memory in narrower pieces: at least three quarters of what wide "
        "accesses lost is now accessed more narrowly, and that is a tenth of all bytes; or, where the program loads "
        "and stores the same tiles, the width at which most bytes move fell. A scalar load that is new, a wide load "
        "that is gone, and a smaller tile are none of it. On machine code where it is decoded on both sides, else on "
        "the stage above it.",
        why="A warp that loads 2 bytes per thread needs eight times the instructions of one that loads 16, and leaves "
        "most of the memory's bandwidth unused.",
        advice="The usual cause is an argument that is no longer known to be divisible by 16, or a stride that is no "
        "longer known to be 1: compare `ttir.arguments`, and look at what the caller passes.",
        examples=(
            RuleExample(
                fires=True,
                before={"sass.global_loads": {"16": 2}},
                after={"sass.global_loads": {"2": 16}},
                note="A stride that 16 does not divide.",
            ),
            RuleExample(
                fires=True,
                before={"sass.global_loads": {"16": 4}},
                after={"sass.global_loads": {"16": 2, "4": 8}},
                note="One of two tiles.",
            ),
            RuleExample(
                fires=False,
                before={"sass.global_loads": {"16": 2}},
                after={"sass.global_loads": {"16": 2, "4": 1}},
                note="One scalar load more.",
            ),
            RuleExample(
                fires=False,
                before={"sass.global_loads": {"16": 4, "4": 1}},
                after={"sass.global_loads": {"16": 2, "4": 1}},
                note="Half the tile: fewer loads, as wide as before.",
            ),
        ),
    ),
    RuleSpec(
        code="MEM102",
        title="local memory is accessed inside a loop",
        level="warn",
        role=LOCAL,
        also=("stack", "spills"),
        judge=local_in_loops,
        answered=no_local_memory,
        doc="Loops hold accesses to local memory (spills, local arrays) and held none before. It needs decoded machine "
        "code, unless there is no stack.",
        why="A spill before the loop is paid once; one inside of it in every iteration.",
        advice="`irdiff compare --ir sass` shows the instructions and the lines of your Python they come from.",
        examples=(
            RuleExample(
                fires=True,
                before={"sass.local_accesses": {}, "sass.local_accesses @ loop0": {}},
                after={
                    "sass.local_accesses": {"load 4": 2, "store 4": 2},
                    "sass.local_accesses @ loop0": {"load 4": 2},
                },
            ),
            RuleExample(
                fires=False,
                before={"sass.local_accesses": {}, "sass.local_accesses @ loop0": {}},
                after={"sass.local_accesses": {"load 4": 2, "store 4": 2}, "sass.local_accesses @ loop0": {}},
                note="Outside of the loop.",
            ),
        ),
    ),
)
