"""Pair kernels of two trees: by entry, by meaning, then by name and nearest specialization.

Deterministic and independent of the order of files: candidates are sorted by what they are, and every kernel
is in exactly one pair or in exactly one of the unpaired lists.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import msgspec

from irdiff.engine.kernels import Kernel, facts_with_role
from irdiff.model.facts import FactSpec, Value
from irdiff.model.report import Pairing


class Pairs(msgspec.Struct, frozen=True, kw_only=True):
    """The result of pairing."""

    pairs: tuple[tuple[Kernel, Kernel, Pairing], ...]
    removed: tuple[Kernel, ...]
    """Only before."""
    added: tuple[Kernel, ...]
    """Only after."""


DESCRIBING_ROLES = ("target", "options", "specialization", "arguments")
"""Roles of the facts that say which specialization of a kernel one is looking at."""


def pair(before: Sequence[Kernel], after: Sequence[Kernel], specs: Mapping[str, FactSpec]) -> Pairs:
    """Pair every kernel that has a counterpart."""
    work = _Work(before, after)
    if len(before) == 1 and len(after) == 1:
        work.take(0, 0, Pairing(method="only", confidence=1.0))
        return work.result()
    work.unique("entry", 1.0, _entry_key)
    work.unique("specialization", 0.95, lambda kernel: _described(kernel, specs))
    work.unique("ir", 0.9, _first_canonical)
    work.nearest(specs)
    return work.result()


def _entry_key(kernel: Kernel) -> Hashable:
    key = kernel.bundle.hash or kernel.bundle.entry
    return (kernel.bundle.name, key) if key else None


def _described(kernel: Kernel, specs: Mapping[str, FactSpec]) -> Hashable:
    features = _features(kernel, specs)
    return (kernel.bundle.name, features) if features else None


def _first_canonical(kernel: Kernel) -> Hashable:
    """Name, target and the canonical form of the earliest step of the compiler that was read."""
    for reading in kernel.readings.values():
        if reading.stage.pipeline and reading.stage.reported_as is None:
            text = (
                reading.canonical or reading.sha256
            )  # equal bytes on both sides have no canonical form made
            return (kernel.bundle.name, kernel.target, reading.stage.id, text) if text else None
    return None


def _features(kernel: Kernel, specs: Mapping[str, FactSpec]) -> frozenset[str]:
    found: set[str] = set()
    if kernel.target:
        found.add(f"target={kernel.target}")
    for role in DESCRIBING_ROLES:
        for fact in facts_with_role(kernel, specs, role)[-1:]:
            found.update(f"{role}:{item}" for item in _items(fact.value))
    return frozenset(found)


def _items(value: Value) -> Iterable[str]:
    if isinstance(value, dict):
        return [f"{key}={value[key]}" for key in value]
    return [str(value)]


class _Work:
    def __init__(self, before: Sequence[Kernel], after: Sequence[Kernel]) -> None:
        self._before = dict(enumerate(before))
        self._after = dict(enumerate(after))
        self._found: list[tuple[Kernel, Kernel, Pairing]] = []

    def take(self, index_before: int, index_after: int, pairing: Pairing) -> None:
        """Pair two kernels and remove them from what is left."""
        self._found.append((self._before.pop(index_before), self._after.pop(index_after), pairing))

    def unique(self, method: str, confidence: float, key: Callable[[Kernel], Hashable]) -> None:
        """Pair the kernels whose key occurs exactly once on both sides."""
        keyed_before = _by_key(self._before, key)
        keyed_after = _by_key(self._after, key)
        for value, indexes in keyed_before.items():
            others = keyed_after.get(value, [])
            if len(indexes) == 1 and len(others) == 1:
                self.take(indexes[0], others[0], Pairing(method=method, confidence=confidence))

    def nearest(self, specs: Mapping[str, FactSpec]) -> None:
        """Among kernels of one name, pair those whose specializations are most alike, the likest first."""
        scored: list[tuple[float, str, str, int, int]] = []
        features_after = {index: _features(kernel, specs) for index, kernel in self._after.items()}
        by_name = _by_key(self._after, lambda kernel: kernel.bundle.name)
        for index_before, kernel in self._before.items():
            features = _features(kernel, specs)
            for index_after in by_name.get(kernel.bundle.name, []):
                score = _likeness(features, features_after[index_after])
                path_after = self._after[index_after].bundle.path
                scored.append((-score, kernel.bundle.path, path_after, index_before, index_after))
        for score, _, _, index_before, index_after in sorted(scored):
            if index_before in self._before and index_after in self._after:
                confidence = round(0.5 + 0.4 * -score, 2)
                self.take(index_before, index_after, Pairing(method="nearest", confidence=confidence))

    def result(self) -> Pairs:
        """Everything, in an order that depends on the kernels alone."""
        return Pairs(
            pairs=tuple(sorted(self._found, key=lambda found: (_key(found[0]), _key(found[1])))),
            removed=tuple(sorted(self._before.values(), key=_key)),
            added=tuple(sorted(self._after.values(), key=_key)),
        )


def _by_key(kernels: Mapping[int, Kernel], key: Callable[[Kernel], Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for index, kernel in kernels.items():
        value = key(kernel)
        if value is not None:
            found.setdefault(value, []).append(index)
    return found


def _likeness(before: frozenset[str], after: frozenset[str]) -> float:
    """Share of the features that both have, 0 to 1."""
    union = before | after
    return len(before & after) / len(union) if union else 0.0


def _key(kernel: Kernel) -> tuple[str, str, str]:
    return kernel.bundle.name, kernel.target or "", kernel.bundle.path
