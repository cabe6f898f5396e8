"""Compare two sets of kernels: pair them, compare each pair here or in other processes, and sum up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from irdiff.engine.asking import Asking, Late, Pair, differing
from irdiff.engine.elsewhere import Elsewhere
from irdiff.engine.gate.evaluate import marked
from irdiff.engine.identity import identity
from irdiff.engine.kernels import Kernel
from irdiff.engine.pair import pair
from irdiff.engine.pairwise import PairComparer
from irdiff.engine.parcel import Parcel, half_of
from irdiff.engine.portions import bundle_size
from irdiff.engine.summarize import Reader
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

    def __init__(self, registry: Registry, reader: Reader, *, each: Each | None = None) -> None:
        """``each`` is called once for every pair, in the order of the report: every stage of both is then read."""
        self._registry = registry
        self._reader = reader
        self._each = each
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
        late = asking.settle(pairs, everything=self._each is not None)
        done = self._elsewhere(asking, pairs, late) if self._each is None else {}
        here = asking.for_comparing([each for at, each in enumerate(pairs) if at not in done], late)
        return tuple(done[at] if at in done else self.one(*next(here)) for at in range(len(pairs)))

    def _elsewhere(self, asking: Asking, pairs: Sequence[Pair], late: Late) -> dict[int, KernelReport]:
        """Number to report of those pairs that other processes compared."""
        pool = self._reader.pool
        unread = [at for at, each in enumerate(pairs) if not (each[0].whole and each[1].whole)]
        if pool is None or len(unread) < 2:
            return {}

        def pack(at: int, *, with_bytes: bool) -> Parcel | None:
            before, after, pairing = pairs[at]
            halves = half_of(before), half_of(after)
            stages = asking.stages(pairs[at], late)
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

        differ = [at for at in unread if differing(*pairs[at][:2])]
        elsewhere = Elsewhere(pool, self._reader.settings, pack)
        size = sum(bundle_size(kernel.bundle) for at in differ for kernel in pairs[at][:2])
        return elsewhere.reports(differ, size) if elsewhere.worthwhile(size) else {}


def _reference(kernel: Kernel, specialization: str = "") -> KernelRef:
    return KernelRef(
        name=kernel.bundle.name,
        path=kernel.bundle.path,
        target=kernel.target,
        specialization=specialization,
    )
