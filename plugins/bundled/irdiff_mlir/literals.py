"""What constants say: numbers, conditions, floating-point numbers, as values of expressions."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from irdiff_mlir import expressions, types
from irdiff_mlir.expressions import Expression, Predicate, Value

_CONSTANT = re.compile(
    r"(?:\{[^{}]*\} )?(?:dense<)?(true|false|-?\d[\d.]*(?:[eE][+-]?\d+)?|0x[0-9A-Fa-f]+)>?(?: : (.*))?$"
)
_BITS = {"f64": (">d", 8), "f32": (">f", 4), "f16": (">e", 2), "bf16": (">f", 4)}
_LITERAL = re.compile(r"-?(?:\d[\d.e+-]*|inf)$|nan$")


def constant(head: str) -> Value:
    """The value of ``arith.constant``: a number, a condition, a floating-point number as an atom."""
    match = _CONSTANT.match(head)
    if match is None:
        return expressions.opaque("constant")
    word, kind = match[1], match[2] or ""
    if word in ("true", "false"):
        return Predicate("and" if word == "true" else "or", ())
    shaped = types.shaped(kind)
    element = shaped.element if shaped else kind
    if element[:1] in ("f", "b"):
        return expressions.atom(_floating(word, element))
    if len(word) > 24 or "." in word or "e" in word.lower().removeprefix("0x"):
        return expressions.opaque("constant")
    return expressions.number(int(word, 16) if word.startswith("0x") else int(word))


def _floating(word: str, element: str) -> str:
    """``0.0``, ``-inf``: MLIR prints in hexadecimal bits what has no short decimal form."""
    if not word.startswith("0x"):
        return repr(float(word))
    form, size = _BITS.get(element, ("", 0))
    bits = word[2:] + ("0000" if element == "bf16" else "")
    if len(bits) != 2 * size:
        return word
    return repr(struct.unpack(form, bytes.fromhex(bits))[0])


def literal(values: Sequence[Value]) -> Expression | None:
    """The value where it is one floating-point number, else None."""
    if len(values) != 1 or not isinstance(values[0], Expression) or len(values[0].terms) != 1:
        return None
    monomial, coefficient = values[0].terms[0]
    return values[0] if coefficient == 1 and len(monomial) == 1 and _LITERAL.match(monomial[0]) else None
