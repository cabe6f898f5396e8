"""The linear layout of a layout's text on a shape, or None where the layout is not one that is understood."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irdiff_layouts import amd, attribute, blocked, nvidia, shared, tensor_memory
from irdiff_layouts.attribute import Layout
from irdiff_layouts.linear import LayoutError, LinearLayout, bits
from irdiff_layouts.tiles import REGISTER

_DEEPEST = 8


def build(layout: Layout, shape: Sequence[int], element_bits: int = 0) -> LinearLayout:
    """The linear layout. Raises LayoutError where the layout or its parameters are not understood.

    ``element_bits`` matters to shared layouts of Triton before 3.3 only, which do not record it.
    """
    for size in shape:
        bits(size)
    return _build(layout, tuple(shape), element_bits, 0)


def _build(layout: Layout, shape: tuple[int, ...], element_bits: int, depth: int) -> LinearLayout:
    if depth > _DEEPEST:
        raise LayoutError("layouts inside layouts, too deep")
    if layout.kind == "slice":
        dim = layout.number("dim")
        if not 0 <= dim <= len(shape):
            raise LayoutError(f"a slice along {dim}")
        parent = _build(layout.layout("parent"), (*shape[:dim], 1, *shape[dim:]), element_bits, depth + 1)
        return parent.without(dim).without_repeats(REGISTER)
    if layout.kind == "dot_op":
        parent = layout.layout("parent")
        make_operand = _OPERANDS.get(parent.kind)
        if make_operand is None:
            raise LayoutError(f"an operand of {parent.kind}")
        return make_operand(layout, parent, shape)
    if layout.kind == "shared":
        if layout.flag("hasLeadingOffset"):
            return shared.hopper_before_33(layout, shape, element_bits)
        return shared.swizzled(layout, shape)
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
    "tensor_memory_encoding": tensor_memory.tensor_memory,
}
"""Layout -> how its linear form is made."""

_OPERANDS: dict[str, Callable[[Layout, Layout, Sequence[int]], LinearLayout]] = {
    "blocked": blocked.dot_operand,
    "nvidia_mma": nvidia.dot_operand,
    "amd_mfma": amd.mfma_operand,
    "amd_wmma": amd.wmma_operand,
}
"""Parent of a dot operand -> how its linear form is made."""
