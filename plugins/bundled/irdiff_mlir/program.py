"""A module with what its text leaves implicit: types of results, what every operand is, constants, loops."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from irdiff.api import Artifact, Context, Scope
from irdiff_mlir import constants, drift, forms, functions, reader, results
from irdiff_mlir.aliases import Spelling
from irdiff_mlir.forms import Form
from irdiff_mlir.functions import FUNCTIONS, Function
from irdiff_mlir.model import Item, ItemKind, Module, Operation
from irdiff_mlir.names import DEFINITION, Names

_FOR = re.compile(r"(?:unsigned )?%[\w$.-]+ = (%[\w$.#-]+) to (%[\w$.#-]+) step (%[\w$.#-]+)")
LOOPS = frozenset(("scf.for", "scf.while"))
"""Operations that make a loop scope."""


_MAX_DEPTH = 32
_MAX_LOOPS = 1000
_MAX_NESTED = 256


class Operand(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What an operand is."""

    operation: int = -1
    """Index of the operation that defines it; -1 for an argument of a function or block."""
    result: int = 0
    argument: str = ""
    """Name of the function's argument, without ``%``, where it is one."""
    owner: int = -1
    """Index of the operation whose region has it as an argument; -1 where it is none."""
    position: int = 0
    """Which argument of that region, from 0: of ``scf.for`` the counter, then what is carried."""


_UNKNOWN = Operand()


@lru_cache(forms.MOST)
def _result(operation: int) -> Operand:
    """The first result of an operation: the same value in every module."""
    return Operand(operation=operation)


@lru_cache(forms.MOST)
def _types(form: Form) -> tuple[tuple[str, ...] | None, bool]:
    """Types of the results of an operation without regions, and whether every module spells them like that."""
    found = results.of_form(form)
    return found, not any("#" in text or "!" in text or drift.text(text) != text for text in found or ())


