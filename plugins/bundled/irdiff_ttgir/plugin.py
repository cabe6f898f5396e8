"""Registers the stage ``ttgir``."""

from __future__ import annotations

import msgspec

from irdiff.api import Artifact, Canonical, Context, EntryInfo, StageSpec, Summary, hookimpl
from irdiff_mlir import tile_specs
from irdiff_mlir.normalizations import NORMALIZATIONS
from irdiff_mlir.road import road
from irdiff_ttgir import layout_specs, specs

irdiff_api_version = 1


def _summarize(artifact: Artifact, context: Context) -> Summary:
    from irdiff_mlir import program, summary, tile  # here, as a registry needs no parser
    from irdiff_mlir.tallies import Tallies
    from irdiff_ttgir import gpu, layouts, module

    resolved = program.resolve(artifact, context)
    tallies = Tallies(
        resolved, (*tile_specs.tally_ids("ttgir"), *specs.TALLY_IDS, *layout_specs.TALLY_IDS, gpu.SYNC_LOADS)
    )
    tile.count("ttgir", resolved, tallies)
    gpu.count(resolved, tallies)
    notes = layouts.count(resolved, tallies)
    counted = tallies.count(gpu.SYNC_LOADS)
    found = summary.summary(
        resolved,
        (
            *module.facts(resolved),
            *tallies.tallies(),
            *counted,
            *gpu.shared_bytes(resolved),
            *tile.other_facts("ttgir", resolved),
        ),
    )
    return msgspec.structs.replace(found, issues=(*found.issues, *notes))


def _canonical(artifact: Artifact, context: Context) -> Canonical:
    from irdiff_mlir.canonical import canonical

    return canonical(artifact, context)


def _expected(entry: EntryInfo) -> bool:
    return entry.layout in ("cache", "dump")


@hookimpl
def irdiff_stages() -> tuple[StageSpec, ...]:
    """The stage."""
    return (
        StageSpec(
            id="ttgir",
            title="Triton GPU IR",
            suffixes=(".ttgir",),
            facts=(
                *specs.MODULE,
                *tile_specs.specs("ttgir", "tile program", as_written=False),
                *specs.GPU,
                *layout_specs.LAYOUTS,
            ),
            summarize=_summarize,
            canonical=_canonical,
            after=("ttir",),
            produced_by="TTGIR passes",
            version_facts=("meta.triton",),
            normalizations=NORMALIZATIONS,
            expected=_expected,
            road=road,
        ),
    )
