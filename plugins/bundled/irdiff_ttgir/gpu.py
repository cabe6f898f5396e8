"""Counts what TTGIR adds to a tile program: layouts, shared memory, asynchronous copies, matrix units."""

from __future__ import annotations

import re
from functools import lru_cache

from irdiff.api import Fact
from irdiff_mlir import accesses, attributes, types
from irdiff_mlir.model import Operation
from irdiff_mlir.program import Operand, Program
from irdiff_mlir.tallies import Tallies
from irdiff_ttgir import uses

SYNC_LOADS = "ttgir.sync_loads_in_loop"

_TMA_LOADS = frozenset(("ttng.async_tma_copy_global_to_local", "ttng.async_tma_gather"))
_WAITS = {
    "ttg.async_wait": ("", "num"),
    "amdg.async_wait": ("amdg ", "num_inst"),
    "ttng.warp_group_dot_wait": ("warp_group_dot ", "pendings"),
    "ttng.async_tma_store_wait": ("tma_store ", "pendings"),
}
"""Operation -> (words before, attribute)."""
_LOADS = accesses.LOADS | {"tt.descriptor_load", "tt.descriptor_gather"}
_VIEWS = frozenset(
    (
        "ttg.memdesc_index",
        "ttg.memdesc_subslice",
        "ttg.memdesc_trans",
        "ttg.memdesc_reshape",
        "ttg.memdesc_reinterpret",
    )
)
_PARENT = re.compile(r"parent = (#.*)")
_PARAMETER = re.compile(r"(\w+) = (\[[^\]]*\]|[\w.]+)")
_MAX_VIEWS = 32
"""More views of one allocation than any kernel makes; guards against a cycle in damaged text."""


def count(program: Program, tallies: Tallies) -> None:
    """Fill the tallies of :data:`irdiff_ttgir.specs.GPU`."""
    known = {found: _layouts(found) for found in set(program.types) if found}
    tallies.add_all(
        "ttgir.layouts",
        [(layout, index) for index, found in enumerate(program.types) if found for layout in known[found]],
    )
    for operation in program.module.operations:
        if operation.name in _COUNTED or operation.name.startswith("ttng.async_tma_"):
            _count(program, operation, tallies)


@lru_cache(types.MOST)
def _layouts(found: tuple[str, ...]) -> tuple[str, ...]:
    """Layouts of the types that have one."""
    return tuple([layout for text in found if "#" in text and (layout := types.layout(text))])


def shared_bytes(program: Program) -> list[Fact]:
    """Bytes of all shared allocations; no value where the size of one is not known."""
    total = 0
    lines: list[int] = []
    for operation in program.module.operations:
        if operation.name != "ttg.local_alloc":
            continue
        found = types.shaped((program.types[operation.index] or ("",))[0])
        bits = found.bits if found else None
        if bits is None:
            return []
        total += (bits + 7) // 8
        lines.append(operation.line)
    return [Fact(id="ttgir.shared_alloc_bytes", value=total, evidence={"": tuple(lines)} if lines else {})]


def _count(program: Program, operation: Operation, tallies: Tallies) -> None:
    name, index = operation.name, operation.index
    for use, text in uses.of(program, operation):
        if layout := types.layout(text):
            tallies.add("ttgir.layout_by_use", f"{use} {layout}", index)
    for operations, tally, describe in _DESCRIBED:
        if name in operations:
            tallies.add(tally, describe(program, operation), index)
    if name in _LOADS and program.scopes[index]:
        tallies.add(SYNC_LOADS, "", index)
    elif (name.startswith("ttng.async_tma_") and name not in _WAITS) or name == "ttng.tensormap_create":
        tallies.add("ttgir.tma", _tma(program, operation), index)
        if name in _TMA_LOADS:
            tallies.add("ttgir.pipeline_depth", _depth(program, operation, -1), index)
    elif name in uses.ASYNC_COPIES:
        tallies.add("ttgir.async_copies", _copy(program, operation), index)
        position = 1 if name == "ttg.async_copy_global_to_local" else -1
        tallies.add("ttgir.pipeline_depth", _depth(program, operation, position), index)


def _conversion(program: Program, operation: Operation) -> str:
    """``64x64xf16 #from -> #to``."""
    sides = types.split(uses.section(program, operation), "->")
    if len(sides) != 2:
        return "?"
    return f"{types.tile(sides[0])} {types.layout(sides[0])} -> {types.layout(sides[1])}"


def _buffer(program: Program, operation: Operation) -> str:
    """``2x64x32xf16 #layout``."""
    found = types.shaped((program.types[operation.index] or ("",))[0])
    return f"{found.text} {found.layout}".rstrip() if found else "?"


def _copy(program: Program, operation: Operation) -> str:
    """``64x32xf16, masked, other, contiguity 8``."""
    section = types.split(uses.section(program, operation), "->")[0]
    before = types.split(" " + operation.form.text, " : ")[0]
    masked = ["masked"] if " mask " in before or "mask=" in before else []
    other = ["other"] if " other " in before else []
    words = [
        f"{key} {attributes.plain(value)}"
        for key, value in sorted(attributes.of(operation.form.text).items())
        if "." not in key and not key.endswith("SegmentSizes") and value != "false"
    ]
    pointer = types.tile(types.split(section)[0])
    return ", ".join((pointer, *masked, *other, *words))


