"""Registers the LLVM IR stage."""

from __future__ import annotations

from collections.abc import Iterable

from irdiff.api import Artifact, Canonical, Context, EntryInfo, Normalization, StageSpec, Summary, hookimpl
from irdiff_llir.road import road
from irdiff_llir.specs import FACTS, NAMES, NAMES_WRITTEN

irdiff_api_version = 1

NORMALIZATIONS = (
    Normalization(
        id="value-names",
        title="value names",
        doc="Arguments and results of instructions are numbered by first appearance within their function.",
    ),
    Normalization(
        id="block-labels",
        title="block labels",
        doc="Basic blocks are numbered by first appearance within their function.",
    ),
    Normalization(
        id="source-paths",
        title="source paths",
        doc="`!DIFile` nodes, and the file that a device assertion names (`@assertFile_N`).",
    ),
    Normalization(
        id="source-lines",
        title="line numbers",
        doc="`!dbg` attachments, debug records and calls, all other `!DI…` nodes and the flags that announce them.",
    ),
    Normalization(
        id="metadata-numbers",
        title="metadata numbers",
        doc="Metadata nodes are numbered as code and named lists reach them; what nothing reaches goes.",
    ),
    Normalization(
        id="attribute-groups",
        title="attribute group numbers",
        doc="`#0` becomes the content of `attributes #0`, its words in alphabetical order.",
    ),
    Normalization(
        id="identity",
        title="compiler identification",
        doc="`ModuleID`, `source_filename`, `!llvm.ident`, `!nvvmir.version`.",
    ),
    Normalization(
        id="datalayout",
        title="data layout",
        doc="`target datalayout`: fixed by the target, absent in Triton 3.1 and longer with each LLVM release.",
    ),
    Normalization(
        id="dialect-spelling",
        title="spelling of LLVM releases",
        doc="`f0x3F317218` is `0x3FE62E4300000000`, `+inf` is `0x7FF0000000000000` (float and double), `nocapture` is "
        "`captures(none)`, `nofree` goes where `readnone` or `readonly` implies it, `getelementptr float` of one index "
        "is `getelementptr [4 x i8]`, and by a constant it is by so many bytes.",
    ),
    Normalization(
        id="comments", title="comments", doc="Everything after `;`: attribute and predecessor comments."
    ),
    Normalization(id="spacing", title="spacing", doc="Empty lines and indentation."),
)


def _summarize(artifact: Artifact, context: Context) -> Summary:
    from irdiff_llir.facts import summarize  # what reads an artifact is imported when there is one

    return summarize(artifact, context)


def _canonical(artifact: Artifact, context: Context) -> Canonical:
    from irdiff_llir.canonical import canonical

    return canonical(artifact, context)


def expected(entry: EntryInfo) -> bool:
    """LLVM IR is kept in cache entries and dump folders, for NVIDIA and AMD alike."""
    return entry.layout in ("cache", "dump")


@hookimpl
def irdiff_stages() -> Iterable[StageSpec]:
    """The LLVM IR stage."""
    return (
        StageSpec(
            id="llir",
            title="LLVM IR",
            suffixes=(".llir",),
            after=("ttgir",),
            produced_by="lowering and LLVM's optimizer",
            version_facts=("meta.triton",),
            facts=FACTS,
            summarize=_summarize,
            canonical=_canonical,
            normalizations=NORMALIZATIONS,
            expected=expected,
            road=road,
            names=NAMES,
            names_written=NAMES_WRITTEN,
        ),
    )
