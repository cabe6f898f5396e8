"""Walks a kernel and finds what each memory access is given, as expressions; calls are followed, loops solved.

What a loop carries and advances by the same amount each time becomes ``start + step*trip(loop)``. For that the
walk is repeated: the first finds the steps, the next uses them; a loop around needs one more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from irdiff_mlir import expressions, forms, literals, scalars
from irdiff_mlir.expressions import Expression, Predicate, Value
from irdiff_mlir.functions import Function
from irdiff_mlir.model import Operation
from irdiff_mlir.program import Operand, Program

_CALLEE = re.compile(r'@(?:"([^"]*)"|([\w$.-]+))')
_CALLS = frozenset(("tt.call", "func.call"))
_MAX_WALKS = 4
_MAX_CALLS = 8
_MAX_DEPTH = 64
_MAX_STEPS = 200_000
_MAX_FOUND = 5_000


class Given(msgspec.Struct, frozen=True, gc=False):
    """One access, with the values of its operands."""

    operation: int
    operands: tuple[Value, ...]
    scopes: tuple[str, ...]
    """Loops it happens in: its own, and those of the calls that lead to it."""


def accesses(program: Program, names: frozenset[str]) -> tuple[Given, ...]:
    """Every operation of these names that the kernel reaches, in order."""
    kernel = program.kernel
    if kernel is None:
        return ()
    walk = _Walk(program, names)
    for _ in range(_MAX_WALKS):
        walk.begin()
        walk.function(kernel, [expressions.atom(argument.name) for argument in kernel.arguments])
        if not walk.learned:
            break
    return tuple(walk.found)


NOTHING, FIRST, ALL, HANDED, BRANCH = range(5)
"""What the value of an operation follows from: none of its operands, the first, all; and operations that hand values
to what is around them, or branch."""


@lru_cache(forms.MOST)
def _reads(name: str) -> int:
    if name in ("scf.yield", "tt.return", "func.return"):
        return HANDED
    if name in scalars.KEPT or name in scalars.CONVERSIONS:
        return FIRST
    if name in scalars.LEAVES or _is_floating(name):
        return NOTHING
    return BRANCH if name.startswith("cf.") else ALL


@lru_cache(256)
def _is_floating(name: str) -> bool:
    return name.startswith("math.") or (name.startswith("arith.") and name.endswith("f"))


def _needed(program: Program, names: frozenset[str]) -> bytearray:
    """For each operation whether an access may rest on it: the half that computes elements is not walked."""
    operands = program.operands
    needed = bytearray(len(operands))
    walked = names | _CALLS
    for operation in reversed(program.module.operations):
        index = operation.index
        reads = _reads(operation.name)
        if operation.name in walked or operation.regions or reads == HANDED:
            needed[index] = 1
        elif not needed[index] or reads == NOTHING:
            continue
        for operand in operands[index][:1] if reads == FIRST and not operation.regions else operands[index]:
            if operand.operation >= 0:
                needed[operand.operation] = 1
    return needed


class _Walk:
    """The walk, with what it knows of loops."""

    def __init__(self, program: Program, names: frozenset[str]) -> None:
        self.program = program
        self.names = names
        self.operations = program.module.operations
        self.children: dict[int, list[int]] = {}
        for operation in self.operations:
            self.children.setdefault(operation.parent, []).append(operation.index)
        self.functions = {function.name: function for function in program.functions}
        self.loops = {loop.operation: loop for loop in program.loops}
        self.needed = _needed(program, names)
        self.steps: dict[tuple[int, int], Expression] = {}
        """(loop, which carried value) -> by how much it advances."""
        self.begin()

    def begin(self) -> None:
        """Forget all but the steps."""
        self.values: dict[int, tuple[Value, ...]] = {}
        self.arguments: list[dict[str, Value]] = []
        self.carried: dict[tuple[int, int], Value] = {}
        self.around: list[str] = []
        self.found: list[Given] = []
        self.budget = _MAX_STEPS
        self.learned = False

    def function(self, function: Function, values: Sequence[Value]) -> tuple[Value, ...]:
        """Walk a function with these arguments; what it returns."""
        self.arguments.append(
            {argument.name: value for argument, value in zip(function.arguments, values, strict=False)}
        )
        returned = self._body(function.operation, depth=0)
        self.arguments.pop()
        return returned

    def _body(self, parent: int, depth: int) -> tuple[Value, ...]:
        """Walk what an operation holds; the operands of the last operation that hands values on."""
        handed: tuple[Value, ...] | None = None
        branches = False
        operations, needed = self.operations, self.needed
        for index in self.children.get(parent, ()):
            self.budget -= 1
            if self.budget <= 0:
                return ()
            operation = operations[index]
            reads = _reads(operation.name)
            if reads == HANDED:
                # The front end puts a block that nothing leads to behind the return.
                handed = self._operands(operation) if handed is None else handed
                continue
            branches = branches or reads == BRANCH
            if needed[index]:
                self._operation(operation, depth)
        return () if branches or handed is None else handed

    def _operands(self, operation: Operation) -> tuple[Value, ...]:
        value = self._value
        return tuple([value(operand) for operand in self.program.operands[operation.index]])

    def _value(self, operand: Operand) -> Value:
        if operand.operation >= 0:
            found = self.values.get(operand.operation, ())
            if operand.result < len(found):
                return found[operand.result]
            name = self.operations[operand.operation].name
            return expressions.opaque(f"{name}#{operand.result}" if operand.result else name)
        if operand.argument:
            known = self.arguments[-1].get(operand.argument)
            return expressions.opaque("argument") if known is None else known
        return self.carried.get((operand.owner, operand.position), expressions.opaque("block"))

    def _operation(self, operation: Operation, depth: int) -> None:
        name, index = operation.name, operation.index
        reads = _reads(name)
        if reads <= FIRST and (not operation.regions or _is_floating(name)):
            if operation.results and (value := self._simple(operation, reads)) is not None:
                self.values[index] = (value,)
            return
        if operation.regions:
            self._regions(operation, depth)
            return
        if name in _CALLS:
            self.values[index] = self._call(operation)
            return
        values = self._operands(operation)
        if name in self.names and len(self.found) < _MAX_FOUND:
            scopes = (*self.around, self.program.scopes[index])
            self.found.append(Given(index, values, tuple(scope for scope in scopes if scope)))
        if operation.results and (result := scalars.evaluate(operation.form, values)) is not None:
            self.values[index] = (result,)

    def _simple(self, operation: Operation, reads: int) -> Value | None:
        """What follows from the text alone or from the first operand."""
        if reads == NOTHING:
            return scalars.leaf(operation.form) if operation.name in scalars.LEAVES else None
        operands = self.program.operands[operation.index]
        if not operands:
            return None
        value = self._value(operands[0])
        # Floating point is said by name where it is used, but for constants that are converted.
        return literals.literal((value,)) if operation.name in scalars.CONVERSIONS else value

    def _call(self, operation: Operation) -> tuple[Value, ...]:
        match = _CALLEE.search(operation.head)
        callee = self.functions.get(match[1] or match[2]) if match else None
        if callee is None or len(self.arguments) >= _MAX_CALLS:
            return ()
        values = self._operands(operation)
        self.around.append(self.program.scopes[operation.index])
        returned = self.function(callee, values)
        self.around.pop()
        return returned

    def _regions(self, operation: Operation, depth: int) -> None:
        if depth >= _MAX_DEPTH:
            return
        if operation.name == "scf.for" and not operation.generic:
            self._loop(operation, depth)
        elif operation.name == "scf.if":
            self._branch(operation, depth)
        elif operation.name not in ("tt.reduce", "tt.scan", "tt.map_elementwise"):
            self._body(operation.index, depth + 1)

    def _loop(self, operation: Operation, depth: int) -> None:
        """The operands of a loop in its text: counter, bounds, step, then carried name and start in turn."""
        index = operation.index
        values = self._operands(operation)
        loop = self.loops.get(index)
        name = loop.scope.rpartition("/")[2] if loop else f"loop at line {operation.line}"
        if len(values) < 4:
            self._body(index, depth + 1)
            return
        trip = expressions.atom(f"trip({name})")
        start, advance = scalars.number(values[1]), scalars.number(values[3])
        self.carried[index, 0] = expressions.add(start, expressions.multiply(trip, advance))
        starts = [scalars.number(value) for value in values[5 : 5 + 2 * operation.result_count : 2]]
        for position, first in enumerate(starts, 1):
            step = self.steps.get((index, position))
            self.carried[index, position] = (
                expressions.atom(f"carried({name}, {position})")
                if step is None
                else expressions.add(first, expressions.multiply(trip, step))
            )
        yielded = self._body(index, depth + 1)
        self._learn(index, name, yielded)
        trips = expressions.atom(f"trips({name})")
        if loop and loop.trips is not None:
            trips = expressions.number(loop.trips)
        self.values[index] = tuple(
            expressions.opaque(f"{name}#{position - 1}")
            if (step := self.steps.get((index, position))) is None
            else expressions.add(first, expressions.multiply(trips, step))
            for position, first in enumerate(starts, 1)
        )

    def _learn(self, index: int, name: str, yielded: Sequence[Value]) -> None:
        """Carried values that advance by what does not change from one iteration to the next."""
        own = (f"trip({name})", f"carried({name}, ", "?", "load(")
        for position, value in enumerate(yielded, 1):
            before = self.carried.get((index, position))
            if (
                (index, position) in self.steps
                or isinstance(value, Predicate)
                or not isinstance(before, Expression)
            ):
                continue
            step = expressions.add(value, before, -1)
            if not any(word in atom for atom in step.atoms() for word in own):
                self.steps[index, position] = step
                self.learned = True

    def _branch(self, operation: Operation, depth: int) -> None:
        """Both sides are walked; a result is the value both give, or a choice."""
        chosen = self._operands(operation)[:1]
        sides: list[tuple[Value, ...]] = []
        for index in self.children.get(operation.index, ()):
            self.budget -= 1
            if self.budget <= 0:
                return
            inner = self.operations[index]
            if inner.name == "scf.yield":
                sides.append(self._operands(inner))
            elif self.needed[index]:
                self._operation(inner, depth + 1)
        if len(sides) == 2 and chosen:
            self.values[operation.index] = tuple(
                before if before == after else expressions.made("select", (chosen[0], before, after))
                for before, after in zip(*sides, strict=False)
            )
