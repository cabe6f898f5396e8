"""The facts ``addresses`` and ``masks``: where each access goes, and which of its elements take part."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache

from irdiff.api import Fact
from irdiff_mlir import evaluation, expressions, forms, results, scalars, types
from irdiff_mlir.evaluation import Given
from irdiff_mlir.expressions import Value
from irdiff_mlir.forms import Form
from irdiff_mlir.model import Operation
from irdiff_mlir.program import Program

_POINTER = {
    "tt.load": 0,
    "tt.store": 0,
    "tt.atomic_rmw": 0,
    "tt.atomic_cas": 0,
    "tt.atomic_poll": 0,
    "amdg.masked_load": 0,
    "amdg.masked_store": 0,
    "ttg.async_copy_global_to_local": 0,
    "amdg.buffer_load": 0,
    "amdg.buffer_load_to_local": 0,
    "amdg.buffer_store": 1,
    "amdg.buffer_atomic_rmw": 1,
}
"""Operation -> which operand is its pointer; a buffer operation has its offsets behind it."""
_MASK = {
    "tt.load": 1,
    "tt.store": 2,
    "tt.atomic_rmw": 2,
    "amdg.masked_load": 1,
    "amdg.masked_store": 2,
    "amdg.buffer_load": 2,
    "amdg.buffer_store": 3,
    "amdg.buffer_atomic_rmw": 3,
}
"""Operation -> which operand is its mask, where there are so many; ``other`` follows it in a load."""
_LOADS = frozenset(("tt.load", "amdg.masked_load", "amdg.buffer_load"))
_DESCRIBED = frozenset(
    (
        "tt.descriptor_load",
        "tt.descriptor_store",
        "tt.descriptor_reduce",
        "tt.descriptor_gather",
        "tt.descriptor_scatter",
        "ttng.async_tma_copy_global_to_local",
        "ttng.async_tma_copy_local_to_global",
        "ttng.async_tma_reduce",
        "ttng.async_tma_gather",
        "ttng.async_tma_scatter",
    )
)
ACCESSES = frozenset(_POINTER) | _DESCRIBED
"""Operations that the two facts are about."""

_INDEX = re.compile(r"[^\[\]]*\[([^\[\]]*)\]")
_VALUE = re.compile(r"%[\w$.#-]+")
_END_OF_VALUES = re.compile(r"[{=]| : ")


def facts(stage: str, program: Program) -> list[Fact]:
    """Both facts, for the whole kernel and each loop."""
    given = evaluation.accesses(program, ACCESSES)
    kernel = program.kernel
    arguments = kernel.arguments if kernel is not None else ()
    pointers = {argument.name for argument in arguments if argument.type.startswith("!tt.ptr")}
    shown = [(one, *_described(program, one, pointers)) for one in given]
    found: list[Fact] = []
    for scope in ("", *(loop.scope for loop in program.loops)):
        inside = [entry for entry in shown if not scope or _within(entry[0], scope)]
        for name, position in (("addresses", 1), ("masks", 2)):
            lines = [
                program.module.operations[entry[0].operation].line for entry in inside if entry[position]
            ]
            found.append(
                Fact(
                    id=f"{stage}.{name}",
                    scope=scope,
                    value=tuple(str(entry[position]) for entry in inside if entry[position]),
                    evidence={"": tuple(dict.fromkeys(lines))} if lines else {},
                )
            )
    return found


def _within(given: Given, scope: str) -> bool:
    return any(inside == scope or inside.startswith(f"{scope}/") for inside in given.scopes)


def _described(program: Program, given: Given, pointers: AbstractSet[str]) -> tuple[str, str]:
    """One line of each fact; ``""`` for the mask of what cannot be masked."""
    operation = program.module.operations[given.operation]
    head = f"{operation.name.partition('.')[2]} {_tile(program, operation)}"
    if operation.name in _DESCRIBED:
        return f"{head} {_coordinates(operation, given.operands)}", ""
    at = _POINTER[operation.name]
    if at >= len(given.operands):
        return f"{head} ?", ""
    address = given.operands[at]
    if "buffer" in operation.name and at + 1 < len(given.operands):
        address = expressions.add(scalars.number(address), scalars.number(given.operands[at + 1]))
    base = _base(address, pointers)
    return f"{head} {expressions.text(address, base)}", f"{head}: {_mask(operation, given.operands)}"


def _tile(program: Program, operation: Operation) -> str:
    section = types.split(program.text(results.type_section(operation)), "->")[0]
    listed = types.listed(section)
    found = program.types[operation.index]
    if operation.name.startswith(("amdg.buffer", "tt.atomic", "tt.descriptor")) and found:
        return types.tile(found[0])
    return types.tile(listed[0]) if listed and listed[0] else "?"


def _base(address: Value, pointers: AbstractSet[str]) -> str:
    """The pointer argument that an address begins with."""
    if not pointers or not isinstance(address, expressions.Expression):
        return ""
    return next((m[0] for m, n in address.terms if n == 1 and len(m) == 1 and m[0] in pointers), "")


def _coordinates(operation: Operation, operands: tuple[Value, ...]) -> str:
    """``a_desc[64*pid.x, 64*trip(loop0)]``."""
    match = _INDEX.match(operation.form.text)
    if match is None or not operands:
        return "?"
    before = len(_VALUE.findall(operation.form.text[: match.start(1)]))
    count = len(_VALUE.findall(match[1]))
    inside = ", ".join(expressions.text(value) for value in operands[before : before + count])
    return f"{expressions.text(operands[before - 1]) if before else '?'}[{inside}]"


@lru_cache(forms.MOST)
def _masking(form: Form) -> tuple[int, bool]:
    """Which operand is the mask, -1 for none, and whether what stands for other elements follows it."""
    name, text = form.name, form.text
    if name == "ttg.async_copy_global_to_local":
        return (2 if " mask %" in text else -1), " other %" in text
    end = _END_OF_VALUES.search(text)
    values = len(_VALUE.findall(text[: end.start() if end else len(text)]))
    mask = _MASK.get(name, -1)
    mask = mask if 0 <= mask < values else -1
    return mask, name in _LOADS and 0 <= mask < values - 1


def _mask(operation: Operation, operands: tuple[Value, ...]) -> str:
    mask, other = _masking(operation.form)
    if mask < 0 or mask >= len(operands):
        return "all"
    shown = expressions.text(expressions.predicate(operands[mask]))
    shown = "all" if shown == "true" else "none" if shown == "false" else shown
    return (
        f"{shown}, other {expressions.text(operands[mask + 1])}"
        if other and mask + 1 < len(operands)
        else shown
    )
