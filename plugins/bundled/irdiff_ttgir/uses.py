"""Which layouts an operation touches, and for what."""

from __future__ import annotations

from collections.abc import Iterator

from irdiff_mlir import accesses, results, types
from irdiff_mlir.model import Operation
from irdiff_mlir.program import Program

ASYNC_COPIES = frozenset(("ttg.async_copy_global_to_local", "amdg.buffer_load_to_local"))
_DESCRIPTOR_LOADS = frozenset(("tt.descriptor_load", "tt.descriptor_gather"))
_DESCRIPTOR_STORES = frozenset(("tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce"))
_ARROWS = {
    "ttg.local_load": ("shared load", -1),
    "ttg.local_store": ("shared store", 0),
    "ttng.tmem_load": ("tensor memory load", -1),
}
"""Operation -> (use, side of the arrow on which the tensor is)."""
MOVING = frozenset(
    (
        *accesses.LOADS,
        *accesses.STORES,
        *accesses.ATOMICS,
        *accesses.DOTS,
        *ASYNC_COPIES,
        *_DESCRIPTOR_LOADS,
        *_DESCRIPTOR_STORES,
        *_ARROWS,
        "tt.reduce",
        "tt.scan",
    )
)
"""Operations that :func:`of` knows."""


def section(program: Program, operation: Operation) -> str:
    """The types an operation prints, aliases resolved."""
    return program.text(results.type_section(operation))


def of(program: Program, operation: Operation) -> Iterator[tuple[str, str]]:
    """(use, type) of the tensors and buffers that an operation moves or computes with."""
    name = operation.name
    found = program.types[operation.index]
    if name in accesses.LOADS or name in _DESCRIPTOR_LOADS:
        yield "load", found[0] if found else ""
    elif name in accesses.STORES:
        yield "store", types.split(section(program, operation))[0]
    elif name in _DESCRIPTOR_STORES:
        yield "store", types.split(section(program, operation))[-1]
    elif name in accesses.ATOMICS:
        yield "atomic", found[0] if found else ""
    elif name in ASYNC_COPIES:
        yield "async copy", types.split(section(program, operation), "->")[0]
    elif name in accesses.DOTS and (dot := accesses.dot_types(program, operation)):
        yield from zip(("dot A", "dot B", "dot result"), dot, strict=True)
    elif name in ("tt.reduce", "tt.scan"):
        for text in types.listed(types.split(section(program, operation), "->")[0]):
            yield name.partition(".")[2], text
    elif name in _ARROWS:
        use, side = _ARROWS[name]
        yield use, types.split(section(program, operation), "->")[side]
