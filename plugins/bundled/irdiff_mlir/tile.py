"""The facts of a tile program, which source, TTIR and TTGIR share: what is read, computed and written."""

from __future__ import annotations

import re

from irdiff.api import Fact, FactSpec
from irdiff_mlir import accesses, addresses, attributes
from irdiff_mlir.model import Operation
from irdiff_mlir.program import Loop, Program
from irdiff_mlir.tallies import Tallies

_TALLIES = (
    (
        "ops",
        "operations",
        "operations",
        (
            "Every operation by its registered name in the newest dialect's spelling, nested ones, functions and "
            "`builtin.module` included, and what the custom syntax leaves out: what a walk with MLIR's own parser "
            "meets. A loop's scope holds what is in its "
            "body; the loop operation itself counts around it."
        ),
    ),
    (
        "tensors",
        "tensor values by type",
        "values",
        "Results of operations that are tensors, by shape and element type; arguments of regions not counted.",
    ),
    (
        "dots",
        "matrix products by shape",
        "operations",
        (
            "`A * B -> result` with shapes and element types, then what is not the default: input precision, scaled "
            "operand types, `maxNumImpreciseAcc`. In TTGIR also warp-group and tensor-memory products."
        ),
    ),
    (
        "loads",
        "loads",
        "operations",
        (
            "Loads through pointers: shape and element type of the value, whether masked, whether with a value for "
            "masked-off elements (`other`), cache and eviction modifiers and the other attributes."
        ),
    ),
    ("stores", "stores", "operations", "Stores through pointers, described as loads are."),
    (
        "atomics",
        "atomic operations",
        "operations",
        "Operation, memory order, scope, shape and element type, whether masked.",
    ),
    (
        "program_ids",
        "uses of program ids",
        "operations",
        "Axis; `num_programs` where the grid's size is read.",
    ),
    (
        "store_casts",
        "conversions right before a store",
        "stores",
        "Element types of the conversion whose result is stored, through operations that only move elements.",
    ),
    (
        "reduces",
        "reductions",
        "operations",
        "Axis, shape of the input and the operations of the combining region (or the function it calls).",
    ),
    ("scans", "scans", "operations", "As reductions; `reverse` where it runs backwards."),
    (
        "constants",
        "constants",
        "operations",
        "Values of `arith.constant` with their types, layouts left out: `dense<0.000000e+00> : tensor<64x64xf32>`.",
    ),
    (
        "descriptors",
        "tensor descriptor operations",
        "operations",
        "Operations on tensor descriptors (TMA): kind and block.",
    ),
)
"""(name, title, unit, meaning) of each tally."""

_UNPRINTED = {
    "scf.for": ("scf.yield", 1),
    "scf.if": ("scf.yield", 0),
    "ttg.warp_specialize": ("ttg.warp_specialize.partitions", 1),
}
"""Operation -> (what its custom syntax does not print, how often; 0: once for each region)."""

_DESCRIBED = (
    (accesses.LOADS, "loads", accesses.load),
    (accesses.STORES, "stores", accesses.store),
    (accesses.ATOMICS, "atomics", accesses.atomic),
    (accesses.DOTS, "dots", accesses.dot),
    (frozenset(("tt.reduce",)), "reduces", accesses.reduction),
    (frozenset(("tt.scan",)), "scans", accesses.reduction),
)
"""(operations, tally, how its key is made)."""

_SOURCE = "Operation definitions: Triton 3.6 `include/triton/Dialect/Triton/IR/TritonOps.td`."


_ROLES = {
    "ops": "operations",
    "dots": "tile_dots",
    "loads": "tile_loads",
    "stores": "tile_stores",
    "reduces": "reductions",
}
"""Tally -> what it is for rules."""
_ANYWHERE = ("ops", "reduces")
"""Those of which the GPU dialect says the same."""


def specs(stage: str, group: str, *, as_written: bool = True) -> tuple[FactSpec, ...]:
    """The facts of one stage; ``group`` heads them.

    ``as_written``: what the stage loads, stores and multiplies is what the program asks for. The GPU dialect makes
    other operations of some of it.
    """
    return (
        FactSpec(
            id=f"{stage}.arguments",
            title="kernel arguments",
            kind="record",
            role="arguments",
            group=group,
            doc="Type and attributes of each runtime argument, by name. Names are Python's from Triton 3.6 on and "
            "`argN` before; constexpr arguments and those specialized away are not in the IR.",
        ),
        *(
            FactSpec(
                id=f"{stage}.{name}",
                title=title,
                kind="tally",
                unit=unit,
                role=_ROLES.get(name) if as_written or name in _ANYWHERE else None,
                group=group,
                doc=f"{doc} {_SOURCE}",
            )
            for name, title, unit, doc in _TALLIES
        ),
        FactSpec(
            id=f"{stage}.loops",
            title="loops",
            kind="sequence",
            group=group,
            doc="`scf.for` and `scf.while` in order of appearance: bounds and step (a number, an argument's name, "
            "or `?`), iterations where all three are constants, nesting depth, values carried between iterations.",
        ),
        *addresses.specs(stage, group),
    )


