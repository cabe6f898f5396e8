"""Values as a signature writes them: numbers, booleans and None."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import msgspec

MAX_LITERAL = 200
NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?|inf\b|nan\b)"
)
WORDS: Mapping[str, bool | float | None] = {
    "True": True,
    "False": False,
    "None": None,
    "inf": math.inf,
    "nan": math.nan,
}


class Literal(msgspec.Struct, frozen=True):
    """The value of a word; None may be one."""

    value: int | float | bool | None


def literal_of(word: str) -> Literal | None:
    """A number, boolean or None as a Literal; None where the word is none of them."""
    if word in WORDS:
        return Literal(WORDS[word])
    if len(word) > MAX_LITERAL or not NUMBER.fullmatch(word):
        return None
    for convert in (lambda text: int(text, 0), int, float):
        try:
            return Literal(convert(word))
        except ValueError:
            continue
    return None


def literal_or_text(word: str) -> int | float | bool | str | None:
    """The value of a word; a word that has none is a string."""
    found = literal_of(word)
    return word if found is None else found.value
