"""What a baseline holds: one value for the file, one for each kernel."""

from __future__ import annotations

import msgspec

from irdiff.model.bundle import Layout
from irdiff.model.facts import Fact, Scope

FORMAT = "irdiff-baseline/1"
END = "end"
"""The last line: a file without it was cut off."""
COUNT = "lines"
"""The last line of every section, with how many lines stand above it there: one that was taken out is noticed, where
the fact that it said would be taken for one that was not known."""
EMPTY_KINDS = ("tally", "set", "sequence")
"""Kinds of which an empty value is not written where its stage is."""


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The canonical form of one artifact, as digests."""

    canonical: str | None
    """SHA-256 in hex; None where none could be made."""
    without: dict[str, str] = {}
    """As ``Reading.without``."""
    degraded: str | None = None
    """As ``Summary.degraded``."""
    folded: tuple[str, ...] = ()
    """As ``Summary.folded``."""


class RecordedSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a fact was when it was written."""

    stage: str
    """The stage that says it; ``""`` for a fact derived from several."""
    kind: str
    role: str | None = None
    in_loops: bool = False
    """Whether it is recorded in loops too."""


class RecordedKernel(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel."""

    name: str
    target: str | None = None
    layout: Layout = "cache"
    forms: dict[str, Form] = {}
    """Stage id to its form; a stage that could not be read has no place here."""
    unreadable: tuple[str, ...] = ()
    """Stages whose artifacts were there and could not be read."""
    missing: tuple[str, ...] = ()
    """Stages that an entry like this one holds and this one did not."""
    facts: tuple[Fact, ...] = ()
    """Without evidence; those of loops only for facts that are recorded in loops."""
    scopes: dict[str, tuple[Scope, ...]] = {}
    """Stage id to its loops, without places."""
    line: int = 0
    """Where its block begins in the file; 0 for one that was not read from a file."""


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """One file."""

    readers: dict[str, str]
    """Stage id to the plugin's distribution and version that read it: ``irdiff 0.1.0``."""
    specs: dict[str, RecordedSpec]
    """Every fact that is recorded where it is known, by id."""
    kernels: tuple[RecordedKernel, ...]
