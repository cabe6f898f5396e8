"""The unit of work of another process: batches of artifacts to read and of pairs to compare, each with its answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from irdiff.engine.parcel import Compared, Parcel, bundle_of
from irdiff.engine.unit import Answer, Batch, Said, Settings
from irdiff.engine.work import Bench
from irdiff.model.issues import Issue
from irdiff.model.tools import Toolbox
from irdiff.registry import Registry


class Workshop:
    """Does batches with the stages of one registry."""

    def __init__(self, registry: Registry, tools: Toolbox, settings: Settings) -> None:
        self._registry = registry
        self._tools = tools
        self._settings = settings
        self._bench = Bench(registry, tools, settings)

    def answers(self, batch: Batch) -> list[Answer]:
        """One for everything in the batch, in its order."""
        return list(chain.from_iterable(self.parts(batch)))

    def parts(self, batch: Batch) -> Iterator[list[Answer]]:
        """The same, piece by piece where a program was started for all of them: it took most of the time."""
        said = map(Answer.of, self._bench.each(batch.items))
        if any(self._bench.stage(item.stage).prepare is not None for item in batch.items):
            yield from ([answer] for answer in said)
        elif batch.items:
            yield list(said)
        for parcel in batch.parcels:
            yield [Answer.of_pair(self.compared(parcel))]

    def compared(self, parcel: Parcel) -> Compared:
        """The report on a pair, as the process that sent it would make it; nothing of an artifact is read for it."""
        from irdiff.engine.compare import Comparer
        from irdiff.engine.summarize import Reader

        missed: list[str] = []
        bundles = [bundle_of(half, parcel.contents, missed.append) for half in (parcel.before, parcel.after)]
        reader = Reader(
            self._registry,
            self._tools,
            canonical=True,
            switched_off=self._settings.switched_off,
            wanted=self._settings.wanted,
            settings=self._settings,
        )
        reader.take(parcel.known)
        before, after = (
            reader.kernel(bundle, parcel.stages, half.target)
            for bundle, half in zip(bundles, (parcel.before, parcel.after), strict=True)
        )
        report = Comparer(self._registry, reader).one(before, after, parcel.pairing)
        return Compared(None if missed else report)


def lost(single: Batch, message: str, hint: str) -> Answer:
    """The answer where whoever did a batch of one ended on it: a pair is left to who sent it."""
    if single.parcels:
        return Answer.of_pair(Compared(None))
    (item,) = single.items
    issue = Issue(
        severity="error",
        code="worker-ended",
        message=message,
        where=item.location,
        stage=item.stage,
        hint=hint,
    )
    return Answer.of(Said(summary=None, issues=(issue,), lasting=False))
