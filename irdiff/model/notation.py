"""Any value of a fact as one line of text that people read, and back: equal texts are equal values.

::

    number, true, false, null   34, 0.5, -3
    text                        cuda:90, or "quoted as in JSON" where it could be taken for something else
    tally                       {bar.sync 7, cp.async.cg 16 5, "64x32xbf16, masked" 1}
    record                      {num_warps = 4, arch = sm90}
    set, sequence               [16, 32]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from irdiff.model.facts import Scalar, Value

_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|inf)|nan")
_INTEGER = re.compile(r"-?[0-9]+")
_WORDS: Mapping[str, Scalar] = {"true": True, "false": False, "null": None}
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_BARE_ITEM = r'[^\s",{}\[\]=](?:[^",{}\[\]=]*[^\s",{}\[\]=])?'
_ITEM = re.compile(rf"(?P<text>{_QUOTED}|{_BARE_ITEM})(?:, |\Z)")
_COUNTED = re.compile(rf"(?P<text>{_QUOTED}|{_BARE_ITEM}) (?P<count>[0-9]+)(?:, |\Z)")
_FIELD = re.compile(rf"(?P<text>{_QUOTED}|{_BARE_ITEM}) = (?P<value>{_QUOTED}|{_BARE_ITEM})(?:, |\Z)")
_KEY = re.compile(r"[\w.$%@*+:/<>!|()-]+")
_MAX_DIGITS = 400
"""Digits of a number that is read: far more than any fact has, and few enough to convert quickly."""


class NotationError(ValueError):
    """What stands there is no value."""


def value_text(value: Value | None) -> str:
    """One line for any value; a mapping of counts is a tally."""
    if isinstance(value, dict):
        if value and not is_tally(value):
            return "{" + ", ".join(f"{_item(k)} = {_item_value(value[k])}" for k in sorted(value)) + "}"
        return "{" + ", ".join(f"{_item(key)} {value[key]}" for key in sorted(value)) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(_item(item) for item in value) + "]"
    return scalar_text(value)


def scalar_text(value: Scalar) -> str:
    """One line for a number, truth value, text or nothing."""
    if not isinstance(value, str):
        return _literal(value)
    bare = value.isprintable() and value == value.strip() and value[:1] not in ("", '"', "{", "[")
    return value if bare and not _is_literal(value) else quoted(value)


def key_text(key: str) -> str:
    """A name of a field: bare where it is one word."""
    return key if _KEY.fullmatch(key) and key.isprintable() else quoted(key)


def quoted(text: str) -> str:
    """As a JSON string; what is not printable is escaped."""
    return json.dumps(text, ensure_ascii=not text.isprintable()).replace("\x7f", "\\u007f")


def is_tally(value: Mapping[str, Scalar]) -> bool:
    """Whether every field is a count."""
    return all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in value.values())


def parse_value(text: str) -> Value | None:
    """What ``value_text`` wrote. Raises NotationError."""
    if not text.isprintable():
        raise NotationError("it holds characters that are not printable")
    if text[:1] == "[" and text[-1:] == "]":
        return tuple(_unquoted(found["text"]) for found in _each(_ITEM, text[1:-1], "a list"))
    if text[:1] == "{" and text[-1:] == "}":
        inside = text[1:-1]
        pairs: list[tuple[str, Scalar]]
        if _FIELD.match(inside):
            fields = _each(_FIELD, inside, "a record")
            pairs = [(_unquoted(found["text"]), parse_scalar(found["value"])) for found in fields]
        else:
            counts = _each(_COUNTED, inside, "a tally (key count, key count)")
            pairs = [(_unquoted(found["text"]), _integer(found["count"])) for found in counts]
        made = dict(pairs)
        if len(made) != len(pairs):
            raise NotationError("one key stands there twice")
        return made
    return parse_scalar(text)


def parse_scalar(text: str) -> Scalar:
    """What ``scalar_text`` wrote. Raises NotationError."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if not text or text != text.strip():
        raise NotationError("a value is missing, or has spaces around it")
    if text[0] in "{[":
        raise NotationError(f"{text[0]} is not closed")
    if not text.isprintable():
        raise NotationError("it holds characters that are not printable")
    return _unquoted(text)


def parse_key(text: str) -> str:
    """What ``key_text`` wrote. Raises NotationError."""
    if text[:1] != '"' and not (_KEY.fullmatch(text) and text.isprintable()):
        raise NotationError(f"{text!r} is no name")
    return _unquoted(text)


def _literal(value: float | None) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return str(value) if isinstance(value, int) else repr(value)


def _is_literal(text: str) -> bool:
    return text in _WORDS or _NUMBER.fullmatch(text) is not None


def _item(text: str) -> str:
    return text if text.isprintable() and re.fullmatch(_BARE_ITEM, text) else quoted(text)


def _item_value(value: Scalar) -> str:
    if not isinstance(value, str):
        return _literal(value)
    return quoted(value) if _is_literal(value) else _item(value)


def _unquoted(text: str) -> str:
    if text[:1] != '"':
        return text
    try:
        made = json.loads(text)
    except (ValueError, RecursionError):
        raise NotationError("a quoted text is not written as in JSON") from None
    if not isinstance(made, str):
        raise NotationError("a quoted text is not written as in JSON")
    return made


def _each(pattern: re.Pattern[str], text: str, what: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(text):
        found = pattern.match(text, at)
        if found is None or (found.end() == len(text) and text.endswith(", ")):
            raise NotationError(f"not {what} from {text[at : at + 30]!r} on")
        yield found
        at = found.end()


def _integer(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise NotationError(f"a number of {len(text)} digits")
    return int(text)
