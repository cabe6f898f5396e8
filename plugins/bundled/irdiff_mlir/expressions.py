"""Integer and pointer expressions as polynomials, and predicates as sets of comparisons: equal ones are equal values.

An *atom* is text that cannot be taken apart: an argument, ``pid.x``, ``dim0[0:64]`` (the index along
dimension 0 of the tile, from 0 to 63), ``trip(loop0)`` (the iteration, from 0), a quotient such as
``(pid.x // 4)``, or an opaque token such as ``?math.exp``. A *monomial* is a sorted tuple of atoms. Sizes are
bounded: what grows too large becomes an opaque token, so that hostile text costs no more than real text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

import msgspec

_DIMENSION = re.compile(r"\bdim(\d{1,2})\[")
_MAX_TERMS = 64
_MAX_FACTORS = 6
_MAX_TEXT = 400
_MAX_CONSTANT = 1 << 64
_MOST = 4096
"""Texts of values that are remembered."""

Monomial = tuple[str, ...]


class Expression(msgspec.Struct, frozen=True, gc=False):
    """A sum of coefficient times monomial, in units of elements where it is a pointer."""

    terms: tuple[tuple[Monomial, int], ...]
    """Sorted by monomial; no coefficient is 0."""

    @property
    def constant(self) -> int | None:
        """Its value where it is a number."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def atoms(self) -> Iterable[str]:
        """Every atom of every term."""
        return (atom for monomial, _ in self.terms for atom in monomial)


class Predicate(msgspec.Struct, frozen=True, gc=False):
    """Comparisons joined by ``and`` or ``or``; no part at all is true under ``and`` and false under ``or``."""

    joined: str
    parts: tuple[str, ...]
    """Sorted, each once."""


Value = Expression | Predicate


def number(value: int) -> Expression:
    """A constant."""
    return Expression((((), value),) if value else ())


def atom(text: str) -> Expression:
    """Something that cannot be taken apart."""
    return Expression((((text,), 1),))


def opaque(name: str) -> Expression:
    """A value about which nothing is said but the operation that makes it."""
    return atom(f"?{name}")


def made(name: str, arguments: Iterable[Value], detail: str = "") -> Expression:
    """``name(arguments)``, or an opaque token where that is too long."""
    words = ", ".join(text(argument) for argument in arguments)
    whole = f"{name}({words}{', ' if words and detail else ''}{detail})"
    return atom(whole) if len(whole) <= _MAX_TEXT else opaque(name)


def _collected(terms: Iterable[tuple[Monomial, int]]) -> Expression | None:
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
    found = tuple(sorted((monomial, n) for monomial, n in total.items() if n))
    if len(found) > _MAX_TERMS or any(abs(n) >= _MAX_CONSTANT for _, n in found):
        return None
    return Expression(found)


def add(first: Expression, second: Expression, sign: int = 1) -> Expression:
    """The sum, or with sign -1 the difference."""
    found = _collected((*first.terms, *((monomial, sign * n) for monomial, n in second.terms)))
    return opaque("sum") if found is None else found


def multiply(first: Expression, second: Expression) -> Expression:
    """The product."""
    if len(first.terms) * len(second.terms) > _MAX_TERMS:
        return opaque("product")
    terms = [
        (tuple(sorted((*before, *after))), n * m) for before, n in first.terms for after, m in second.terms
    ]
    if any(len(monomial) > _MAX_FACTORS for monomial, _ in terms):
        return opaque("product")
    found = _collected(terms)
    return opaque("product") if found is None else found


def binary(symbol: str, first: Expression, second: Expression) -> Expression:
    """``(first // second)`` and the like, in one atom."""
    whole = f"({_enclosed(first)} {symbol} {_enclosed(second)})"
    return atom(whole) if len(whole) <= _MAX_TEXT else opaque(symbol)


def _enclosed(value: Expression) -> str:
    """The text as an operand: a sum or a product in parentheses."""
    shown = text(value)
    single = len(value.terms) == 1 and value.terms[0][1] == 1 and len(value.terms[0][0]) == 1
    return shown if single or value.constant is not None else f"({shown})"


