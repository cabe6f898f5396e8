"""What LLVM IR does on the road of a kernel: calls of intrinsics, inline assembly, memory operations."""

from __future__ import annotations

from irdiff.api import Carrier

_SHARED_LOAD = ("layout conversion", "reduction", "fragment load")
_SHARED_STORE = ("layout conversion", "reduction", "copy")
_CALLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("mma.sync", ("dot",)),
    ("wgmma.mma_async", ("dot",)),
    ("tcgen05.mma", ("dot",)),
    ("llvm.amdgcn.mfma", ("dot",)),
    ("llvm.amdgcn.smfmac", ("dot",)),
    ("llvm.amdgcn.wmma", ("dot",)),
    ("cp.async.bulk.tensor", ("copy", "store")),
    ("cp.async.cg", ("copy",)),
    ("cp.async.ca", ("copy",)),
    ("ld.global", ("copy",)),
    ("st.global", ("store",)),
    ("llvm.nvvm.ldmatrix", ("fragment load", "layout conversion")),
    ("ldmatrix", ("fragment load", "layout conversion")),
    ("llvm.nvvm.stmatrix", ("layout conversion", "copy")),
    ("stmatrix", ("layout conversion", "copy")),
    ("tcgen05.ld", ("fragment load",)),
    ("tcgen05.cp", ("copy",)),
    ("ld.shared", _SHARED_LOAD),
    ("st.shared", _SHARED_STORE),
    ("llvm.nvvm.shfl.sync.bfly", ("reduction", "layout conversion")),
    ("llvm.nvvm.shfl.sync.down", ("reduction", "layout conversion")),
    ("llvm.nvvm.shfl.sync.up", ("reduction", "layout conversion")),
    ("llvm.nvvm.redux", ("reduction",)),
    ("llvm.amdgcn.raw.ptr.buffer.load", ("copy",)),
    ("llvm.amdgcn.raw.ptr.buffer.store", ("store",)),
)
_MEMORY = {
    "load addrspace(1)": ("copy",),
    "store addrspace(1)": ("store",),
    "load addrspace(3)": _SHARED_LOAD,
    "store addrspace(3)": _SHARED_STORE,
}


def road(fact_id: str, key: str) -> Carrier | None:
    """What the calls or memory operations of one key carry."""
    if fact_id == "llir.memory":
        actions = _MEMORY.get(" ".join(key.split(" ")[:2]))
        return Carrier(actions=actions, operation=key) if actions else None
    if fact_id not in ("llir.inline_asm", "llir.intrinsics"):
        return None
    found = next(((name, actions) for name, actions in _CALLS if key.startswith(name)), None)
    if found is None:
        return None
    size = key.rpartition(" ")[2] if " " in key else ""
    shown = key if found[0].startswith(("ld.", "st.")) else f"{found[0]} {size}".rstrip()
    return Carrier(actions=found[1], operation=shown)
