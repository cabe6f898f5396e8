"""Pairs compared by other processes: which are worth sending, and what is done with those that come back undone.

A pair is sent with the answers of its stages and without the bytes of its artifacts. One whose report needs bytes (the
places of what moved where no fact did) is sent again with them; what comes back undone then is left to the sender.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from irdiff.engine.answers import POOL_FROM
from irdiff.engine.parcel import Parcel
from irdiff.engine.planning import workers_for
from irdiff.engine.unit import Batch, Executor, Line, Settings
from irdiff.model.report import KernelReport

READY_FROM = 8 << 20
"""Bytes of artifacts from which pairs are given to workers that are there already."""
COMPARED = 16
"""How many times faster bytes are compared than read: so many more must there be to start workers for them."""
BATCH = 64 << 10
"""Bytes of parcels that are sent together: some ten pairs, without the bytes of artifacts."""


class Pack(Protocol):
    """Makes parcels."""

    def __call__(self, number: int, /, *, with_bytes: bool) -> Parcel | None:
        """That of a pair, with the bytes of its artifacts or without; None for a pair that stays here."""


class Elsewhere:
    """Gives pairs of kernels, by number, to an executor."""

    def __init__(self, pool: Executor, settings: Settings, pack: Pack) -> None:
        self._pool = pool
        self._settings = settings
        self._pack = pack

    @staticmethod
    def many(size: int) -> bool:
        """Whether pairs with artifacts of so many bytes are too many to be compared while others are read."""
        return size >= READY_FROM

    def worthwhile(self, size: int) -> bool:
        """Whether pairs with artifacts of so many bytes are worth sending."""
        return size >= (READY_FROM if self._pool.ready else COMPARED * POOL_FROM)

    def reports(self, numbers: Sequence[int], size: int) -> dict[int, KernelReport]:
        """Number to report, of those that could be compared elsewhere; with artifacts of ``size`` bytes together."""
        most = workers_for(size // COMPARED)
        found: dict[int, KernelReport] = {}
        for with_bytes in (False, True):
            left = [number for number in numbers if number not in found]
            line = Line("pairs", self._batches(left, with_bytes=with_bytes))
            for batch, answers in self._pool.run([line], most=most):
                for parcel, answer in zip(batch.parcels, answers[len(batch.items) :], strict=True):
                    report = answer.compared().report
                    if report is not None:
                        found[parcel.number] = report
        return found

    def _batches(self, numbers: Sequence[int], *, with_bytes: bool) -> Iterator[Batch]:
        parcels: list[Parcel] = []
        size = 0
        for number in numbers:
            parcel = self._pack(number, with_bytes=with_bytes)
            if parcel is None:
                continue
            parcels.append(parcel)
            size += parcel.size
            if size >= BATCH:
                yield Batch(settings=self._settings, parcels=tuple(parcels))
                parcels, size = [], 0
        if parcels:
            yield Batch(settings=self._settings, parcels=tuple(parcels))
