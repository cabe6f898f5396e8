"""Expressions over facts, as users write them in ``[[check.expect]]``: parsed to values, never evaluated as code.

::

    expression = all { "or" all }
    all        = one { "and" one }
    one        = "not" one | "(" expression ")" | operand OPERATOR operand
    operand    = [ NUMBER "*" ] value [ "*" NUMBER ]
    value      = NUMBER | "text" | true | false | fact | before | before "(" fact ")"
    fact       = stage.name [ "[" "key" "]" ] [ "@" loop ]

``before`` alone is the value before of the fact on the other side of the operator.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NoReturn, TypeAlias, cast

import msgspec

from irdiff.errors import UsageError
from irdiff.model.policy import Combination, Comparison, Expression, Operand

MAX_DEPTH = 50
MAX_LENGTH = 2000
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<operator><=|>=|==|!=|<|>)
    | (?P<number>-?(?:\d[\d_]*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<fact>[a-z][a-z0-9_]*\.[a-z0-9_.]*[a-z0-9_])
    | (?P<word>[A-Za-z_][\w/]*)
    | (?P<mark>[()\[\]@*])
    )""",
    re.VERBOSE,
)
_LOOP = re.compile(r"[a-z][a-z_]*[0-9]+(?:/[a-z][a-z_]*[0-9]+)*")
_BEFORE = "before"


_Rule: TypeAlias = Callable[[], Expression]
_Operator: TypeAlias = Literal["<=", "<", ">=", ">", "==", "!="]


class _Token(msgspec.Struct, frozen=True):
    kind: str
    text: str
    at: int


def parse_expression(text: str, *, where: str) -> Expression:
    """The expression. Raises UsageError that shows the place of what could not be understood."""
    if len(text) > MAX_LENGTH:
        raise UsageError(f"the expression is longer than {MAX_LENGTH} characters", where=where)
    return _Parser(text, where).whole()


class _Parser:
    def __init__(self, text: str, where: str) -> None:
        self._text = text
        self._where = where
        self._tokens = self._split()
        self._next = 0
        self._depth = 0

    def whole(self) -> Expression:
        made = self._expression()
        if self._peek().kind != "end":
            self._fail("and, or, or the end is expected")
        return made

    def _split(self) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while self._text[at:].strip():
            found = _TOKEN.match(self._text, at)
            if found is None:
                blanks = len(self._text[at:]) - len(self._text[at:].lstrip())
                self._fail_at(at + blanks, "this means nothing here")
            kind = cast("str", found.lastgroup)
            tokens.append(_Token(kind, found[kind], found.start(kind)))
            at = found.end()
        return [*tokens, _Token("end", "", len(self._text))]

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, text: str) -> bool:
        token = self._peek()
        if token.text == text and token.kind in ("word", "mark"):
            self._next += 1
            return True
        return False

    def _expression(self) -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail("nested too deeply")
        made = self._joined("or", lambda: self._joined("and", self._one))
        self._depth -= 1
        return made

    def _joined(self, word: Literal["and", "or"], part: _Rule) -> Expression:
        parts = [part()]
        while self._take(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Combination(word=word, parts=tuple(parts))

    def _one(self) -> Expression:
        if self._take("not"):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                self._fail("nested too deeply")
            made = Combination(word="not", parts=(self._one(),))
            self._depth -= 1
            return made
        if self._take("("):
            inside = self._expression()
            if not self._take(")"):
                self._fail("a closing parenthesis is expected")
            return inside
        return self._comparison()

    def _comparison(self) -> Comparison:
        start = self._peek().at
        measured = self._operand()
        operator = self._peek()
        if operator.kind != "operator":
            self._fail("one of <= < >= > == != is expected")
        self._next += 1
        bound = self._operand()
        if self._peek().kind == "operator":
            self._fail("two comparisons in a row: join them with and")
        measured, bound = _completed(measured, bound), _completed(bound, measured)
        if _BEFORE in (measured.fact, bound.fact) or (measured.fact is None and bound.fact is None):
            self._fail_at(start, "it names no fact")
        return Comparison(operator=cast("_Operator", operator.text), measured=measured, bound=bound)

    def _operand(self) -> Operand:
        token = self._peek()
        factor = 1.0
        if token.kind == "number" and self._tokens[self._next + 1].text == "*":
            factor = _number(token.text)
            self._next += 2
        made = self._value()
        if self._take("*"):
            number = self._peek()
            if number.kind != "number":
                self._fail("a number is expected after *")
            self._next += 1
            factor *= _number(number.text)
        if factor != 1.0 and made.fact is None:
            self._fail_at(token.at, "only a fact can be multiplied")
        return msgspec.structs.replace(made, factor=factor)

    def _value(self) -> Operand:
        token = self._peek()
        if token.kind == "fact":
            return self._fact()
        self._next += 1
        if token.kind == "number":
            return Operand(constant=_number(token.text))
        if token.kind == "text":
            return Operand(constant=token.text[1:-1])
        if token.text in ("true", "false"):
            return Operand(constant=token.text == "true")
        if token.text == _BEFORE:
            if not self._take("("):
                return Operand(fact=_BEFORE, side="before")
            if self._peek().kind != "fact":
                self._fail("a fact is expected: before(sass.registers)")
            made = self._fact()
            if not self._take(")"):
                self._fail("a closing parenthesis is expected")
            return msgspec.structs.replace(made, side="before")
        self._next -= 1
        return self._fail("a fact such as sass.registers, a number, a text or before is expected")

    def _fact(self) -> Operand:
        name = self._peek().text
        self._next += 1
        key = None
        if self._take("["):
            inside = self._peek()
            if inside.kind not in ("text", "number"):
                self._fail('a key in quotes is expected: ptx.opcodes["bar.sync"]')
            key = inside.text.strip("\"'")
            self._next += 1
            if not self._take("]"):
                self._fail("] is expected")
        scope = ""
        if self._take("@"):
            loop = self._peek()
            if loop.kind != "word" or not _LOOP.fullmatch(loop.text):
                self._fail("a loop is expected: loop0, loop0/loop1")
            scope = loop.text
            self._next += 1
        return Operand(fact=name, key=key, scope=scope)

    def _fail(self, message: str) -> NoReturn:
        self._fail_at(self._peek().at, message)

    def _fail_at(self, at: int, message: str) -> NoReturn:
        raise UsageError(
            f"{message}, at character {at + 1} of {self._text!r}",
            where=self._where,
            hint='write sass.registers <= 168, kernel.occupancy >= before, ptx.opcodes["bar.sync"] @ loop0 < 3',
        )


def _completed(operand: Operand, other: Operand) -> Operand:
    """``before`` alone means the fact on the other side."""
    if operand.fact != _BEFORE or other.fact in (None, _BEFORE):
        return operand
    return msgspec.structs.replace(other, side="before", factor=operand.factor)


def _number(text: str) -> float:
    return float(text.replace("_", ""))
