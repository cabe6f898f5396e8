"""The declarations of the facts of a tile program, apart from what makes them: a registry needs no parser."""

from __future__ import annotations

from irdiff.api import FactSpec

_MEANING = (
    "An integer or pointer as a sum of products, in elements: names of arguments, `pid.x` and `grid.x` (program id "
    "and number of programs), `dim0[0:64]` (the index along dimension 0 of the tile, 0 to 63), `trip(loop0)` (the "
    "iteration, from 0; `trips(loop0)` is their number), quotients `(a // b)` and remainders `(a % b)` as Triton "
    "writes them (rounded towards zero), `min`, `max`, `load(...)` for a value read from memory. What is none of these "
    "is an opaque token `?operation`. What a loop advances by the same amount each time is `start + "
    "step*trip(loop)`. Calls are followed. Integer widths and overflow are not told apart."
)
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
        *_addresses(stage, group),
    )


def tally_ids(stage: str) -> tuple[str, ...]:
    """Ids of the tallies that :func:`count` fills."""
    return tuple(f"{stage}.{name}" for name, *_ in _TALLIES)


def _addresses(stage: str, group: str) -> tuple[FactSpec, ...]:
    """The two facts of a stage."""
    return (
        FactSpec(
            id=f"{stage}.addresses",
            title="addresses read and written",
            kind="sequence",
            group=group,
            doc="For each load, store, atomic operation, asynchronous copy and descriptor access that the kernel "
            "reaches, in order: operation, shape and element type, address (`descriptor[coordinates]` for TMA). "
            f"{_MEANING}",
        ),
        FactSpec(
            id=f"{stage}.masks",
            title="masks of accesses",
            kind="sequence",
            group=group,
            doc="For each access of `addresses` that can be masked, in the same order: the condition under which an "
            "element takes part (`all` without a mask), then `other`, the value of those that do not. In a comparison "
            "every term stands where its sign is plus; `a <= 7` is `a < 8`; joined conditions are sorted and each is "
            "there once.",
        ),
    )
