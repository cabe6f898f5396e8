"""What the layouts of a kernel do: widths of accesses, reach of reductions and conversions, bank conflicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from irdiff.api import Issue
from irdiff_layouts import access, attribute, build, conflicts
from irdiff_layouts.attribute import Layout
from irdiff_layouts.linear import LayoutError, LinearLayout
from irdiff_mlir import attributes, types
from irdiff_mlir.model import Operation
from irdiff_mlir.program import Program
from irdiff_mlir.tallies import Tallies
from irdiff_ttgir import uses

UNKNOWN = "?"
_PARTS = frozenset(("ttg.memdesc_index", "ttg.memdesc_subslice"))
_MOST_VIEWS = 8
"""More views of one buffer than any kernel makes; guards against a cycle in damaged text."""
_ACCESSES = frozenset(("load", "store", "async copy"))


@lru_cache(types.MOST)
def parsed(layout: str) -> Layout | None:
    """A layout taken apart; None where it cannot be read."""
    try:
        return attribute.parse(layout)
    except LayoutError:
        return None


@lru_cache(types.MOST)
def linear(text: str) -> LinearLayout | None:
    """The linear layout of a type; None where it has none or it is not understood."""
    found = types.shaped(text) if "#" in text else None
    shape = _whole(found) if found and found.layout else None
    if found is None or shape is None:
        return None
    bits = types.element_bits(found.element) or 0 if build.needs_element(found.layout) else 0
    return _built(found.layout, shape, bits)


@lru_cache(types.MOST)
def _built(text: str, shape: tuple[int, ...], bits: int) -> LinearLayout | None:
    layout = parsed(text)
    if layout is None:
        return None
    try:
        rank = build.rank(layout)
        inner = shape[len(shape) - rank :] if rank is not None and rank < len(shape) else shape
        return build.build(layout, inner, bits)
    except LayoutError:
        return None


def _whole(found: types.Shaped) -> tuple[int, ...] | None:
    """Shape that the layout lays out: for a part of a buffer (``..., mutable, 128x64>``) that of the buffer."""
    sizes = _recorded(found) or found.shape
    if not all(size.isdigit() and len(size) < 11 for size in sizes):
        return None
    return tuple(int(size) for size in sizes)


def _recorded(found: types.Shaped) -> tuple[str, ...]:
    """Shape of the buffer, less the dimension that counts buffers, where the type records it."""
    buffer = found.parameters[-1].split("x") if found.parameters else []
    if len(buffer) < len(found.shape) or not all(size.isdigit() for size in buffer):
        return ()
    return tuple(buffer[len(buffer) - len(found.shape) :])


def count(program: Program, tallies: Tallies) -> list[Issue]:
    """Fill the tallies of :data:`irdiff_ttgir.layout_specs.LAYOUTS`; what is not understood as notes."""
    for operation in program.module.operations:
        if (describe := _DESCRIBED.get(operation.name)) is not None:
            describe(program, operation, tallies)
    return _not_understood(program, tallies)


def _access(program: Program, operation: Operation, tallies: Tallies) -> None:
    for use, text in uses.of(program, operation):
        if use not in _ACCESSES or operation.name.startswith("tt.descriptor") or not types.layout(text):
            continue
        thread, warp = _widths(text)
        tallies.add("ttgir.vector_bytes", thread, operation.index)
        tallies.add("ttgir.warp_bytes", warp, operation.index)


@lru_cache(types.MOST)
def _widths(text: str) -> tuple[str, str]:
    """Bytes that a thread and a warp access at once with a type."""
    layout, bits = linear(text), _bits(text)
    if layout is None or bits is None:
        return UNKNOWN, UNKNOWN
    return str(access.thread_bytes(layout, bits)), str(access.warp_bytes(layout, bits))


def _bits(text: str) -> int | None:
    """Bits of what is in memory: for a tensor of pointers of what they point to."""
    found = types.shaped(text)
    if found is None:
        return None
    return types.element_bits(types.pointee(found.element) or found.element)


def _reduce(program: Program, operation: Operation, tallies: Tallies) -> None:
    fields = attributes.of(operation.form.text) | attributes.of(operation.tail)
    axis = attributes.integer(fields, "axis")
    listed = types.listed(types.split(uses.section(program, operation), "->")[0])
    layout = linear(listed[0]) if listed else None
    if layout is None or axis is None or not 0 <= axis < layout.rank:
        tallies.add("ttgir.reduce_reach", UNKNOWN, operation.index)
        return
    for words in access.reach(layout, axis):
        tallies.add("ttgir.reduce_reach", words, operation.index)


def _convert(program: Program, operation: Operation, tallies: Tallies) -> None:
    sides = types.split(uses.section(program, operation), "->")
    words = _movement(*sides) if len(sides) == 2 else UNKNOWN
    tallies.add("ttgir.conversion_reach", words, operation.index)


@lru_cache(types.MOST)
def _movement(before: str, after: str) -> str:
    """How far data moves between two types."""
    source, target = linear(before), linear(after)
    if source is None or target is None or source.sizes != target.sizes:
        return UNKNOWN
    return access.movement(source, target)


def _share(program: Program, operation: Operation, tallies: Tallies) -> None:
    sides = types.split(uses.section(program, operation), "->")
    pair = sides if operation.name != "ttg.local_load" else sides[::-1]
    if len(pair) != 2 or not (listed := types.listed(pair[0])):
        return  # an allocation without a first value
    key = _ways(listed[0], _buffer(program, operation, pair[1]))
    tallies.add("ttgir.bank_conflicts", key, operation.index)


@lru_cache(types.MOST)
def _ways(tensor: str, memory: str) -> str:
    """Bank conflicts of an access with a type of values in registers and one of a buffer."""
    registers, buffer, bits = linear(tensor), linear(memory), _bits(tensor)
    if registers is None or buffer is None or bits is None:
        return UNKNOWN
    layout = parsed(types.layout(tensor))
    fragments = (
        layout is not None
        and layout.kind == "dot_op"
        and layout.layout("parent").kind == "nvidia_mma"
        and bits == 16
    )
    try:
        return str(conflicts.ways(registers, buffer, bits, matrix=fragments))
    except LayoutError:
        return UNKNOWN


def _buffer(program: Program, operation: Operation, text: str) -> str:
    """Type of the buffer that a view is part of: before Triton 3.3 the view's own type does not record its shape."""
    view = operation
    for _ in range(_MOST_VIEWS):
        operands = program.operands[view.index]
        position = 1 if view.name == "ttg.local_store" else 0
        definer = program.definer(operands[position]) if len(operands) > position else None
        if definer is None or definer.name not in _PARTS:
            break
        view, text = definer, _wider(text, types.split(uses.section(program, definer), "->")[0])
    return text


