"""The facts of a tile program, which source, TTIR and TTGIR share: what is read, computed and written."""

from __future__ import annotations

import re
from functools import lru_cache

from irdiff.api import Fact
from irdiff_mlir import accesses, addresses, attributes, forms, types
from irdiff_mlir.forms import Form
from irdiff_mlir.model import Operation
from irdiff_mlir.program import Loop, Program
from irdiff_mlir.tallies import Tallies
from irdiff_mlir.tile_specs import specs, tally_ids

__all__ = ("count", "other_facts", "specs", "tally_ids")

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


def count(stage: str, program: Program, tallies: Tallies) -> None:
    """Fill the tallies."""
    _count_unprinted(stage, program, tallies)
    operations = program.module.operations
    names = [operation.name for operation in operations]
    tallies.add_all(f"{stage}.ops", zip(names, range(len(names)), strict=True))
    shapes = {found: _tensors(found) for found in set(program.types) if found}
    tallies.add_all(
        f"{stage}.tensors",
        [(key, index) for index, found in enumerate(program.types) if found for key in shapes[found]],
    )
    tallies.add_all(
        f"{stage}.constants",
        [
            (_constant(operations[index].form), index)
            for index, name in enumerate(names)
            if name == "arith.constant"
        ],
    )
    counted = {name for name in set(names) if name in _COUNTED or name.startswith("tt.descriptor_")}
    if counted:
        for operation in operations:
            if operation.name in counted:
                _count_operation(stage, program, operation, tallies)


def _count_unprinted(stage: str, program: Program, tallies: Tallies) -> None:
    """Operations that the custom syntax leaves out: yields of nothing, the holder of partitions."""
    inside = {loop.operation: loop.scope for loop in program.loops}
    for operation in program.module.operations:
        if not operation.regions:
            continue
        name, times = _UNPRINTED.get(operation.name, ("", 0))
        if operation.generic or (operation.results and name == "scf.yield"):
            continue
        scope = inside.get(operation.index, program.scopes[operation.index])
        for _ in range(times or operation.regions if name else 0):
            tallies.add_at(f"{stage}.ops", name, scope=scope, line=operation.last)


def _count_operation(stage: str, program: Program, operation: Operation, tallies: Tallies) -> None:
    name, index = operation.name, operation.index
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


_COUNTED = frozenset(
    (
        *(name for operations, *_ in _DESCRIBED for name in operations),
        "tt.get_program_id",
        "tt.get_num_programs",
        "tt.make_tensor_descriptor",
        *accesses.STORING,
    )
)
"""Operations that are counted in more than one tally."""


@lru_cache(forms.MOST)
def _constant(form: Form) -> str:
    """``dense<1> : tensor<64xi32>``, without the layout."""
    return _ENCODING.sub(">", form.text)[:LONGEST_CONSTANT]


@lru_cache(types.MOST)
def _tensors(found: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the types that are tensors."""
    return tuple([key for text in found if (key := _tensor(text))])


def _tensor(text: str) -> str:
    """``64x32xf16`` of ``tensor<64x32xf16, #layout>``, without taking the layout apart; ``""`` for other types."""
    if not text.startswith("tensor<"):
        return ""
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
