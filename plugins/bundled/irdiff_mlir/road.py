"""What operations of the tile dialects do on the road of a kernel: dialect names as the newest Triton has them."""

from __future__ import annotations

from irdiff.api import Carrier

_CARRIED = {
    "copy": (
        "tt.load tt.descriptor_load tt.descriptor_gather ttg.async_copy_global_to_local "
        "ttng.async_tma_copy_global_to_local ttng.async_tma_gather amdg.buffer_load amdg.buffer_load_to_local"
    ),
    "fragment load": "ttg.local_load ttng.tmem_load amdg.local_load_packed_tranposed",
    "dot": "tt.dot tt.dot_scaled ttng.warp_group_dot ttng.tc_gen5_mma ttng.tc_gen5_mma_scaled",
    "layout conversion": "ttg.convert_layout",
    "reduction": "tt.reduce tt.scan",
    "store": (
        "tt.store tt.descriptor_store tt.descriptor_scatter tt.descriptor_reduce ttng.async_tma_copy_local_to_global "
        "ttng.async_tma_scatter amdg.buffer_store"
    ),
}
CARRIERS = {
    name: Carrier(actions=(action,), operation=name)
    for action, names in _CARRIED.items()
    for name in names.split()
}
"""By the full name of the operation."""


def road(fact_id: str, key: str) -> Carrier | None:
    """What an operation carries; only the tally of operations is looked at."""
    return CARRIERS.get(key) if fact_id.endswith(".ops") else None
