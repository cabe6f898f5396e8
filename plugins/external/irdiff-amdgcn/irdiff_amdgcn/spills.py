"""Which instructions spill vector registers and bring them back, so that spills are known for each loop.

LLVM marks them in comments (``4-byte Folded Spill``). Of those that it bundled into one clause (RDNA) it marks the
``s_clause`` for all together, and none up to Triton 3.6. Where what is marked does not add up to the number that the
metadata records, all scratch accesses to a fixed place are tried; where those do not either (a local array is among
them), what is told of loops is an estimate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from irdiff.api import Exactness, Fact

from irdiff_amdgcn.metadata import Metadata
from irdiff_amdgcn.opcodes import access_of
from irdiff_amdgcn.operands import registers
from irdiff_amdgcn.reader import Item
from irdiff_amdgcn.resources import largest

_FOLDED = re.compile(r"(\d{1,4})-byte Folded (Spill|Reload)")
_REUSE = "Reload Reuse"
"""How LLVM marks a spill to an accumulator register, both ways (SIRegisterInfo, spillVGPRtoAGPR)."""
_FACTS = (("amdgcn.vgpr_spills", "store"), ("amdgcn.spill_loads", "load"))


class Sites(msgspec.Struct, frozen=True, kw_only=True):
    """Line to (``store`` or ``load``, 32-bit registers)."""

    at: dict[int, tuple[str, int]]
    exact: bool
    """Whether the stores add up to the recorded number."""


def find_sites(instructions: Sequence[Item], metadata: Metadata) -> Sites:
    """The spills of a file."""
    recorded = sum(kernel.numbers.get("vgpr_spill_count", 0) for kernel in metadata.kernels)
    marked = dict(_marked(instructions))
    if _stored(marked) == recorded:
        return Sites(at=marked, exact=True)
    every = {**dict(_fixed(instructions)), **marked}
    return Sites(at=every, exact=True) if _stored(every) == recorded else Sites(at=marked, exact=False)


def facts_of(sites: Sites, instructions: Iterable[Item], scope: str) -> list[Fact]:
    """Spilled and reloaded vector registers of some instructions."""
    found = [(item.line, *sites.at[item.line]) for item in instructions if item.line in sites.at]
    exactness: Exactness | None = None if sites.exact else "estimate"
    facts = []
    for fact_id, way in _FACTS:
        lines = tuple(line for line, each, _ in found if each == way)
        count = sum(number for _, each, number in found if each == way)
        facts.append(
            Fact(
                id=fact_id,
                value=count,
                scope=scope,
                evidence={"": lines} if lines else {},
                exactness=exactness,
            )
        )
    return facts


def whole_kernel(sites: Sites, instructions: Sequence[Item], metadata: Metadata) -> Iterator[Fact]:
    """The recorded numbers, resting on the instructions where these make them up."""
    stores, loads = facts_of(sites, instructions, "")
    for fact in largest(stores.id, metadata.kernels, "vgpr_spill_count"):
        yield stores if stores.value == fact.value and fact.value else fact
    yield from largest("amdgcn.sgpr_spills", metadata.kernels, "sgpr_spill_count")
    yield loads


def _stored(at: dict[int, tuple[str, int]]) -> int:
    return sum(count for way, count in at.values() if way == "store")


def _marked(instructions: Iterable[Item]) -> Iterator[tuple[int, tuple[str, int]]]:
    for item in instructions:
        found = _FOLDED.search(item.comment) if item.comment else None
        if found is not None:
            yield item.line, ("store" if found[2] == "Spill" else "load", int(found[1]) // 4)
        elif _REUSE in item.comment:
            yield item.line, ("store" if item.word.startswith("v_accvgpr_write") else "load", 1)


def _fixed(instructions: Iterable[Item]) -> Iterator[tuple[int, tuple[str, int]]]:
    """Scratch accesses whose address holds no vector register: ``off, v1, off offset:4``."""
    for item in instructions:
        access = access_of(item.word)
        if access is None or access[0] != "scratch":
            continue
        vectors = [each for each in registers(item.operands) if each[0] != "s"]
        if len(vectors) == 1:
            yield item.line, (access[1], access[2] // 4)
