"""Summary and Canonical: what a stage returns for one artifact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from irdiff.model.facts import Fact, Scope
from irdiff.model.issues import Issue


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How much of an artifact was understood: opcode in the stage's table, and operands parsed."""

    understood: int
    """Meaningful lines (or instructions) understood, 0 <= understood <= total."""
    total: int
    """Meaningful lines (or instructions) in the artifact."""
    unknown: tuple[tuple[int, str], ...] = ()
    """(place, text) of what was not understood; at most 50."""

    @property
    def ratio(self) -> float:
        """Share understood, 0 to 1; 1 for an artifact without meaningful lines."""
        return self.understood / self.total if self.total else 1.0


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a stage has to say about one artifact."""

    facts: tuple[Fact, ...] = ()
    scopes: tuple[Scope, ...] = ()
    coverage: Coverage = Coverage(understood=0, total=0)
    issues: tuple[Issue, ...] = ()
    source_lines: dict[int, str] = {}
    """Place in the artifact to the ``path:line`` of the user's source that it comes from, where recorded."""
    folded: tuple[str, ...] = ()
    """Fields of this artifact's records whose values say nothing by themselves (a default that other releases do not
    write, a variable that only prints): where both sides fold one, it is no cause of anything."""
    degraded: str | None = None
    """Why part of what this stage can say is missing here (a tool was not found), else ``None``."""


class Canonical(msgspec.Struct, frozen=True, kw_only=True):
    """A stage's canonical form: equal code is equal text."""

    lines: tuple[str, ...]
    places: tuple[int, ...] = ()
    """For each canonical line its place in the artifact (line from 1, or address)."""
    erased: dict[str, str] = {}
    """Normalisation id to a digest of what it took away: two artifacts with equal ``lines`` differ for
    just those normalisations whose digests differ. That is how "bytes differ by source paths" is known."""
    without: dict[str, str] = {}
    """Part of the form in words (``control words``) to a digest of the form without it: where ``lines`` differ and
    this does not, two artifacts differ in that part only."""

    @staticmethod
    def of(
        lines: Iterable[str],
        *,
        places: Iterable[int] = (),
        erased: Mapping[str, str] | None = None,
        without: Mapping[str, str] | None = None,
    ) -> Canonical:
        """Build one from any iterables."""
        return Canonical(
            lines=tuple(lines), places=tuple(places), erased=dict(erased or {}), without=dict(without or {})
        )
