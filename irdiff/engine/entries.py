"""Kernels that can be only each other's, by name and hash; and what pairing sorts and groups kernels by."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from irdiff.engine.kernels import Kernel
from irdiff.engine.likeness import stem
from irdiff.model.report import Pairing


def certain(
    before: Sequence[Kernel], after: Sequence[Kernel]
) -> tuple[list[tuple[Kernel, Kernel, Pairing]], list[Kernel], list[Kernel]]:
    """The pairs of which no other kernel has the name and the hash, and what is left of both sides."""
    groups: tuple[dict[Hashable, list[Kernel]], dict[Hashable, list[Kernel]]] = ({}, {})
    for side, kernels in zip(groups, (before, after), strict=True):
        for kernel in kernels:
            side.setdefault(entry_of(kernel), []).append(kernel)
    certain: list[tuple[Kernel, Kernel, Pairing]] = []
    for key, found in groups[0].items():
        others = groups[1].get(key, ())
        if key is not None and len(found) == 1 and len(others) == 1:
            certain.append((found[0], others[0], Pairing(method="entry", confidence=1.0)))
    taken = {id(kernel) for one, other, _ in certain for kernel in (one, other)}
    left = [kernel for kernel in before if id(kernel) not in taken]
    return certain, left, [kernel for kernel in after if id(kernel) not in taken]


def entry_of(kernel: Kernel) -> Hashable:
    """Name and hash of the compilation; None where it has none."""
    found = kernel.bundle.hash or kernel.bundle.entry
    return (kernel.bundle.name, found) if found else None


def numbered_of(names: Iterable[str]) -> frozenset[str]:
    """Stems under which there are several names."""
    found: dict[str, set[str]] = {}
    for name in names:
        found.setdefault(stem(name), set()).add(name)
    return frozenset(stem for stem, known in found.items() if len(known) > 1)


def sort_key(kernel: Kernel) -> tuple[str, ...]:
    """What kernels are sorted by: their names, then where they lie, then what they hold."""
    held = tuple(f"{name} {reading.sha256}" for name, reading in kernel.readings.items())
    return (kernel.bundle.name, kernel.target or "", kernel.bundle.path, *held)


def components(edges: Mapping[int, AbstractSet[int]]) -> list[set[int]]:
    """Kernels that are joined by edges, group by group."""
    seen: set[int] = set()
    found: list[set[int]] = []
    for start in edges:
        if start in seen:
            continue
        group, waiting = {start}, [start]
        while waiting:
            for other in edges[waiting.pop()]:
                if other not in group:
                    group.add(other)
                    waiting.append(other)
        seen |= group
        found.append(group)
    return found
