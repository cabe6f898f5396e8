"""Many kernels, a few at a time: how many bytes are in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from irdiff.model.bundle import Bundle

T = TypeVar("T")
PORTION = 16 << 20
"""Bytes of artifacts whose answers are unpacked at once."""


def bundle_size(bundle: Bundle) -> int:
    """Bytes of all its artifacts."""
    size = 0
    for artifact in bundle.artifacts.values():
        try:
            size += artifact.size
        except OSError:
            continue
    return size


def portions(things: Sequence[T], size: Callable[[T], int], limit: int = PORTION) -> Iterator[list[T]]:
    """The things in order, in lists of at most so many bytes together, and at least one thing."""
    portion: list[T] = []
    total = 0
    for thing in things:
        here = size(thing)
        if portion and total + here > limit:
            yield portion
            portion, total = [], 0
        portion.append(thing)
        total += here
    if portion:
        yield portion