class Loop(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One loop."""

    scope: str
    """``loop0/loop1``."""
    operation: int
    lower: str = "?"
    """A number, an argument's name, or ``?``; so are the next two."""
    upper: str = "?"
    step: str = "?"
    trips: int | None = None
    depth: int = 1
    carried: int = 0
    """Values carried from one iteration to the next."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A module, resolved. Sequences are indexed by operation."""

    module: Module
    spelling: Spelling
    types: tuple[tuple[str, ...] | None, ...]
    """Types of the results in their newest spelling, aliases resolved; None where they cannot be told."""
    operands: tuple[tuple[Operand, ...], ...]
    scopes: tuple[str, ...]
    """Loop scope each operation stands in; ``""`` outside loops. A loop itself stands in the one around it."""
    loops: tuple[Loop, ...]
    functions: tuple[Function, ...]
    left_out: tuple[int, ...] = ()
    """Lines of loops that are no scopes of their own: there are too many, or they are nested too deep."""

    @property
    def kernel(self) -> Function | None:
        """The kernel: the first function that is not private."""
        return next((function for function in self.functions if not function.private), None)

    def text(self, written: str) -> str:
        """Types or attributes in their newest spelling, aliases resolved."""
        return self.spelling.text(written)

    def nested(self, operation: Operation) -> list[Operation]:
        """Operations in the regions of one, at any depth; the first 256."""
        found: list[Operation] = []
        first = operation.index + 1
        for candidate in self.module.operations[first : first + _MAX_NESTED]:
            if candidate.parent < operation.index:
                break
            found.append(candidate)
        return found

    def definer(self, operand: Operand) -> Operation | None:
        """The operation that defines an operand; None for an argument."""
        return self.module.operations[operand.operation] if operand.operation >= 0 else None

    def loop_scopes(self) -> tuple[Scope, ...]:
        """The loops as scopes of facts."""
        operations = self.module.operations
        return tuple(
            Scope(
                id=loop.scope,
                trip_count=loop.trips,
                first=operations[loop.operation].line,
                last=operations[loop.operation].last,
            )
            for loop in self.loops
        )


def resolve(artifact: Artifact, context: Context) -> Program:
    """The program of an artifact, made once for each content. Raises ParseError."""
    return context.once("mlir-program", lambda: build(reader.read(artifact, context)))


def build(module: Module) -> Program:
    """Resolve a module in one pass over its items."""
    return _Resolver(module).run()


class _Resolver:
    """The pass, with the state it carries along."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.spelling = Spelling(module.aliases, old_names=module.old_names)
        self.names: Names[Operand] = Names()
        self.types: list[tuple[str, ...] | None] = []
        self.operands: list[tuple[Operand, ...]] = []
        self.scopes: list[str] = []
        self.loops: list[Loop] = []
        self.open_loops: list[str] = []
        self.left_out: list[int] = []
        self.functions: list[Function] = []
        self.constants: dict[int, int] = {}
        self.arguments: dict[int, str] = {}
        """Operations that only convert an argument of the kernel."""
        self.resolved: dict[tuple[str, ...], tuple[str, ...]] = {}

    def run(self) -> Program:
        operations = self.module.operations
        begun: dict[int, int] = {}
        is_operation, define, find = ItemKind.OPERATION, self.names.define_all, self.names.find
        add_scope, add_types, add_operands = self.scopes.append, self.types.append, self.operands.append
        evaluated, open_loops = constants.EVALUATED, self.open_loops
        for item in self.module.items:
            kind = item.kind
            if kind is is_operation:
                operation = operations[item.operation]
                form = operation.form
                if operation.regions or form.numbered:
                    self._operation(operation)
                    continue
                add_scope(open_loops[-1] if open_loops else "")
                found, final = _types(form)
                add_types(found if final else self._newest(found))
                operands = tuple([find(name) or _UNKNOWN for name in operation.values])
                add_operands(operands)
                if operation.name in evaluated:
                    self._evaluate(operation, operands)
                if operation.results:
                    define(operation.results, _result(operation.index))
            elif kind is ItemKind.REGION:
                self._region(operations[item.operation], item, begun)
            elif kind is ItemKind.LABEL:
                self._arguments(item.text, item.operation)
            elif kind is ItemKind.END:
                self._end(operations[item.operation])
        return Program(
            module=self.module,
            spelling=self.spelling,
            types=tuple(self.types),
            operands=tuple(self.operands),
            scopes=tuple(self.scopes),
            loops=tuple(self.loops),
            functions=tuple(self.functions),
            left_out=tuple(self.left_out),
        )

    def _operation(self, operation: Operation) -> None:
        form = operation.form
        self.scopes.append(self.open_loops[-1] if self.open_loops else "")
        self.types.append(self._newest(results.result_types(operation)))
        found = tuple(map(self._operand, operation.values, form.numbers))
        self.operands.append(found)
        if form.name in constants.EVALUATED:
            self._evaluate(operation, found)
        if not operation.regions:
            self._define(operation)
            return
        if operation.name in LOOPS:
            self._loop(operation)
        elif operation.name in FUNCTIONS and (function := functions.of(operation)) is not None:
            self.functions.append(function)

    def _evaluate(self, operation: Operation, operands: tuple[Operand, ...]) -> None:
        """Note the value of an integer, or the argument that an operation only converts."""
        form, known = operation.form, self.constants
        if operands:
            if form.name in constants.UNCHANGED and operands[0].argument:
                self.arguments[operation.index] = operands[0].argument
            if operands[0].operation not in known and form.name != "arith.constant":
                return
        value = constants.evaluate(form, [known.get(operand.operation) for operand in operands])
        if value is not None:
            known[operation.index] = value

    def _operand(self, name: str, result: int) -> Operand:
        found = self.names.find(name)
        if found is None:
            return _UNKNOWN
        return Operand(operation=found.operation, result=result, argument=found.argument) if result else found

    def _newest(self, written: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if not written:
            return written
        found = self.resolved.get(written)
        if found is None:
            found = self.resolved[written] = tuple(self.spelling.text(text) for text in written)
        return found

    def _define(self, operation: Operation) -> None:
        if operation.results:
            self.names.define_all(operation.results, _result(operation.index))

    def _region(self, operation: Operation, item: Item, begun: dict[int, int]) -> None:
        if begun.get(operation.index):
            self.names.leave()
        self.names.enter()
        first = operation.index not in begun
        begun[operation.index] = 1
        self._arguments(operation.head if first else item.text, operation.index)
        if first and operation.name in FUNCTIONS and self.functions:
            for argument in self.functions[-1].arguments:
                self.names.define(f"%{argument.name}", Operand(argument=argument.name))

    def _arguments(self, text: str, owner: int) -> None:
        position = 0
        for match in DEFINITION.finditer(text):
            if match[1]:
                self.names.define(match[1], Operand(owner=owner, position=position))
                position += 1

    def _end(self, operation: Operation) -> None:
        self.names.leave()
        if operation.name in LOOPS:
            self.open_loops.pop()
        self._define(operation)

    def _loop(self, operation: Operation) -> None:
        around = self.open_loops[-1] if self.open_loops else ""
        if len(self.open_loops) >= _MAX_DEPTH or len(self.loops) >= _MAX_LOOPS:
            self.open_loops.append(around)
            self.left_out.append(operation.line)
            return
        scope = f"{around}/loop{len(self.loops)}" if around else f"loop{len(self.loops)}"
        self.open_loops.append(scope)
        bounds = _FOR.match(operation.head) if operation.name == "scf.for" else None
        lower, upper, step = (self._bound(name) for name in bounds.groups()) if bounds else ((None, "?"),) * 3
        self.loops.append(
            Loop(
                scope=scope,
                operation=operation.index,
                lower=lower[1],
                upper=upper[1],
                step=step[1],
                trips=_trips(lower[0], upper[0], step[0]),
                depth=scope.count("/") + 1,
                carried=operation.result_count,
            )
        )

    def _bound(self, name: str) -> tuple[int | None, str]:
        found = self.names.find(name.partition("#")[0])
        if found is None:
            return None, "?"
        value = self.constants.get(found.operation)
        named = found.argument or self.arguments.get(found.operation) or "?"
        return value, named if value is None else str(value)


def _trips(lower: int | None, upper: int | None, step: int | None) -> int | None:
    if lower is None or upper is None or step is None or step <= 0:
        return None
    return max(0, -((lower - upper) // step))
