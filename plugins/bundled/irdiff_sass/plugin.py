"""The SASS stage and its disassembler, as irdiff registers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irdiff.api import (
    Artifact,
    Canonical,
    Carrier,
    Context,
    EntryInfo,
    StageSpec,
    Summary,
    Toolbox,
    ToolSpec,
    hookimpl,
)
from irdiff_sass.normalizations import NAMES, NAMES_WRITTEN, NORMALIZATIONS
from irdiff_sass.ptxas_stage import PTXAS
from irdiff_sass.specs import FACTS, TOOL

irdiff_api_version = 1


def expected(entry: EntryInfo) -> bool:
    """NVIDIA entries end in a cubin, whole, binary-only or dumped."""
    return entry.backend == "cuda" and entry.layout in ("cache", "binary-only", "dump")


# What reads an artifact is imported when there is one.


def _summarize(artifact: Artifact, context: Context) -> Summary:
    from irdiff_sass.summary import summarize

    return summarize(artifact, context)


def _canonical(artifact: Artifact, context: Context) -> Canonical:
    from irdiff_sass.summary import canonical

    return canonical(artifact, context)


def _lines_of_source(artifact: Artifact, context: Context) -> Mapping[int, str]:
    from irdiff_sass.summary import lines_of_source

    return lines_of_source(artifact, context)


def _prepare(artifacts: Sequence[Artifact], tools: Toolbox) -> Mapping[str, object]:
    from irdiff_sass.disassembly import prepare

    return prepare(artifacts, tools)


def _road(fact_id: str, key: str) -> Carrier | None:
    from irdiff_sass.road import road

    return road(fact_id, key)


def _order_free(line: str) -> bool:
    from irdiff_sass.order import order_free

    return order_free(line)


def _written(artifact: Artifact, context: Context) -> Mapping[int, str]:
    from irdiff_sass.order import written

    return written(artifact, context)


STAGE = StageSpec(
    id="sass",
    title="SASS",
    suffixes=(".cubin", ".sass"),
    facts=FACTS,
    summarize=_summarize,
    canonical=_canonical,
    after=("ptx",),
    produced_by="assembler",
    version_facts=("sass.ptxas",),
    normalizations=NORMALIZATIONS,
    expected=expected,
    machine_code=True,
    needs=(TOOL,),
    prepare=_prepare,
    source_lines=_lines_of_source,
    road=_road,
    names=NAMES,
    names_written=NAMES_WRITTEN,
    order_free=_order_free,
    written=_written,
)

NVDISASM = ToolSpec(
    id=TOOL,
    variable="IRDIFF_NVDISASM",
    hint="pip install 'irdiff[sass]'",
    packages=(("nvidia-cuda-nvdisasm", "nvdisasm"),),
    homes=(("CUDA_HOME", "bin/nvdisasm"), ("CUDA_PATH", "bin/nvdisasm")),
    modules=(("triton", "backends/nvidia/bin/nvdisasm"),),
    version_pattern=r"V(\d+(?:\.\d+)+)",
    supports_arguments=("--help",),
    supports_pattern=r"'(SM\d+[a-z]?)'",
)


@hookimpl
def irdiff_stages() -> tuple[StageSpec, ...]:
    """The stages ``sass`` and ``ptxas``."""
    return (STAGE, PTXAS)


@hookimpl
def irdiff_tools() -> tuple[ToolSpec, ...]:
    """``nvdisasm``."""
    return (NVDISASM,)
