"""What a comparison has to read: nothing of kernels that are the same, and of the others what may tell a change.

A stage whose bytes are the same on both sides is read only where another stage of its kernel changed (then facts
derived from several stages, limits and causes may rest on it) or where the kernel is not whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from irdiff.engine.kernels import Kernel
from irdiff.engine.planning import Content, Want
from irdiff.engine.portions import bundle_size, portions
from irdiff.engine.summarize import Reader
from irdiff.engine.unit import Meanwhile
from irdiff.model.bundle import Artifact
from irdiff.model.report import Pairing

Pair: TypeAlias = tuple[Kernel, Kernel, Pairing]
TURNS = 4
"""Parts in which pairs are read where others are compared meanwhile."""


class Asking:
    """Asks a Reader for the kernels of two sides; kernels that were read already are left as they are."""

    def __init__(self, reader: Reader, before: Sequence[Kernel], after: Sequence[Kernel]) -> None:
        self._reader = reader
        self._whole: set[int] = set()
        """Identities of the pairs that are read whole, for as long as the pairs are there."""
        self._common = _contents(before) & _contents(after)

    def for_pairing(
        self, kernels: Sequence[Kernel], asked: Callable[[Kernel], Sequence[str]]
    ) -> Iterator[Kernel]:
        """The same kernels with the stages that are asked of each; few are in memory at once."""
        unread = [(kernel, asked(kernel)) for kernel in kernels if not kernel.whole]
        # as for kernels that are read at once: a form is made where the bytes are not on both sides
        self._reader.ask(
            self._reader.wants(
                (kernel.bundle, (name,), (name, kernel.readings[name].sha256) not in self._common)
                for kernel, names in unread
                for name in names
            )
        )
        for portion in portions(kernels, lambda kernel: bundle_size(kernel.bundle)):
            for kernel in portion:
                yield (
                    kernel
                    if kernel.whole
                    else self._reader.kernel(kernel.bundle, asked(kernel), kernel.target)
                )
            self._reader.release()

    def settle(
        self,
        pairs: Sequence[Pair],
        *,
        everything: bool,
        known: Callable[[int], None] | None = None,
        meanwhile: Meanwhile | None = None,
    ) -> None:
        """See to it that what must be known of pairs is read.

        A pair is read whole as soon as what differs of it shows that this matters. ``known`` is told of each pair, by
        number, of which all is read; then ``meanwhile`` may use it, while others are still being read.
        """
        settling = _Settling(self, pairs, everything=everything, known=known or (lambda number: None))
        self._reader.ask(
            settling.begin(TURNS if meanwhile is not None else 1), then=settling.then, meanwhile=meanwhile
        )

    def stages(self, pair: Pair) -> tuple[str, ...] | None:
        """The stages of a pair that must be known; None for all of them."""
        return None if id(pair) in self._whole else differing(*pair[:2])

    def read(self, pair: Pair) -> Pair:
        """The pair with what must be known of both kernels."""
        before, after, how = pair
        if before.whole and after.whole:
            return pair
        names = self.stages(pair)
        return (
            self._reader.kernel(before.bundle, names, before.target),
            self._reader.kernel(after.bundle, names, after.target),
            how,
        )

    def for_comparing(self, pairs: Sequence[Pair]) -> Iterator[Pair]:
        """The same pairs with what must be known of both; few are in memory at once."""
        for portion in portions(pairs, pair_size):
            yield from map(self.read, portion)
            self._reader.release()

    def different(self, pair: Pair, turn: int) -> dict[Content, Want]:
        """What differs of a pair that was not read."""
        before, after, _ = pair
        if before.whole and after.whole:
            return {}
        stages = [
            (kernel.bundle, (name,), name in before.readings and name in after.readings)
            for name in differing(before, after)
            for kernel in (before, after)
        ]
        return self._reader.wants(stages, turn=turn)

    def rest(self, pair: Pair, *, everything: bool) -> dict[Content, Want]:
        """Everything else of a pair, where that matters: then it is read whole."""
        before, after, _ = pair
        if (before.whole and after.whole) or not (everything or self._matters(before, after)):
            return {}
        self._whole.add(id(pair))
        return self._reader.wants(
            [(kernel.bundle, tuple(kernel.readings), False) for kernel in (before, after)],
            lines=self._moved(before, after),
        )

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


def pair_size(pair: Pair) -> int:
    """Bytes of all artifacts of both kernels."""
    return bundle_size(pair[0].bundle) + bundle_size(pair[1].bundle)


class _Settling:
    """What of each pair is not there yet."""

    def __init__(
        self, asking: Asking, pairs: Sequence[Pair], *, everything: bool, known: Callable[[int], None]
    ) -> None:
        self._asking = asking
        self._pairs = pairs
        self._everything = everything
        self._known = known
        self._missing = [0] * len(pairs)
        """How many contents each pair waits for."""
        self._waiting: dict[Content, list[int]] = {}
        """Content to the pairs that wait for it."""
        self._decided: set[int] = set()
        """Pairs of which it is known whether they are read whole."""

    def begin(self, turns: int) -> dict[Content, Want]:
        """What is asked for first, for pairs one after the other in so many turns."""
        sizes = [pair_size(pair) if differing(*pair[:2]) else 0 for pair in self._pairs]
        total, before = sum(sizes), 0
        wants: dict[Content, Want] = {}
        for number, (pair, size) in enumerate(zip(self._pairs, sizes, strict=True)):
            turn = turns * before // total if size else 0
            before += size
            asked = self._wait(number, self._asking.different(pair, turn))
            for content, want in asked.items():
                if content not in wants or (want.canonical and not wants[content].canonical):
                    wants[content] = want
        return wants

    def then(self, content: Content) -> dict[Content, Want]:
        """What has to be read now that this is there."""
        wants: dict[Content, Want] = {}
        for number in self._waiting.pop(content, ()):
            self._missing[number] -= 1
            if not self._missing[number]:
                wants |= self._go_on(number)
        return wants

    def _wait(self, number: int, wants: dict[Content, Want]) -> dict[Content, Want]:
        self._missing[number] = len(wants)
        for content in wants:
            self._waiting.setdefault(content, []).append(number)
        return wants if wants else self._go_on(number)

    def _go_on(self, number: int) -> dict[Content, Want]:
        if number in self._decided:
            self._known(number)
            return {}
        self._decided.add(number)
        return self._wait(number, self._asking.rest(self._pairs[number], everything=self._everything))


def _contents(kernels: Sequence[Kernel]) -> frozenset[tuple[str, str | None]]:
    return frozenset(
        (name, reading.sha256) for kernel in kernels for name, reading in kernel.readings.items()
    )
