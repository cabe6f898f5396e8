"""Reads the JSON of a cache entry: its top-level fields, each with the byte where its key stands."""

from __future__ import annotations

import json
import math
import re
from typing import TypeAlias

import msgspec

from irdiff.api import ParseError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_SPACE = re.compile(r"[ \t\n\r]*")
_LARGEST_INT_DIGITS = 19
"""Digits of 2**63 - 1: a report's integers are 64 bits wide."""
_MARKS = frozenset({"num_warps", "shared", "target", "name"})
"""Fields of which every release since 2.1 writes at least one."""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field of the object."""

    key: str
    value: Json
    text: str
    """The value as compact JSON with sorted keys, in ASCII."""
    offset: int
    """Byte offset of the key's opening quote."""


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of one JSON file in the order of the file."""

    fields: dict[str, Field]
    repeated: tuple[str, ...] = ()
    """Keys that occur more than once; as everywhere in JSON readers, the last one counts."""
    record: dict[str, Json] | None = None
    """The ``irdiff.json`` beside it, where there is one: a source appends it to the stage JSON."""
    record_offset: int = 0
    """Byte where the record begins."""

    def value(self, key: str) -> Json:
        """The value of a field; None where it is not recorded, or recorded as null."""
        field = self.fields.get(key)
        return field.value if field else None


def read(data: bytes) -> Metadata:
    """The metadata of a kernel. Raises ParseError alone, whatever the bytes are."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ParseError("it is not UTF-8 text", offset=error.start) from error
    try:
        return _read(text)
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode())
        raise ParseError(
            f"it is not JSON: {error.msg}", offset=offset, hint="is the file complete?"
        ) from error
    except RecursionError as error:
        raise ParseError("its values are nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ParseError("it holds half of a surrogate pair, which is no character") from error


def _read(text: str) -> Metadata:
    decoder = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_constant)
    place = _skip(text, 0)
    if text[place : place + 1] != "{":
        decoder.raw_decode(text, place)  # says what is wrong where it is no JSON either
        raise ParseError("it is not a JSON object", offset=len(text[:place].encode()))
    fields: dict[str, Field] = {}
    repeated: list[str] = []
    ascii_only = text.isascii()
    place = _skip(text, place + 1)
    while text[place : place + 1] != "}":
        if fields:
            place = _skip(text, _expect(text, place, ","))
        start = place
        _expect(text, place, '"')
        key, place = decoder.raw_decode(text, place)
        place = _skip(text, _expect(text, _skip(text, place), ":"))
        value, place = decoder.raw_decode(text, place)
        key.encode()
        if key in fields:
            repeated.append(key)
        fields[key] = Field(
            key=key,
            value=value,
            text=_compact(value),
            offset=start if ascii_only else len(text[:start].encode()),
        )
        place = _skip(text, place)
    end = _skip(text, place + 1)
    record = _record(decoder, text, end)
    if not _MARKS & fields.keys():
        raise ParseError(
            "it is not the metadata of a kernel", hint=f"none of {', '.join(sorted(_MARKS))} is there"
        )
    return Metadata(
        fields=fields, repeated=tuple(repeated), record=record, record_offset=len(text[:end].encode())
    )


def _record(decoder: json.JSONDecoder, text: str, place: int) -> dict[str, Json] | None:
    """The second object, which must be a record of irdiff."""
    if place == len(text):
        return None
    try:
        found, end = decoder.raw_decode(text, place)
    except json.JSONDecodeError:
        found, end = None, place
    named = isinstance(found, dict) and str(found.get("schema", "")).startswith("irdiff-entry/")
    if not named or _skip(text, end) != len(text):
        raise json.JSONDecodeError("something follows the object", text, place)
    made: dict[str, Json] = found
    return made


def _compact(value: Json) -> str:
    json.dumps(value, ensure_ascii=False).encode()  # UnicodeEncodeError for half a surrogate pair
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _expect(text: str, place: int, letter: str) -> int:
    if text[place : place + 1] != letter:
        raise json.JSONDecodeError(f"expected {letter}", text, min(place, len(text)))
    return place + 1


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) <= _LARGEST_INT_DIGITS and -(2**63) <= int(digits) < 2**63:
        return int(digits)
    raise ParseError(f"the number {digits[:24]}... does not fit into 64 bits")


def _float(digits: str) -> float:
    number = float(digits) if len(digits) < 400 else math.inf
    if math.isinf(number):
        raise ParseError(f"the number {digits[:24]} is out of range")
    return number


def _constant(name: str) -> float:
    raise ParseError(f"{name} is not a JSON number")
