"""Registers AMD's stages ``amdgcn`` and ``hsaco``, and the facts derived from them."""

from __future__ import annotations

from irdiff.api import DerivedSpec, EntryInfo, StageSpec, hookimpl

from irdiff_amdgcn import canonical, facts, hsaco, hsaco_specs, specs
from irdiff_amdgcn.derived import DERIVED
from irdiff_amdgcn.order import order_free, road
from irdiff_amdgcn.renaming import NAMES

irdiff_api_version = 1

_EARLIER = ("ttir", "ttgir", "llir")


def has_assembly(entry: EntryInfo) -> bool:
    """Cache entries and dump folders of AMD kernels hold the assembly."""
    return entry.backend == "hip" and entry.layout in ("cache", "dump")


def has_code_object(entry: EntryInfo) -> bool:
    """AMD entries end in a code object, whole, binary-only or dumped."""
    return entry.backend == "hip" and entry.layout in ("cache", "binary-only", "dump")


AMDGCN = StageSpec(
    id="amdgcn",
    title="AMDGPU assembly",
    suffixes=(".amdgcn",),
    after=_EARLIER,
    produced_by="LLVM's code generator",
    version_facts=("meta.triton",),
    facts=specs.FACTS,
    summarize=facts.summarize,
    canonical=canonical.canonical,
    normalizations=canonical.NORMALIZATIONS,
    expected=has_assembly,
    road=road,
    names=NAMES,
    names_written=NAMES,
    order_free=order_free,
)

HSACO = StageSpec(
    id="hsaco",
    title="AMDGPU code object",
    suffixes=(".hsaco",),
    after=(*_EARLIER, "amdgcn"),
    produced_by="assembler",
    version_facts=("meta.triton",),
    facts=hsaco_specs.FACTS,
    summarize=hsaco.summarize,
    canonical=hsaco.canonical,
    normalizations=hsaco_specs.NORMALIZATIONS,
    expected=has_code_object,
    machine_code=True,
)


@hookimpl
def irdiff_stages() -> tuple[StageSpec, ...]:
    """The stages ``amdgcn`` and ``hsaco``."""
    return (AMDGCN, HSACO)


@hookimpl
def irdiff_derived_facts() -> tuple[DerivedSpec, ...]:
    """Occupancy, class of matrix instructions, tensor work."""
    return (DERIVED,)
