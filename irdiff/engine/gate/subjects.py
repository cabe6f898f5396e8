"""Which specialization each finding is about, by a name that it has in every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from irdiff.engine.identity import described, measured
from irdiff.engine.kernels import Kernel
from irdiff.model.facts import FactSpec
from irdiff.model.gate import Finding
from irdiff.model.report import KernelRef, KernelReport


class _Subject(msgspec.Struct, frozen=True):
    """A pair that was judged."""

    kernel: str
    target: str | None
    described: str
    measured: str


class Subjects:
    """The pairs that were judged, by what is recorded of the kernel before: a change does not rename it.

    Where two of one name and target are described alike (a plain cache records no constexprs), what was measured of
    them tells them apart. It is left out elsewhere, for it moves with edits of the kernel.
    """

    def __init__(self, specs: Mapping[str, FactSpec]) -> None:
        self._specs = specs
        self._found: dict[tuple[str, str], _Subject] = {}

    def note(self, before: Kernel, report: KernelReport) -> None:
        """One pair more."""
        self._found[report.name, report.path_after] = _Subject(
            report.name, report.target, described(before, self._specs), measured(before, self._specs)
        )

    def of(self, findings: Iterable[Finding], removed: Iterable[KernelRef]) -> list[str]:
        """For each finding its specialization; empty where nothing is known of it."""
        gone = {(each.name, each.path): each.specialization for each in removed}
        alike = Counter((each.kernel, each.target, each.described) for each in self._found.values())
        named = []
        for finding in findings:
            found = self._found.get((finding.kernel, finding.path))
            if found is None:
                named.append(gone.get((finding.kernel, finding.path), ""))
            elif alike[found.kernel, found.target, found.described] > 1:
                named.append(f"{found.described} {found.measured}".strip())
            else:
                named.append(found.described)
        return named
