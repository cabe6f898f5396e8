"""What one operation computes, on expressions: integers, indices, pointers and conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from irdiff_mlir import attributes, expressions, forms, literals, types
from irdiff_mlir.expressions import Expression, Predicate, Value
from irdiff_mlir.forms import Form

_LAYOUT = re.compile(r", #.*")
_PREDICATE = re.compile(r"(\w+), ")

KEPT = frozenset(
    (
        "arith.bitcast",
        "arith.extsi",
        "arith.extui",
        "arith.index_cast",
        "arith.index_castui",
        "arith.trunci",
        "tt.broadcast",
        "tt.splat",
        "tt.unsplat",
        "ttg.convert_layout",
    )
)
"""Operations whose result is their operand, as far as expressions go: widths are not told apart."""
CONVERSIONS = frozenset(("arith.truncf", "arith.extf"))
"""Conversions of floating-point numbers, through which a constant stays what it is."""
_SIGNED = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}
_UNSIGNED = {"ult": "<u", "ule": "<=u", "ugt": ">u", "uge": ">=u"}
_SYMBOLS = {
    "arith.andi": "&",
    "arith.ori": "|",
    "arith.xori": "^",
    "arith.divsi": "//",
    "arith.divui": "//u",
    "arith.remsi": "%",
    "arith.remui": "%u",
    "arith.shli": "<<",
    "arith.shrsi": ">>",
    "arith.shrui": ">>u",
}
_FUNCTIONS = {
    "arith.minsi": "min",
    "arith.maxsi": "max",
    "arith.minui": "minu",
    "arith.maxui": "maxu",
    "arith.ceildivsi": "cdiv",
    "arith.ceildivui": "cdiv",
    "arith.floordivsi": "floordiv",
    "tt.int_to_ptr": "pointer",
    "tt.ptr_to_int": "integer",
    "tt.load": "load",
    "tt.mulhiui": "mulhiu",
    "tt.gather": "gather",
}


def _quotient(first: int, second: int) -> int:
    magnitude = abs(first) // abs(second)
    return magnitude if (first < 0) == (second < 0) else -magnitude


_ON_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "//": _quotient,
    "%": lambda x, y: x - y * _quotient(x, y),
    "//u": lambda x, y: x // y,
    "%u": lambda x, y: x % y,
    "min": min,
    "max": max,
    "cdiv": lambda x, y: -(-x // y),
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
}
_DIVIDING = frozenset(("//", "%", "//u", "%u", "cdiv"))


def evaluate(form: Form, values: tuple[Value, ...]) -> Value | None:
    """The result of an operation on the values of its operands; None where nothing is known of it."""
    name = form.name
    if name in LEAVES:
        return leaf(form)
    if not values:
        return None
    if name in KEPT:
        return values[0]
    if name in _SPECIAL:
        return _by_form(form, values)
    return _by_name(name, _predicate(form) if name == "arith.cmpi" else "", values)


@lru_cache(forms.MOST)
def _by_form(form: Form, values: tuple[Value, ...]) -> Value | None:
    """As :func:`evaluate`, of an operation that computes what its attributes and types say."""
    return _SPECIAL[form.name](form, values)


@lru_cache(forms.MOST)
def _predicate(form: Form) -> str:
    """What ``arith.cmpi`` compares for."""
    match = _PREDICATE.match(form.text)
    return match[1] if match else ""


@lru_cache(forms.MOST)
def _by_name(name: str, predicate: str, values: tuple[Value, ...]) -> Value | None:
    """As :func:`evaluate`, whatever the types are: index arithmetic is much the same in all kernels and stages."""
    if name == "arith.cmpi":
        return _comparison(predicate, values)
    if name == "arith.select":
        return _select(values)
    if len(values) > 1 and all(isinstance(value, Predicate) for value in values):
        return _condition(name, expressions.predicate(values[0]), expressions.predicate(values[1]))
    return _arithmetic(name, [number(value) for value in values])


LEAVES = frozenset(("arith.constant", "tt.get_program_id", "tt.get_num_programs", "tt.make_range"))
"""Operations whose value follows from their text alone."""


@lru_cache(forms.MOST)
def leaf(form: Form) -> Value | None:
    """The result of what needs no operand."""
    if form.name == "arith.constant":
        return literals.constant(form.text)
    if form.name != "tt.make_range":
        word = "pid" if form.name == "tt.get_program_id" else "grid"
        return expressions.atom(f"{word}.{form.text.partition(' ')[0]}")
    fields = attributes.of(form.text)
    start, end = attributes.integer(fields, "start"), attributes.integer(fields, "end")
    if start is None or end is None:
        return None
    return expressions.number(start) if end == start + 1 else expressions.atom(f"dim0[{start}:{end}]")


def number(value: Value) -> Expression:
    """A condition as a number has no form of its own."""
    return value if isinstance(value, Expression) else expressions.made("int", (value,))


def _bitcast(form: Form, values: Sequence[Value]) -> Value:
    return values[0] if _same_bytes(form) else expressions.made("bitcast", values[:1])


def _same_bytes(form: Form) -> bool:
    """Whether a bitcast keeps the size of what is pointed at, so that offsets mean the same."""
    section = (" " + form.text).rpartition(" : ")[2]
    sides = [types.tile(side).rpartition("x")[2] for side in types.split(section, "->")]
    widths = [types.element_bits(side) for side in sides]
    return len(widths) == 2 and None not in widths and len({-(-(bits or 0) // 8) for bits in widths}) == 1


def _descriptor(form: Form, values: Sequence[Value]) -> Value | None:
    """``descriptor(a_ptr, [M, K], [K, 1])``: pointer, sizes, strides."""
    groups = [len(re.findall("%", group)) for group in re.findall(r"\[([^\[\]]*)\]", form.text)]
    if len(groups) < 2 or len(values) < 1 + groups[0] + groups[1]:
        return None
    sizes, strides = values[1 : 1 + groups[0]], values[1 + groups[0] : 1 + groups[0] + groups[1]]
    listed = [f"[{', '.join(expressions.text(value) for value in group)}]" for group in (sizes, strides)]
    return expressions.made("descriptor", values[:1], ", ".join(listed))


def _comparison(predicate: str, values: Sequence[Value]) -> Value | None:
    if not predicate or len(values) < 2:
        return None
    before, after = number(values[0]), number(values[1])
    if predicate in _SIGNED:
        return expressions.compare(_SIGNED[predicate], before, after)
    symbol = _UNSIGNED.get(predicate)
    if symbol is None:
        return None
    return Predicate("and", (f"{expressions.text(before)} {symbol} {expressions.text(after)}",))


def _select(values: Sequence[Value]) -> Value | None:
    if len(values) != 3:
        return None
    if values[1] == values[2]:
        return values[1]
    chosen = expressions.predicate(values[0])
    if not chosen.parts:
        return values[1] if chosen.joined == "and" else values[2]
    return expressions.made("select", (chosen, values[1], values[2]))


def _condition(name: str, first: Predicate, second: Predicate) -> Value | None:
    if name in ("arith.andi", "arith.muli"):
        return expressions.join("and", first, second)
    if name == "arith.ori":
        return expressions.join("or", first, second)
    if name == "arith.xori":
        always = Predicate("and", ())
        if always in (first, second):
            return expressions.negate(second if first == always else first)
        return Predicate("and", (f"({expressions.text(first)}) ^ ({expressions.text(second)})",))
    return None


def _moved(form: Form, values: Sequence[Value]) -> Value | None:
    """Dimensions after ``expand_dims``, ``trans`` or ``reshape``."""
    value = values[0]
    fields = attributes.of(form.text)
    if form.name == "tt.expand_dims":
        axis = attributes.integer(fields, "axis")
        if axis is None:
            return None
        return expressions.move_dimensions(value, lambda old: old + 1 if old >= axis else old)
    if form.name == "tt.trans":
        order = [int(word) for word in re.findall(r"\d{1,2}", attributes.plain(fields.get("order", "")))]
        if sorted(order) != list(range(len(order))):
            return None
        return expressions.move_dimensions(value, lambda old: order.index(old) if old < len(order) else old)
    if not expressions.has_dimensions(value):
        return value
    sizes = _LAYOUT.sub("", form.text.rpartition("-> tensor<")[2].rstrip(">"))
    return expressions.made(f"reshape {sizes}", (value,))


def _arithmetic(name: str, values: Sequence[Expression]) -> Value | None:
    if len(values) == 1 and name in _FUNCTIONS:
        return expressions.made(_FUNCTIONS[name], values)
    if name in ("tt.load", "tt.gather"):
        return expressions.made(_FUNCTIONS[name], values[:1] if name == "tt.load" else values)
    if len(values) < 2:
        return None
    first, second = values[0], values[1]
    if name in ("arith.addi", "tt.addptr"):
        return expressions.add(first, second)
    if name == "arith.subi":
        return expressions.add(first, second, -1)
    if name == "arith.muli":
        return expressions.multiply(first, second)
    shift = second.constant
    if name == "arith.shli" and shift is not None and 0 <= shift < 64:
        return expressions.multiply(first, expressions.number(1 << shift))
    return _folded(_SYMBOLS.get(name), _FUNCTIONS.get(name), first, second)


def _folded(symbol: str | None, function: str | None, first: Expression, second: Expression) -> Value | None:
    """An operation of two operands that is no sum or product: on numbers its value, else an atom."""
    word = symbol or function
    if word is None:
        return None
    before, after = first.constant, second.constant
    if before is not None and after is not None and word in _ON_NUMBERS and (after or word not in _DIVIDING):
        return expressions.number(_ON_NUMBERS[word](before, after))
    if after == 1 and word in ("//", "//u", "cdiv"):
        return first
    if after == 1 and word in ("%", "%u"):
        return expressions.number(0)
    if symbol is not None:
        return expressions.binary(symbol, first, second)
    arguments = (first, second) if word == "cdiv" else sorted((first, second), key=expressions.text)
    return expressions.made(word, arguments)


_SPECIAL: dict[str, Callable[[Form, Sequence[Value]], Value | None]] = {
    "tt.bitcast": _bitcast,
    "tt.expand_dims": _moved,
    "tt.make_tensor_descriptor": _descriptor,
    "tt.reshape": _moved,
    "tt.trans": _moved,
}
