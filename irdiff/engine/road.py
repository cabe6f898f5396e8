"""The road of a kernel through the stages: which operations carry a copy, a dot, a store at each of them.

Each stage says of the keys of its tallies which action they may carry (``StageSpec.road``). Where the operation alone
does not say it (a load from shared memory), the user's line decides: the action that the stages before have on that
line; where no line is known, the first action that they have at all; where no stage is before, the likeliest one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from irdiff.engine.kernels import Kernel, Reading
from irdiff.model.specs import ACTIONS, Carrier

Lines = Callable[[str, Reading], Mapping[int, str]]
"""Of a stage and its reading: place to the user's line."""
Road = dict[str, dict[str, dict[str, int]]]
"""Action to stage to operation to how many."""


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    carrier: Carrier
    count: int
    places: tuple[int, ...]

    @property
    def certain(self) -> bool:
        """Whether the operation alone says what it carries."""
        return self.carrier.sure and len(self.carrier.actions) == 1


def road(kernel: Kernel, lines: Lines) -> Road:
    """The road of one kernel; actions that no stage carries are left out."""
    made: Road = {}
    where: dict[str, set[str]] = {}
    roads = {stage_id: tuple(_carriers(reading)) for stage_id, reading in kernel.readings.items()}
    stages = [stage_id for stage_id, found in roads.items() if found]
    for stage_id in stages:
        needed = stage_id != stages[-1] or not all(each.certain for each in roads[stage_id])
        known = lines(stage_id, kernel.readings[stage_id]) if needed else {}
        earlier = {action: frozenset(places) for action, places in where.items()} if made else None
        taken: list[tuple[str, str, int, tuple[int, ...]]] = []
        for each in roads[stage_id]:
            operation = each.carrier.operation
            if each.certain or earlier is None:
                taken.append((each.carrier.actions[0], operation, each.count, each.places))
                continue
            taken += [
                (action, operation, len(places), tuple(places))
                for action, places in _decided(each, known, earlier).items()
            ]
        for action, operation, count, places in taken:
            operations = made.setdefault(action, {}).setdefault(stage_id, {})
            operations[operation] = operations.get(operation, 0) + count
            where.setdefault(action, set()).update(_line(known[place]) for place in places if place in known)
    return {
        action: {stage_id: dict(sorted(operations.items())) for stage_id, operations in made[action].items()}
        for action in ACTIONS
        if action in made
    }


def _carriers(reading: Reading) -> Iterator[_Found]:
    told = reading.stage.road
    if told is None or reading.summary is None:
        return
    for fact in reading.summary.facts:
        if fact.scope or not isinstance(fact.value, dict):
            continue
        for key, count in fact.value.items():
            carrier = told(fact.id, key) if isinstance(count, int) and count else None
            if carrier is not None and isinstance(count, int):
                yield _Found(carrier=carrier, count=count, places=fact.evidence.get(key, ()))


def _decided(
    found: _Found, known: Mapping[int, str], earlier: Mapping[str, frozenset[str]]
) -> dict[str, list[int]]:
    """Action to the places that carry it."""
    candidates = [action for action in found.carrier.actions if action in earlier]
    if not candidates:
        return {}
    without_lines = [action for action in candidates if not earlier[action]]
    decided: dict[str, list[int]] = {}
    for place in found.places:
        line = known.get(place)
        if line is None:
            decided.setdefault(candidates[0], []).append(place)
            continue
        on_line = [action for action in candidates if _line(line) in earlier[action]]
        for action in (on_line or without_lines)[:1]:
            decided.setdefault(action, []).append(place)
    return decided


def _line(where: str) -> str:
    """``file.py:41``, without folders: stages name them differently."""
    return where.replace("\\", "/").rpartition("/")[2]
