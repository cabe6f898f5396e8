"""Integer constants, and plain arithmetic on them, as far as loop bounds need it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from irdiff_mlir import forms
from irdiff_mlir.forms import Form

_CONSTANT = re.compile(r"(?:\{[^{}]*\} )?(-?\d{1,19}) : (i\d{1,3}|index)$")
_WIDTH = re.compile(r".*[ :](i(\d{1,3})|index)$")


def _quotient(x: int, y: int) -> int | None:
    """Rounded towards zero, as ``arith.divsi`` does."""
    if y == 0:
        return None
    magnitude = abs(x) // abs(y)
    return magnitude if (x < 0) == (y < 0) else -magnitude


_BINARY: dict[str, Callable[[int, int], int | None]] = {
    "arith.addi": lambda x, y: x + y,
    "arith.subi": lambda x, y: x - y,
    "arith.muli": lambda x, y: x * y,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.divsi": _quotient,
    "arith.remsi": lambda x, y: None if y == 0 else x - y * (_quotient(x, y) or 0),
    "arith.ceildivsi": lambda x, y: None if y == 0 else -(-x // y),
}
UNCHANGED = frozenset(("arith.extsi", "arith.index_cast", "arith.trunci", "arith.bitcast"))
"""Operations whose result has the value of their operand (checked against the width)."""


EVALUATED = frozenset(("arith.constant", *_BINARY)) | UNCHANGED
"""Operations that may have a value."""


@lru_cache(forms.MOST)
def _constant(form: Form) -> int | None:
    match = _CONSTANT.match(form.text)
    return int(match[1]) if match else None


@lru_cache(forms.MOST)
def _width(form: Form) -> int | None:
    match = _WIDTH.match(form.text)
    if match is None:
        return None
    return min(int(match[2]), 64) if match[2] else 64


def evaluate(form: Form, operands: Sequence[int | None]) -> int | None:
    """Value of a scalar integer operation on constants; None where it is not one or would overflow."""
    name = form.name
    if name == "arith.constant":
        return _constant(form)
    if not operands or any(operand is None for operand in operands):
        return None
    values = [operand for operand in operands if operand is not None]
    value: int | None = None
    if name in _BINARY and len(values) == 2:
        value = _BINARY[name](*values)
    elif name in UNCHANGED and len(values) == 1:
        value = values[0]
    if value is None:
        return None
    width = _width(form)
    if width is None:
        return None
    return value if -(1 << (width - 1)) <= value < 1 << (width - 1) else None
