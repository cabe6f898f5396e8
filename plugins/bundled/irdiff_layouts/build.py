"""The linear layout of a layout's text on a shape, or None where the layout is not one that is understood."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irdiff_layouts import amd, blocked, nvidia, shared, tensor_memory
from irdiff_layouts.attribute import Layout
from irdiff_layouts.linear import LayoutError, LinearLayout, bits
from irdiff_layouts.tiles import REGISTER

_DEEPEST = 8


def build(layout: Layout, shape: Sequence[int], element_bits: int = 0) -> LinearLayout:
    """The linear layout. Raises LayoutError where the layout or its parameters are not understood.

    ``element_bits`` matters only to layouts of Triton before 3.4 that do not record it: :func:`needs_element`.
    """
    if not shape:
        raise LayoutError("a layout of a scalar")
    for size in shape:
        bits(size)
    return _build(layout, tuple(shape), element_bits, 0)


def needs_element(text: str) -> bool:
    """Whether the layout depends on the size of an element."""
    return "hasLeadingOffset = true" in text or "unpacked = true" in text


def rank(layout: Layout) -> int | None:
    """Dimensions of what it lays out; None where it fits any. A buffer of several has one more in front."""
    if layout.kind == "slice":
        inner = rank(layout.layout("parent"))
        return None if inner is None else inner - 1
    if layout.kind == "dot_op":
        return rank(layout.layout("parent"))
    for name in ("order", "warpsPerCTA", "CTAOrder"):
        if name in layout.fields:
            return len(layout.numbers(name))
    for name in ("offset", "register", "lane", "CGALayout"):
        for basis in layout.rows(name):
            return len(basis)
    return layout.number("rank", 2) if layout.kind in _MATRICES else None


def _build(layout: Layout, shape: tuple[int, ...], element_bits: int, depth: int) -> LinearLayout:
    if depth > _DEEPEST:
        raise LayoutError("layouts inside layouts, too deep")
    if layout.kind == "slice":
        dim = layout.number("dim")
        if not 0 <= dim <= len(shape):
            raise LayoutError(f"a slice along {dim}")
        whole = _build(layout.layout("parent"), (*shape[:dim], 1, *shape[dim:]), element_bits, depth + 1)
        return whole.without(dim).without_repeats(REGISTER)
    if layout.kind == "dot_op":
        parent = layout.layout("parent")
        make_operand = _OPERANDS.get(parent.kind)
        if make_operand is None or layout.number("opIdx") not in (0, 1):
            raise LayoutError(f"an operand of {parent.kind}")
        return make_operand(layout, parent, shape)
    if layout.kind == "shared":
        if layout.flag("hasLeadingOffset"):
            return shared.hopper_before_33(layout, shape, element_bits)
        return shared.swizzled(layout, shape)
    if layout.kind == "tensor_memory_encoding":
        return tensor_memory.tensor_memory(layout, shape, element_bits)
    make = _KINDS.get(layout.kind)
    if make is None:
        raise LayoutError(f"the layout {layout.kind} is not known")
    return make(layout, shape)


def _rotating(layout: Layout, shape: Sequence[int]) -> LinearLayout:
    return shared.swizzled(layout, shape, rotating=True)


_KINDS: dict[str, Callable[[Layout, Sequence[int]], LinearLayout]] = {
    "blocked": blocked.blocked,
    "linear": blocked.linear,
    "nvidia_mma": nvidia.mma,
    "amd_mfma": amd.mfma,
    "amd_wmma": amd.wmma,
    "swizzled_shared": shared.swizzled,
    "amd_rotating_shared": _rotating,
    "nvmma_shared": shared.nvmma,
    "shared_linear": shared.linear,
    "padded_shared": shared.padded,
    "tensor_memory_scales_encoding": tensor_memory.scales,
}
"""Layout -> how its linear form is made."""

_MATRICES = frozenset(("nvmma_shared", "tensor_memory_encoding", "tensor_memory_scales_encoding"))
"""Layouts of two dimensions where they do not say otherwise."""

_OPERANDS: dict[str, Callable[[Layout, Layout, Sequence[int]], LinearLayout]] = {
    "blocked": blocked.dot_operand,
    "nvidia_mma": nvidia.dot_operand,
    "amd_mfma": amd.mfma_operand,
    "amd_wmma": amd.wmma_operand,
}
"""Parent of a dot operand -> how its linear form is made."""