def compare(symbol: str, before: Expression, after: Expression) -> Predicate:
    """A signed comparison with every term on the side where its sign is plus: ``k + 32 < n``.

    ``symbol`` is one of ``<``, ``<=``, ``>``, ``>=``, ``==``, ``!=``. Overflow is not thought of.
    """
    if symbol in (">", ">="):
        symbol, before, after = symbol.replace(">", "<"), after, before
    difference = add(before, after, -1)
    value = difference.constant
    if value is not None:
        holds = {"<": value < 0, "<=": value <= 0, "==": value == 0, "!=": value != 0}[symbol]
        return Predicate("and" if holds else "or", ())
    if symbol in ("==", "!=") and difference.terms[0][1] < 0:
        difference = multiply(difference, number(-1))
    low = Expression(tuple(term for term in difference.terms if term[1] > 0))
    high = Expression(tuple((monomial, -n) for monomial, n in difference.terms if n < 0))
    if symbol == "<=" and high.constant:
        symbol, high = "<", add(high, number(1))
    return Predicate("and", (f"{text(low)} {symbol} {text(high)}",))


def join(word: str, first: Predicate, second: Predicate) -> Predicate:
    """Both joined by ``and`` or ``or``."""
    neutral = Predicate(word, ())
    if first == neutral or second == neutral:
        return second if first == neutral else first
    if not first.parts or not second.parts:
        return Predicate("or" if word == "and" else "and", ())
    parts = sorted({*_flat(word, first), *_flat(word, second)})
    if len(parts) > _MAX_TERMS:
        return Predicate("and", ("?condition",))
    return Predicate(word if len(parts) > 1 else "and", tuple(parts))


def _flat(word: str, value: Predicate) -> tuple[str, ...]:
    return value.parts if value.joined == word or len(value.parts) == 1 else (f"({text(value)})",)


def negate(value: Predicate) -> Predicate:
    """Its opposite."""
    if not value.parts:
        return Predicate("or" if value.joined == "and" else "and", ())
    return Predicate("and", (f"not ({text(value)})",))


def predicate(value: Value) -> Predicate:
    """A value of type i1 as a predicate."""
    if isinstance(value, Predicate):
        return value
    found = value.constant
    return Predicate("and", (text(value),)) if found is None else Predicate("and" if found else "or", ())


def move_dimensions(value: Value, moved: Callable[[int], int]) -> Value:
    """The value with its tile's dimensions numbered anew."""

    def renamed(part: str) -> str:
        return _DIMENSION.sub(lambda match: f"dim{moved(int(match[1]))}[", part) if "dim" in part else part

    if isinstance(value, Predicate):
        return Predicate(value.joined, tuple(sorted(renamed(part) for part in value.parts)))
    if not any("dim" in atom for atom in value.atoms()):
        return value
    found = _collected((tuple(sorted(renamed(atom) for atom in monomial)), n) for monomial, n in value.terms)
    return opaque("sum") if found is None else found


def has_dimensions(value: Value) -> bool:
    """Whether it differs between the elements of a tile."""
    parts = value.parts if isinstance(value, Predicate) else value.atoms()
    return any(_DIMENSION.search(part) for part in parts)


@lru_cache(_MOST)
def text(value: Value, base: str = "") -> str:
    """``a_ptr + 64*pid.x + dim0[0:64]``; ``base`` is the pointer argument to begin with, if any."""
    if isinstance(value, Predicate):
        if not value.parts:
            return "true" if value.joined == "and" else "false"
        shown = f" {value.joined} ".join(value.parts)
        return shown if len(shown) <= _MAX_TEXT else "?condition"
    ranked = sorted(value.terms, key=lambda term: _rank(term[0], base))
    words = [_term(monomial, abs(n)) for monomial, n in ranked]
    if not words:
        return "0"
    signs = ["-" if n < 0 else "+" for _, n in ranked]
    head = f"-{words[0]}" if signs[0] == "-" else words[0]
    return " ".join((head, *(f"{sign} {word}" for sign, word in zip(signs[1:], words[1:], strict=True))))


def _rank(monomial: Monomial, base: str) -> tuple[int, Monomial]:
    """The base, then what is the same for the whole tile, what differs inside it, iterations, the constant."""
    if not monomial:
        return 4, monomial
    if monomial == (base,):
        return 0, monomial
    if any("trip(" in atom for atom in monomial):
        return 3, monomial
    return (2 if any(_DIMENSION.search(atom) for atom in monomial) else 1), monomial


def _term(monomial: Monomial, coefficient: int) -> str:
    factors = "*".join(monomial)
    if not factors:
        return str(coefficient)
    return factors if coefficient == 1 else f"{coefficient}*{factors}"
