"""What SASS instructions do on the road of a kernel through the stages."""

from __future__ import annotations

from irdiff.api import Carrier
from irdiff_sass.families import WIDTH_MODIFIERS, is_mma

_ACTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("LDG", "LDGSTS", "UTMALDG", "UBLKCP", "UTCCP"), ("copy",)),
    **dict.fromkeys(("STG", "UTMASTG"), ("store",)),
    **dict.fromkeys(("LDTM", "LDT"), ("fragment load",)),
    "LDSM": ("fragment load", "layout conversion"),
    "STSM": ("layout conversion", "copy"),
    "MOVM": ("layout conversion",),
}
_SHARED = {
    "sass.shared_loads": ("LDS", ("layout conversion", "reduction", "fragment load")),
    "sass.shared_stores": ("STS", ("layout conversion", "reduction", "copy")),
}
_WIDTHS = {"1": ".U8", "2": ".U16", "4": "", "8": ".64", "16": ".128"}
_SHUFFLES = ("SHFL.BFLY", "SHFL.DOWN", "SHFL.UP")
_SHOWN = frozenset({*WIDTH_MODIFIERS, "E", "1D", "2D", "3D", "4D", "5D", "M88", "MT88", "1", "2", "4", "16"})
"""Modifiers that are shown: width, dimensions, kind and number of matrices; not how caches are used."""


def road(fact_id: str, key: str) -> Carrier | None:
    """What the instructions of one key carry: opcodes, and for LDS and STS the tallies without padding loads."""
    if fact_id in _SHARED:
        name, candidates = _SHARED[fact_id]
        known = key in _WIDTHS  # `16 matrix` is LDSM or STSM, which the opcodes name
        return Carrier(actions=candidates, operation=name + _WIDTHS[key]) if known else None
    if fact_id != "sass.opcodes":
        return None
    family, *modifiers = key.split(".")
    if is_mma(family):
        return Carrier(actions=("dot",), operation=family)
    if key.startswith(_SHUFFLES):
        return Carrier(actions=("reduction", "layout conversion"), operation=".".join((family, modifiers[0])))
    if family in ("REDUX", "CREDUX"):  # also how one thread of a warp is chosen
        return Carrier(actions=("reduction",), operation=family, sure=False)
    actions = _ACTIONS.get(family)
    if family == "UBLKCP" and modifiers[:2] == ["G", "S"]:
        actions = ("store",)
    if actions is None:
        return None
    return Carrier(actions=actions, operation=".".join([family, *(m for m in modifiers if m in _SHOWN)]))
