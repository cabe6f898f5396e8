"""How facts of AMD's stages are declared, and what their descriptions cite."""

from __future__ import annotations

from irdiff.api import FactSpec

ARCH = ("target.arch",)
GUIDE = "LLVM's AMDGPU usage guide"
SCOPES = " A loop counts what its inner loops hold too."
METADATA = f"the code object's metadata ({GUIDE}, code object metadata)"


def resource(
    name: str,
    title: str,
    unit: str,
    doc: str,
    *,
    kind: str = "quantity",
    better: bool = True,
    role: str | None = None,
    comparable_when: tuple[str, ...] = (),
    repeats: str | None = None,
) -> FactSpec:
    """A number of the whole kernel; lower is better unless ``better`` is False."""
    return FactSpec(
        id=f"amdgcn.{name}",
        title=title,
        kind=kind,
        unit=unit,
        better="lower" if better else "neutral",
        role=role,
        comparable_when=comparable_when,
        repeats=repeats,
        exactness="exact" if repeats is None else "estimate",
        group="resources",
        doc=doc,
    )


def tally(
    name: str,
    title: str,
    doc: str,
    *,
    unit: str = "instructions",
    role: str | None = None,
    group: str,
    by_key: bool = False,
    fewer: bool = False,
    comparable_when: tuple[str, ...] = (),
) -> FactSpec:
    """Instructions or operands by key, of the kernel and of each loop; ``by_key``: keys are bytes, larger is better."""
    return FactSpec(
        id=f"amdgcn.{name}",
        title=title,
        kind="tally",
        unit=unit,
        better="higher" if by_key else "lower" if fewer else "neutral",
        measure="key" if by_key else "total",
        key_unit="B" if by_key else "",
        role=role,
        group=group,
        comparable_when=comparable_when,
        doc=doc + SCOPES,
    )
