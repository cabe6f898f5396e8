"""The SASS stage and its disassembler, as irdiff registers them."""

from __future__ import annotations

from irdiff.api import EntryInfo, StageSpec, ToolSpec, hookimpl
from irdiff_sass.disassembly import TOOL, prepare
from irdiff_sass.order import NAMES, NAMES_WRITTEN, order_free, written
from irdiff_sass.ptxas_stage import PTXAS
from irdiff_sass.road import road
from irdiff_sass.specs import FACTS, NORMALIZATIONS
from irdiff_sass.summary import canonical, lines_of_source, summarize

irdiff_api_version = 1


def expected(entry: EntryInfo) -> bool:
    """NVIDIA entries end in a cubin, whole, binary-only or dumped."""
    return entry.backend == "cuda" and entry.layout in ("cache", "binary-only", "dump")


STAGE = StageSpec(
    id="sass",
    title="SASS",
    suffixes=(".cubin", ".sass"),
    facts=FACTS,
    summarize=summarize,
    canonical=canonical,
    after=("ptx",),
    produced_by="assembler",
    version_facts=("sass.ptxas",),
    normalizations=NORMALIZATIONS,
    expected=expected,
    machine_code=True,
    needs=(TOOL,),
    prepare=prepare,
    source_lines=lines_of_source,
    road=road,
    names=NAMES,
    names_written=NAMES_WRITTEN,
    order_free=order_free,
    written=written,
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
