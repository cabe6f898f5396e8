"""What PTX instructions do on the road of a kernel through the stages."""

from __future__ import annotations

from irdiff.api import Carrier

_SHARED = {
    "ptx.shared_loads": ("ld.shared", ("layout conversion", "reduction", "fragment load")),
    "ptx.shared_stores": ("st.shared", ("layout conversion", "reduction", "copy")),
}
_GLOBAL = {"ptx.global_loads": ("ld.global", "copy"), "ptx.global_stores": ("st.global", "store")}
_MOVES = {
    "ldmatrix": ("fragment load", "layout conversion"),
    "stmatrix": ("layout conversion", "copy"),
    "movmatrix": ("layout conversion",),
    "wmma.load": ("fragment load",),
    "tcgen05.ld": ("fragment load",),
    "tcgen05.cp": ("copy",),
}
_SHUFFLES = ("shfl.sync.bfly", "shfl.sync.down", "shfl.sync.up")


def road(fact_id: str, key: str) -> Carrier | None:
    """What the instructions of one key of a tally carry."""
    words = key.split(".")
    if fact_id in _GLOBAL:
        name, action = _GLOBAL[fact_id]
        return Carrier(actions=(action,), operation=f"{name} {key} B")
    if fact_id in _SHARED:
        name, actions = _SHARED[fact_id]
        return Carrier(actions=actions, operation=f"{name} {key} B")
    if fact_id == "ptx.mma":
        return Carrier(actions=("dot",), operation=".".join(words[:2]))
    if fact_id == "ptx.async_copies":
        return _copy(key, words)
    if fact_id == "ptx.matrix_moves":
        return _matrix_move(words)
    if fact_id == "ptx.opcodes" and key.startswith(_SHUFFLES):
        return Carrier(actions=("reduction", "layout conversion"), operation=".".join(words[:3]))
    if fact_id == "ptx.opcodes" and words[0] == "redux":
        return Carrier(actions=("reduction",), operation=".".join(words[:2]))
    return None


def _copy(key: str, words: list[str]) -> Carrier | None:
    """``cp.async.cg 16``; ``cp.async.bulk.tensor.2d``, which writes global memory where that is named first."""
    if words[2:3] != ["bulk"]:
        return Carrier(actions=("copy",), operation=" ".join(key.split(" ")[:2]))
    if "prefetch" in words:
        return None
    spaces = [word.partition("::")[0] for word in words if word.partition("::")[0] in ("global", "shared")]
    named = ".".join(words[:5] if "tensor" in words else words[:3])
    return Carrier(actions=("store" if spaces[:1] == ["global"] else "copy",), operation=named)


def _matrix_move(words: list[str]) -> Carrier | None:
    name = words[0] if words[0] in _MOVES else ".".join(words[:2])
    actions = _MOVES.get(name)
    if actions is None:
        return None
    size = [word for word in words if word in ("x1", "x2", "x4", "trans")]
    return Carrier(actions=actions, operation=".".join([name, *size]) if "." not in name else name)