def _tma(program: Program, operation: Operation) -> str:
    """``async_tma_copy_global_to_local 64x64xf16``: operation and block in shared memory."""
    kind = operation.name.partition(".")[2]
    section = uses.section(program, operation)
    fields = attributes.of(operation.form.text)
    words = [f"{key} {attributes.plain(value)}" for key, value in sorted(fields.items()) if "." not in key]
    blocks = [
        types.tile(text)
        for side in types.split(section, "->")
        for text in types.listed(side)
        if text.startswith("!ttg.memdesc<") and not types.tile(text).endswith("xi64")
    ]
    return ", ".join((" ".join((kind, *blocks[-1:])), *words))


def _depth(program: Program, operation: Operation, position: int) -> str:
    """Buffers of the allocation that a copy writes to."""
    operands = program.operands[operation.index]
    destination = _destination(program, operation, operands, position)
    for _ in range(_MAX_VIEWS):
        definer = program.definer(destination) if destination else None
        if definer is None:
            break
        if definer.name == "ttg.local_alloc":
            return _buffers(program, operation, definer)
        inputs = program.operands[definer.index]
        if definer.name not in _VIEWS or not inputs:
            break
        destination = inputs[0]
    return "?"


def _destination(
    program: Program, operation: Operation, operands: tuple[Operand, ...], position: int
) -> Operand | None:
    """The operand that is written to: given by position, or for TMA the first tile in shared memory."""
    if position >= 0:
        return operands[position] if position < len(operands) else None
    for operand in operands[1:]:
        definer = program.definer(operand)
        if definer is None or not (found := program.types[definer.index]):
            continue
        kind = found[min(operand.result, len(found) - 1)]
        if kind.startswith("!ttg.memdesc<") and not types.tile(kind).endswith("xi64"):
            return operand
    return None


def _buffers(program: Program, operation: Operation, allocation: Operation) -> str:
    """First size of the allocation where it has one more than what is copied, else 1."""
    whole = types.shaped((program.types[allocation.index] or ("",))[0])
    sides = types.split(uses.section(program, operation), "->")
    part = types.shaped(sides[-1])
    if whole is None or part is None:
        return "?"
    return whole.shape[0] if len(whole.shape) > len(part.shape) else "1"


def _mma(program: Program, operation: Operation) -> str:
    """``warp_group_dot nvidia_mma version 3.0 instrShape [16, 64, 16] …, f16 * f16 -> f32, A shared, B shared``."""
    kind = operation.name.partition(".")[2]
    found = accesses.dot_types(program, operation)
    if found is None:
        return f"{kind} ?"
    elements = [_element(text) for text in found]
    unit = _unit(types.layout(found[2]))
    asynchronous = "isAsync = true" in operation.head or "is_async" in operation.head
    words = (
        f"{kind} {unit}",
        f"{elements[0]} * {elements[1]} -> {elements[2]}",
        f"A {_home(found[0])}",
        f"B {_home(found[1])}",
        *accesses.precision(program, operation),
        *(["async"] if asynchronous else []),
    )
    return ", ".join(words)


def _mma_types(program: Program, operation: Operation) -> str:
    """``f16 * f16 -> f32``; the precision of products where it is one of f32 operands, or limits the sum."""
    found = accesses.dot_types(program, operation)
    if found is None:
        return "?"
    elements = [_element(text) for text in found]
    words = accesses.precision(program, operation)
    if elements[0] != "f32":  # Triton writes it for every dot
        words = [word for word in words if " " in word]
    return ", ".join((f"{elements[0]} * {elements[1]} -> {elements[2]}", *words))


def _wait(_: Program, operation: Operation) -> str:
    """``num = 0``."""
    words, attribute = _WAITS[operation.name]
    number = attributes.integer(attributes.of(operation.form.text), attribute)
    return f"{words}{attribute} = {'?' if number is None else number}"


def _element(text: str) -> str:
    found = types.shaped(text)
    return found.element if found else text


def _home(text: str) -> str:
    """Where an operand is when it is multiplied."""
    if not text.startswith("!ttg.memdesc<"):
        return "registers"
    return "tensor memory" if "tensor_memory" in text else "shared"


def _unit(layout: str) -> str:
    """``nvidia_mma version 2.0 instrShape [16, 8] warpsPerCTA [2, 2]`` of the result's layout."""
    parent = _PARENT.search(layout)
    name, _, body = (parent[1] if parent else layout).lstrip("#").partition("<")
    kind = name.rpartition(".")[2]
    parameters = dict(_PARAMETER.findall(body))
    major = parameters.pop("versionMajor", None)
    minor = parameters.pop("versionMinor", None)
    version = parameters.pop("version", None) or (None if major is None else f"{major}.{minor or 0}")
    words = [kind, *([f"version {version}"] if version is not None else [])]
    if kind in ("blocked", "linear"):
        return kind  # no matrix unit: its layout is in ttgir.layouts
    return " ".join((*words, *(f"{key} {value}" for key, value in sorted(parameters.items()))))


_DESCRIBED = (
    (accesses.DOTS, "ttgir.mma", _mma),
    (accesses.DOTS, "ttgir.mma_types", _mma_types),
    (frozenset(("ttg.convert_layout",)), "ttgir.convert_layouts", _conversion),
    (frozenset(("ttg.local_alloc",)), "ttgir.shared_allocs", _buffer),
    (frozenset(("ttng.tmem_alloc",)), "ttgir.tmem_allocs", _buffer),
    (frozenset(_WAITS), "ttgir.async_waits", _wait),
)
"""(operations, tally, how its key is made)."""
_COUNTED = uses.MOVING.union(
    _LOADS, ("ttng.tensormap_create",), *(operations for operations, *_ in _DESCRIBED)
)
"""Operations that are counted, with all whose names begin with ``ttng.async_tma_``."""
