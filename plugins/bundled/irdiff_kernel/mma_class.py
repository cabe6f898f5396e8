"""Which kind of instruction does a kernel's matrix products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from irdiff.api import FactView

RANKS = ("fma", "mma.sync", "wgmma", "tcgen05")
"""From the least to the most: wgmma is sm_90's, tcgen05 that of sm_100 to sm_110."""

_PTX: Mapping[str, str] = {"mma": "mma.sync", "tcgen05": "tcgen05", "wgmma": "wgmma", "wmma": "mma.sync"}
_SASS: Mapping[str, str] = {
    "BGMMA": "wgmma",
    "BMMA": "mma.sync",
    "DMMA": "mma.sync",
    "HGMMA": "wgmma",
    "HMMA": "mma.sync",
    "IGMMA": "wgmma",
    "IMMA": "mma.sync",
    "OMMA": "mma.sync",
    "QGMMA": "wgmma",
    "QMMA": "mma.sync",
    "UTCHMMA": "tcgen05",
    "UTCIMMA": "tcgen05",
    "UTCOMMA": "tcgen05",
    "UTCQMMA": "tcgen05",
}
_SOURCES: tuple[tuple[str, Mapping[str, str]], ...] = (("ptx.mma", _PTX), ("sass.mma", _SASS))
_DOTS = ("ttir.dots", "ttgir.dots")


def mma_class(view: FactView) -> str | None:
    """The classes in use, the least first (``mma.sync + wgmma``); None without matrix products, or if not known.

    ``fma`` where the tile program has dots and the machine code no MMA.
    """
    for fact, families in _SOURCES:
        keys = view.value(fact)
        if isinstance(keys, dict):
            found = _classes(keys, families)
            if found:
                return found
            return "fma" if any(view.value(dots) for dots in _DOTS) else None
    return None


def _classes(keys: Iterable[str], families: Mapping[str, str]) -> str:
    used = {families[family] for key in keys if (family := key.split(".", 1)[0]) in families}
    return " + ".join(name for name in RANKS if name in used)
