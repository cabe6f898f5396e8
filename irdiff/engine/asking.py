"""What a comparison has to read: nothing of kernels that are the same, and of the others what may tell a change.

A stage whose bytes are the same on both sides is read only where another stage of its kernel changed (then facts
derived from several stages, limits and causes may rest on it) or where the kernel is not whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from irdiff.engine.kernels import Kernel
from irdiff.engine.portions import bundle_size, portions
from irdiff.engine.summarize import Reader
from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.report import Pairing

Pair: TypeAlias = tuple[Kernel, Kernel, Pairing]
Late: TypeAlias = frozenset[int]
"""Identities of the pairs that are read whole, for as long as the pairs are there."""


class Asking:
    """Asks a Reader for the kernels of two sides; kernels that were read already are left as they are."""

    def __init__(self, reader: Reader, before: Sequence[Kernel], after: Sequence[Kernel]) -> None:
        self._reader = reader
        self._common = _contents(before) & _contents(after)

    def for_pairing(
        self, kernels: Sequence[Kernel], asked: Callable[[Kernel], Sequence[str]]
    ) -> Iterator[Kernel]:
        """The same kernels with the stages that are asked of each; few are in memory at once."""
        unread = [(kernel, asked(kernel)) for kernel in kernels if not kernel.whole]
        # as for kernels that are read at once: a form is made where the bytes are not on both sides
        self._reader.ask(
            (kernel.bundle, (name,), (name, kernel.readings[name].sha256) not in self._common)
            for kernel, names in unread
            for name in names
        )
        for portion in portions(kernels, lambda kernel: bundle_size(kernel.bundle)):
            for kernel in portion:
                yield (
                    kernel
                    if kernel.whole
                    else self._reader.kernel(kernel.bundle, asked(kernel), kernel.target)
                )
            self._reader.release()

    def settle(self, pairs: Sequence[Pair], *, everything: bool) -> Late:
        """See to it that what must be known of pairs is read; which of them are read whole."""
        unread = [pair for pair in pairs if not (pair[0].whole and pair[1].whole)]
        self._reader.ask(_different(unread))
        late = [pair for pair in unread if everything or self._matters(*pair[:2])]
        self._reader.ask(
            ((kernel.bundle, tuple(kernel.readings), False) for pair in late for kernel in pair[:2]),
            lines=[artifact for before, after, _ in late for artifact in self._moved(before, after)],
        )
        return frozenset(id(pair) for pair in late)

    def stages(self, pair: Pair, late: Late) -> tuple[str, ...] | None:
        """The stages of a pair that must be known; None for all of them."""
        return None if id(pair) in late else differing(*pair[:2])

    def for_comparing(self, pairs: Sequence[Pair], late: Late) -> Iterator[Pair]:
        """The same pairs with what must be known of both; few are in memory at once."""
        for portion in portions(
            pairs, lambda pair: bundle_size(pair[0].bundle) + bundle_size(pair[1].bundle)
        ):
            for pair in portion:
                before, after, how = pair
                if before.whole and after.whole:
                    yield pair
                    continue
                names = self.stages(pair, late)
                yield (
                    self._reader.kernel(before.bundle, names, before.target),
                    self._reader.kernel(after.bundle, names, after.target),
                    how,
                )
            self._reader.release()

    def _matters(self, before: Kernel, after: Kernel) -> bool:
        """Whether stages that are the same must be read too.

        So where the canonical forms of a stage differ (a fingerprint may still say that it is the same), and where
        something is wrong with the files: then everything that is wrong is told.
        """
        if any(issue.severity == "error" for kernel in (before, after) for issue in kernel.issues):
            return True
        return any(True for _ in self._moved(before, after))

    def _moved(self, before: Kernel, after: Kernel) -> Iterator[Artifact]:
        """The artifacts of stages whose canonical forms differ."""
        for name in differing(before, after):
            if name not in before.readings or name not in after.readings:
                continue
            both = before.artifact(name), after.artifact(name)
            digests = [self._reader.digest(artifact) for artifact in both]
            if all(digests) and digests[0] != digests[1]:
                yield from both


def differing(before: Kernel, after: Kernel) -> tuple[str, ...]:
    """Stages whose bytes differ, or that one side alone has."""
    names = dict.fromkeys((*before.readings, *after.readings))
    found = []
    for name in names:
        old, new = before.readings.get(name), after.readings.get(name)
        if old is None or new is None or old.sha256 is None or old.sha256 != new.sha256:
            found.append(name)
    return tuple(found)


def _different(pairs: Iterable[Pair]) -> Iterator[tuple[Bundle, tuple[str, ...], bool]]:
    for before, after, _ in pairs:
        for name in differing(before, after):
            both = name in before.readings and name in after.readings
            for kernel in (before, after):
                yield kernel.bundle, (name,), both


def _contents(kernels: Sequence[Kernel]) -> frozenset[tuple[str, str | None]]:
    return frozenset(
        (name, reading.sha256) for kernel in kernels for name, reading in kernel.readings.items()
    )
