"""Registers the stage ``meta``."""

from __future__ import annotations

from irdiff.api import EntryInfo, StageSpec, hookimpl
from irdiff_meta.canonical import NORMALIZATIONS, canonical
from irdiff_meta.facts import summarize
from irdiff_meta.specs import FACTS

irdiff_api_version = 1


def expected(entry: EntryInfo) -> bool:
    """A cache entry always has its JSON: it is written last. Dump folders and failed compilations have none."""
    return entry.layout in ("cache", "binary-only")


@hookimpl
def irdiff_stages() -> tuple[StageSpec, ...]:
    """The JSON of a cache entry."""
    return (
        StageSpec(
            id="meta",
            title="metadata",
            suffixes=(".json",),
            facts=FACTS,
            summarize=summarize,
            canonical=canonical,
            produced_by="compile options",
            normalizations=NORMALIZATIONS,
            expected=expected,
            minimum_coverage=0.75,  # a new release adds a handful of keys to about forty
            pipeline=False,
        ),
    )