def _wider(part: str, whole: str) -> str:
    """The type of the whole, less the dimension that counts buffers; the part where nothing was left out."""
    inside, outside = types.shaped(part), types.shaped(whole)
    if inside is None or outside is None or len(outside.shape) < len(inside.shape):
        return part
    shape = outside.shape[len(outside.shape) - len(inside.shape) :]
    if shape == inside.shape or not inside.layout or _recorded(inside):
        return part
    return f"!ttg.memdesc<{'x'.join(shape)}x{inside.element}, {inside.layout}>"


def _not_understood(program: Program, tallies: Tallies) -> list[Issue]:
    """Counts values whose layout is not understood, and says so once."""
    known = {
        found: kinds
        for found in set(program.types)
        if found and (kinds := tuple([kind for text in found if (kind := _unknown(text))]))
    }
    if not known:
        return []
    first: dict[str, int] = {}
    for operation, found in zip(program.module.operations, program.types, strict=True):
        for kind in known.get(found or (), ()):
            tallies.add("ttgir.unknown_layouts", kind, operation.index)
            first.setdefault(kind, operation.line)
    return [
        Issue(
            severity="note",
            code="unknown-layout",
            message=f"layouts kept as text, what they do is not understood: {', '.join(sorted(first))}",
            line=min(first.values()),
        )
    ]


@lru_cache(types.MOST)
def _unknown(text: str) -> str:
    """Kind of the layout of a type where it has one and it is not understood."""
    layout = types.layout(text) if "#" in text else ""
    return layout.partition("<")[0] if layout and linear(text) is None else ""


_DESCRIBED: dict[str, Callable[[Program, Operation, Tallies], None]] = {
    **dict.fromkeys(uses.MOVING, _access),
    "ttg.convert_layout": _convert,
    "tt.reduce": _reduce,
    "ttg.local_load": _share,
    "ttg.local_store": _share,
    "ttg.local_alloc": _share,
}
"""Operation -> what counts it."""