def tally_ids(stage: str) -> tuple[str, ...]:
    """Ids of the tallies that :func:`count` fills."""
    return tuple(f"{stage}.{name}" for name, *_ in _TALLIES)


def count(stage: str, program: Program, tallies: Tallies) -> None:
    """Fill the tallies."""
    _count_unprinted(stage, program, tallies)
    for operation in program.module.operations:
        index = operation.index
        tallies.add(f"{stage}.ops", operation.name, index)
        for text in program.types[index] or ():
            if text.startswith("tensor<") and (key := _tensor(text)):
                tallies.add(f"{stage}.tensors", key, index)
        _count_operation(stage, program, operation, tallies)


def _count_unprinted(stage: str, program: Program, tallies: Tallies) -> None:
    """Operations that the custom syntax leaves out: yields of nothing, the holder of partitions."""
    inside = {loop.operation: loop.scope for loop in program.loops}
    for operation in program.module.operations:
        name, times = _UNPRINTED.get(operation.name, ("", 0))
        if operation.generic or not operation.regions or (operation.results and name == "scf.yield"):
            continue
        scope = inside.get(operation.index, program.scopes[operation.index])
        for _ in range(times or operation.regions if name else 0):
            tallies.add_at(f"{stage}.ops", name, scope=scope, line=operation.last)


def _count_operation(stage: str, program: Program, operation: Operation, tallies: Tallies) -> None:
    name, index = operation.name, operation.index
    if name == "arith.constant":
        value = _ENCODING.sub(">", operation.head)[:LONGEST_CONSTANT]
        tallies.add(f"{stage}.constants", value, index)
    if name.startswith("arith."):
        return
    for operations, tally, describe in _DESCRIBED:
        if name in operations:
            tallies.add(f"{stage}.{tally}", describe(program, operation), index)
    if name in ("tt.get_program_id", "tt.get_num_programs"):
        axis = operation.head.partition(" ")[0]
        tallies.add(
            f"{stage}.program_ids", axis if name == "tt.get_program_id" else f"num_programs {axis}", index
        )
    elif name.startswith("tt.descriptor_") or name == "tt.make_tensor_descriptor":
        tallies.add(f"{stage}.descriptors", accesses.descriptor(program, operation), index)
    if (cast := accesses.store_cast(program, operation)) is not None:
        tallies.add(f"{stage}.store_casts", cast[0], index)


_ENCODING = re.compile(r", #[^>]*>+$")
LONGEST_CONSTANT = 200
"""Letters of a constant that are told: a table of values is cut."""


def _tensor(text: str) -> str:
    """``64x32xf16`` of ``tensor<64x32xf16, #layout>``, without taking the layout apart."""
    body = text[len("tensor<") : -1]
    return body.partition(", #")[0]


def other_facts(stage: str, program: Program) -> list[Fact]:
    """Arguments, loops, addresses and masks."""
    facts: list[Fact] = []
    kernel = program.kernel
    if kernel is not None:
        facts.append(
            Fact(
                id=f"{stage}.arguments",
                value={
                    argument.name: ", ".join(
                        (
                            program.text(argument.type),
                            *(
                                f"{key} = {attributes.plain(value)}" if value else key
                                for key, value in sorted(argument.attributes.items())
                            ),
                        )
                    )
                    for argument in kernel.arguments
                },
                evidence={"": (kernel.line,)},
            )
        )
    operations = program.module.operations
    for scope in ("", *(loop.scope for loop in program.loops)):
        inside = [loop for loop in program.loops if not scope or loop.scope.startswith(f"{scope}/")]
        facts.append(
            Fact(
                id=f"{stage}.loops",
                scope=scope,
                value=tuple(_loop_text(operations[loop.operation].name, loop) for loop in inside),
                evidence={"": tuple(operations[loop.operation].line for loop in inside)} if inside else {},
            )
        )
    return facts + addresses.facts(stage, program)


def _loop_text(name: str, loop: Loop) -> str:
    """``scf.for 0..256 step 32, 8 trips, depth 1, 6 carried``."""
    words = [name if name == "scf.while" else f"{name} {loop.lower}..{loop.upper} step {loop.step}"]
    if loop.trips is not None:
        words.append(f"{loop.trips} trips")
    return ", ".join((*words, f"depth {loop.depth}", f"{loop.carried} carried"))
