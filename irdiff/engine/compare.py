"""Compare two sets of kernels: pair them, compare each pair here or in other processes, and sum up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import TypeAlias

import msgspec

from irdiff.engine.asking import Asking, Pair, differing, pair_size
from irdiff.engine.elsewhere import Elsewhere
from irdiff.engine.gate.evaluate import marked
from irdiff.engine.identity import identity
from irdiff.engine.kernels import Kernel
from irdiff.engine.meantime import Meantime
from irdiff.engine.pair import pair
from irdiff.engine.pairwise import PairComparer
from irdiff.engine.parcel import Parcel, half_of
from irdiff.engine.summarize import Reader
from irdiff.engine.unit import Executor
from irdiff.engine.verdicts import overall
from irdiff.model.issues import Issue
from irdiff.model.report import KernelRef, KernelReport, Pairing, Report
from irdiff.registry import Registry

Each: TypeAlias = Callable[[Kernel, Kernel, KernelReport], KernelReport]
"""Of two kernels with all their facts, and what was found, to what is to be reported."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two inputs."""

    described: str
    """As the user named it."""
    kernels: tuple[Kernel, ...]
    issues: tuple[Issue, ...] = ()


class Comparer:
    """Compares what one Reader read, or will read, with one Registry.

    ``each`` is given every pair, for a gate; without one, changes are marked with the rules that they fire.
    """

    def __init__(
        self,
        registry: Registry,
        reader: Reader,
        *,
        each: Each | None = None,
        idle: Callable[[], None] | None = None,
    ) -> None:
        """``each`` is called once for every pair, in the order of the report: every stage of both is then read.

        ``idle`` is called once where other processes are waited for.
        """
        self._registry = registry
        self._reader = reader
        self._each = each
        self._idle = idle
        self._pairwise = PairComparer(registry, reader)

    def compare(self, before: Side, after: Side) -> Report:
        """The whole report."""
        asking = Asking(self._reader, before.kernels, after.kernels)
        pairs = pair(before.kernels, after.kernels, self._registry.facts, asking.for_pairing)
        reports = self._reports(asking, pairs.pairs)
        issues = [*before.issues, *after.issues]
        if not reports:
            issues.append(
                Issue(
                    severity="error",
                    code="nothing-paired",
                    message="no kernel of one side has a counterpart on the other",
                    hint="select one of each: DIR::KERNEL, or DIR::HASHPREFIX where a name has several",
                )
            )
        for kernel in (*pairs.removed, *pairs.added):
            issues.extend(kernel.issues)
            issues.extend(issue for reading in kernel.readings.values() for issue in reading.issues)
        verdict, direction = overall(reports, issues)
        used = {change.fact for report in reports for change in report.changes}
        return Report(
            before=before.described,
            after=after.described,
            verdict=verdict,
            direction=direction,
            kernels=reports,
            added=tuple(_reference(kernel) for kernel in pairs.added),
            removed=self._removed(asking, pairs.removed),
            issues=tuple(issues),
            facts={name: self._registry.facts[name] for name in sorted(used) if name in self._registry.facts},
            stages={stage.id: stage.title for stage in self._registry.stages},
            steps=tuple(stage.id for stage in self._registry.stages if stage.pipeline),
        )

    def _removed(self, asking: Asking, kernels: Sequence[Kernel]) -> tuple[KernelRef, ...]:
        """Kernels on the side before alone; for a gate with what tells the specializations of each apart."""
        if self._each is None:
            return tuple(map(_reference, kernels))
        read = asking.for_pairing(kernels, lambda kernel: tuple(kernel.readings))
        return tuple(_reference(kernel, identity(kernel, self._registry.facts)) for kernel in read)

    def one(self, before: Kernel, after: Kernel, pairing: Pairing) -> KernelReport:
        """Of one pair, with everything read that must be known of both."""
        report = self._pairwise.report(before, after, pairing)
        if self._each is None:
            return marked(before, after, report, self._registry)
        return self._each(before, after, report)

    def _reports(self, asking: Asking, pairs: Sequence[Pair]) -> tuple[KernelReport, ...]:
        """Of every pair, in the order given, whoever compared it."""
        if self._each is not None:
            asking.settle(pairs, everything=True)
            return tuple(starmap(self.one, asking.for_comparing(pairs)))
        pool = self._reader.pool
        differ = [
            at
            for at, (before, after, _) in enumerate(pairs)
            if not (before.whole and after.whole) and differing(before, after)
        ]
        elsewhere = self._elsewhere(asking, pairs, pool) if pool is not None and len(differ) > 1 else None
        size = sum(pair_size(pairs[at]) for at in differ)
        many = elsewhere is not None and elsewhere.many(size)
        meantime = Meantime(lambda at: self.one(*asking.read(pairs[at])), self._reader.release, self._idle)
        asking.settle(
            pairs,
            everything=False,
            known=meantime.due.append,
            meanwhile=meantime.step if elsewhere is not None and not many else None,
        )
        done = meantime.done
        if many and elsewhere is not None and elsewhere.worthwhile(size):
            done = elsewhere.reports(differ, size)
        here = asking.for_comparing([each for at, each in enumerate(pairs) if at not in done])
        return tuple(done[at] if at in done else self.one(*next(here)) for at in range(len(pairs)))

    def _elsewhere(self, asking: Asking, pairs: Sequence[Pair], pool: Executor) -> Elsewhere:
        """Who compares pairs in other processes."""

        def pack(at: int, *, with_bytes: bool) -> Parcel | None:
            before, after, pairing = pairs[at]
            halves = half_of(before), half_of(after)
            stages = asking.stages(pairs[at])
            known = self._reader.known((before.bundle, after.bundle), stages)
            if halves[0] is None or halves[1] is None or known is None:
                return None
            artifacts = [
                artifact
                for kernel in (before, after)
                for name, artifact in kernel.bundle.artifacts.items()
                if stages is None or name in stages
            ]
            try:
                contents = {each.sha256: each.read() for each in artifacts} if with_bytes else {}
            except OSError:  # gone since it was hashed: whoever compares it here says so
                return None
            return Parcel(at, halves[0], halves[1], pairing, stages, known, contents)

        return Elsewhere(pool, self._reader.settings, pack)


def _reference(kernel: Kernel, specialization: str = "") -> KernelRef:
    return KernelRef(
        name=kernel.bundle.name,
        path=kernel.bundle.path,
        target=kernel.target,
        specialization=specialization,
    )
