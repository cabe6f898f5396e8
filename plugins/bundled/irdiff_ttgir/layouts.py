"""What the layouts of a kernel do: widths of accesses, reach of reductions and conversions, bank conflicts."""

from __future__ import annotations

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


class Layouts:
    """Linear layouts of types, each made once; for one artifact."""

    def __init__(self) -> None:
        self._parsed: dict[str, Layout | None] = {}
        self._made: dict[tuple[str, tuple[int, ...], int], LinearLayout | None] = {}
        self._types: dict[str, LinearLayout | None] = {}

    def parsed(self, layout: str) -> Layout | None:
        """A layout taken apart; None where it cannot be read."""
        if layout not in self._parsed:
            try:
                self._parsed[layout] = attribute.parse(layout)
            except LayoutError:
                self._parsed[layout] = None
        return self._parsed[layout]

    def of(self, text: str) -> LinearLayout | None:
        """The linear layout of a type; None where it has none or it is not understood."""
        if text not in self._types:
            found = types.shaped(text) if "#" in text else None
            shape = _whole(found) if found and found.layout else None
            self._types[text] = self._make(found, shape) if found and shape is not None else None
        return self._types[text]

    def _make(self, found: types.Shaped, shape: tuple[int, ...]) -> LinearLayout | None:
        bits = types.element_bits(found.element) or 0 if build.needs_element(found.layout) else 0
        key = (found.layout, shape, bits)
        if key not in self._made:
            self._made[key] = self._built(found.layout, shape, bits)
        return self._made[key]

    def _built(self, text: str, shape: tuple[int, ...], bits: int) -> LinearLayout | None:
        layout = self.parsed(text)
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
    layouts = Layouts()
    for operation in program.module.operations:
        name = operation.name
        if name == "ttg.convert_layout":
            _convert(program, operation, tallies, layouts)
        elif name == "tt.reduce":
            _reduce(program, operation, tallies, layouts)
        elif name in ("ttg.local_load", "ttg.local_store", "ttg.local_alloc"):
            _share(program, operation, tallies, layouts)
        elif name.startswith(("tt.", "ttg.", "amdg.")):
            _access(program, operation, tallies, layouts)
    return _not_understood(program, tallies, layouts)


def _access(program: Program, operation: Operation, tallies: Tallies, layouts: Layouts) -> None:
    for use, text in uses.of(program, operation):
        if use not in _ACCESSES or operation.name.startswith("tt.descriptor") or not types.layout(text):
            continue
        layout, bits = layouts.of(text), _bits(text)
        thread = warp = UNKNOWN
        if layout is not None and bits is not None:
            thread, warp = str(access.thread_bytes(layout, bits)), str(access.warp_bytes(layout, bits))
        tallies.add("ttgir.vector_bytes", thread, operation.index)
        tallies.add("ttgir.warp_bytes", warp, operation.index)


def _bits(text: str) -> int | None:
    """Bits of what is in memory: for a tensor of pointers of what they point to."""
    found = types.shaped(text)
    if found is None:
        return None
    return types.element_bits(types.pointee(found.element) or found.element)


def _reduce(program: Program, operation: Operation, tallies: Tallies, layouts: Layouts) -> None:
    fields = attributes.of(operation.head) | attributes.of(operation.tail)
    axis = attributes.integer(fields, "axis")
    listed = types.listed(types.split(uses.section(program, operation), "->")[0])
    layout = layouts.of(listed[0]) if listed else None
    if layout is None or axis is None or not 0 <= axis < layout.rank:
        tallies.add("ttgir.reduce_reach", UNKNOWN, operation.index)
        return
    for words in access.reach(layout, axis):
        tallies.add("ttgir.reduce_reach", words, operation.index)


def _convert(program: Program, operation: Operation, tallies: Tallies, layouts: Layouts) -> None:
    sides = types.split(uses.section(program, operation), "->")
    before, after = (layouts.of(sides[0]), layouts.of(sides[1])) if len(sides) == 2 else (None, None)
    words = UNKNOWN
    if before is not None and after is not None and before.sizes == after.sizes:
        words = access.movement(before, after)
    tallies.add("ttgir.conversion_reach", words, operation.index)


def _share(program: Program, operation: Operation, tallies: Tallies, layouts: Layouts) -> None:
    sides = types.split(uses.section(program, operation), "->")
    pair = sides if operation.name != "ttg.local_load" else sides[::-1]
    if len(pair) != 2 or not (listed := types.listed(pair[0])):
        return  # an allocation without a first value
    registers, buffer = layouts.of(listed[0]), layouts.of(_buffer(program, operation, pair[1]))
    bits = _bits(listed[0])
    key = UNKNOWN
    if registers is not None and buffer is not None and bits is not None:
        parsed = layouts.parsed(types.layout(listed[0]))
        fragments = (
            parsed is not None
            and parsed.kind == "dot_op"
            and parsed.layout("parent").kind == "nvidia_mma"
            and bits == 16
        )
        try:
            key = str(conflicts.ways(registers, buffer, bits, matrix=fragments))
        except LayoutError:
            key = UNKNOWN
    tallies.add("ttgir.bank_conflicts", key, operation.index)


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


def _not_understood(program: Program, tallies: Tallies, layouts: Layouts) -> list[Issue]:
    """Counts values whose layout is not understood, and says so once."""
    kinds: dict[str, str] = {}
    first: dict[str, int] = {}
    for operation in program.module.operations:
        for text in program.types[operation.index] or ():
            if "#" not in text:
                continue
            if text not in kinds:
                layout = types.layout(text)
                kinds[text] = layout.partition("<")[0] if layout and layouts.of(text) is None else ""
            if kind := kinds[text]:
                tallies.add("ttgir.unknown_layouts", kind, operation.index)
                first.setdefault(kind, operation.line)
    return (
        [
            Issue(
                severity="note",
                code="unknown-layout",
                message=f"layouts kept as text, what they do is not understood: {', '.join(sorted(first))}",
                line=min(first.values()),
            )
        ]
        if first
        else []
    )
