"""Registers the PTX stage."""

from __future__ import annotations

from collections.abc import Iterable

from irdiff.api import Artifact, Canonical, Context, EntryInfo, Normalization, StageSpec, Summary, hookimpl
from irdiff_ptx.road import road
from irdiff_ptx.specs import FACTS, NAMES

irdiff_api_version = 1

NORMALIZATIONS = (
    Normalization(
        id="register-names",
        title="register names",
        doc="Registers are numbered by first use within their declared type; `.reg` lines go. Special registers stay.",
    ),
    Normalization(
        id="labels",
        title="label names",
        doc="Labels that something refers to are numbered where they stand, each within its braces; others go.",
    ),
    Normalization(
        id="parameter-names",
        title="parameter names",
        doc="Parameters carry the kernel's name and their position: only the position stays. "
        "The kernel's own name stays.",
    ),
    Normalization(
        id="source-paths",
        title="source paths",
        doc="`.file`, the strings of the debug sections, and the file that a device assertion names (`assertFile_N`).",
    ),
    Normalization(
        id="source-lines",
        title="line numbers",
        doc="`.loc`, the labels that exist for it, and the numbers of the debug sections.",
    ),
    Normalization(id="comments", title="comments", doc="Everything after `//`."),
    Normalization(id="spacing", title="spacing", doc="Spaces, tabs and empty lines."),
    Normalization(
        id="ptx-version",
        title="PTX version",
        doc="`.version` follows the compiler, not the kernel (PTX ISA 11.1).",
    ),
    Normalization(
        id="state-space-spelling",
        title="spelling of state spaces",
        doc="`.shared` is `.shared::cta` (PTX ISA 5.1.7: the default sub-qualifier).",
    ),
    Normalization(
        id="reqntid-spelling",
        title="spelling of launch bounds",
        doc="`.reqntid 128, 1, 1` is `.reqntid 128` (PTX ISA 11.4: a size that is not given is 1); "
        "`.maxntid` likewise. `.maxntid` is another bound than `.reqntid`, and is kept apart.",
    ),
)


def _summarize(artifact: Artifact, context: Context) -> Summary:
    from irdiff_ptx.facts import summarize  # what reads an artifact is imported when there is one

    return summarize(artifact, context)


def _canonical(artifact: Artifact, context: Context) -> Canonical:
    from irdiff_ptx.canonical import canonical

    return canonical(artifact, context)


def expected(entry: EntryInfo) -> bool:
    """PTX is kept in cache entries and dump folders of CUDA kernels."""
    return entry.backend == "cuda" and entry.layout in ("cache", "dump")


@hookimpl
def irdiff_stages() -> Iterable[StageSpec]:
    """The PTX stage."""
    return (
        StageSpec(
            id="ptx",
            title="PTX",
            suffixes=(".ptx",),
            after=("llir",),
            produced_by="LLVM's code generator",
            version_facts=("meta.triton",),
            facts=FACTS,
            summarize=_summarize,
            canonical=_canonical,
            normalizations=NORMALIZATIONS,
            expected=expected,
            road=road,
            names=NAMES,
            names_written=NAMES,
        ),
    )
