"""Registers the stages ``source`` (what the front end emits) and ``ttir``."""

from __future__ import annotations

from irdiff.api import Artifact, Canonical, Context, EntryInfo, StageSpec, Summary, hookimpl
from irdiff_mlir import tile_specs
from irdiff_mlir.normalizations import NORMALIZATIONS
from irdiff_mlir.road import road

irdiff_api_version = 1

_DIALECT = "triton"
"""What the front end emits is Triton IR as well, before any pass."""
_FIRST_WITH_SOURCE = (3, 6)
"""Triton release from which a cache entry holds the front end's output."""


def _summarize(stage: str, artifact: Artifact, context: Context) -> Summary:
    from irdiff_mlir import program, summary, tile  # here, as a registry needs no parser
    from irdiff_mlir.tallies import Tallies

    resolved = program.resolve(artifact, context)
    tallies = Tallies(resolved, tile_specs.tally_ids(stage))
    tile.count(stage, resolved, tallies)
    return summary.summary(resolved, (*tallies.tallies(), *tile.other_facts(stage, resolved)))


def _summarize_source(artifact: Artifact, context: Context) -> Summary:
    return _summarize("source", artifact, context)


def _summarize_ttir(artifact: Artifact, context: Context) -> Summary:
    return _summarize("ttir", artifact, context)


def _canonical(artifact: Artifact, context: Context) -> Canonical:
    from irdiff_mlir.canonical import canonical

    return canonical(artifact, context)


def _source_expected(entry: EntryInfo) -> bool:
    """Cache entries hold it from 3.6 on; dump folders never do, and where the release is unknown it may be absent."""
    return entry.layout == "cache" and entry.release is not None and entry.release >= _FIRST_WITH_SOURCE


def _ttir_expected(entry: EntryInfo) -> bool:
    return entry.layout in ("cache", "dump")


@hookimpl
def irdiff_stages() -> tuple[StageSpec, ...]:
    """The two stages."""
    return (
        StageSpec(
            id="source",
            title="front end (Triton IR as generated)",
            suffixes=(".source",),
            facts=tile_specs.specs("source", "front end"),
            summarize=_summarize_source,
            canonical=_canonical,
            produced_by="front end",
            version_facts=("meta.triton",),
            dialect=_DIALECT,
            reported_as="ttir",
            normalizations=NORMALIZATIONS,
            expected=_source_expected,
        ),
        StageSpec(
            id="ttir",
            title="Triton IR",
            suffixes=(".ttir",),
            facts=tile_specs.specs("ttir", "tile program"),
            summarize=_summarize_ttir,
            canonical=_canonical,
            after=("source",),
            produced_by="TTIR passes",
            version_facts=("meta.triton",),
            dialect=_DIALECT,
            normalizations=NORMALIZATIONS,
            expected=_ttir_expected,
            road=road,
        ),
    )
