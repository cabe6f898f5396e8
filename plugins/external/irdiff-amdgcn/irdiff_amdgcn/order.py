"""Which lines of canonical assembly a scheduler may move, and what keys of tallies do on the road of a kernel."""

from __future__ import annotations

from irdiff.api import Carrier

from irdiff_amdgcn.classes import class_of

FIXED = frozenset({"barrier", "control", "wait", "unclassified"})
"""Classes of instructions that a scheduler moves nothing across."""
_ACCESSES = {
    ("load", False): ("copy",),
    ("store", False): ("store",),
    ("load", True): ("layout conversion", "reduction", "fragment load"),
    ("store", True): ("layout conversion", "reduction", "copy"),
}
_EXCHANGES = ("ds_bpermute", "ds_swizzle", "v_permlane", "v_mov_b32")


def order_free(line: str) -> bool:
    """True for an instruction that is no label, branch, wait or barrier."""
    opcode = line.partition(" ")[0]
    return (
        not opcode.endswith(":")
        and not opcode.startswith((".", "metadata", "amdhsa", "entry"))
        and class_of(opcode) not in FIXED
    )


def road(fact_id: str, key: str) -> Carrier | None:
    """What the instructions of one key of a tally carry."""
    if fact_id == "amdgcn.accesses":
        space, direction, size = key.split(" ")
        if space == "scratch":
            return None
        actions = _ACCESSES[direction, space == "ds"]
        return Carrier(actions=actions, operation=f"{space}_{direction} {size} B")
    if fact_id == "amdgcn.mma":
        return Carrier(actions=("dot",), operation=key.split(" ", maxsplit=1)[0])
    if fact_id == "amdgcn.async_copies":
        return Carrier(actions=("copy",), operation=f"{key} B to LDS")
    if fact_id == "amdgcn.cross_lane" and key.startswith(_EXCHANGES):
        return Carrier(actions=("reduction", "layout conversion"), operation=key.split(" ", maxsplit=1)[0])
    return None
