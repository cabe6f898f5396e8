"""The closed list of value kinds; each has exactly one JSON form, one comparison and one rendering.

=========  ==========================  ==========================================
kind       JSON form                   delta
=========  ==========================  ==========================================
count      integer                     after - before
quantity   number                      after - before
flag       true or false               ``"false -> true"``
token      string                      ``"before -> after"``
set        sorted list of strings      list of ``+x`` and ``-x``
tally      object, key to integer      object, key to difference (changed keys)
record     object, field to scalar     object, field to ``"before -> after"``
sequence   list of strings             list of ``-x`` and ``+x``, else ``order changed``
=========  ==========================  ==========================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import cast

from irdiff.model.facts import FactSpec, Scalar, Value
from irdiff.model.specs import KindSpec

UNKNOWN = "unknown"
"""What a record does not hold is called."""


def scalar_text(value: Scalar) -> str:
    """The text of a record's field: JSON's spelling, ``none`` for null."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return f"{int(value):,}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_strings(value: Value) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def _is_set(value: Value) -> bool:
    return _is_strings(value) and list(cast("tuple[str, ...]", value)) == sorted(
        set(cast("tuple[str, ...]", value))
    )


def _is_tally(value: Value) -> bool:
    return isinstance(value, dict) and all(_is_count(cast("Value", count)) for count in value.values())


def _is_record(value: Value) -> bool:
    return isinstance(value, dict)


def _number_delta(before: Value, after: Value) -> Value | None:
    difference = cast("float", after) - cast("float", before)
    return difference if difference else None


def _arrow_delta(before: Value, after: Value) -> Value | None:
    if before == after:
        return None
    return f"{scalar_text(cast('Scalar', before))} -> {scalar_text(cast('Scalar', after))}"


def _set_delta(before: Value, after: Value) -> Value | None:
    old, new = set(cast("tuple[str, ...]", before)), set(cast("tuple[str, ...]", after))
    moved = [f"-{item}" for item in sorted(old - new)] + [f"+{item}" for item in sorted(new - old)]
    return tuple(moved) or None


def _tally_delta(before: Value, after: Value) -> Value | None:
    old, new = cast("dict[str, int]", before), cast("dict[str, int]", after)
    moved: dict[str, Scalar] = {
        key: new.get(key, 0) - old.get(key, 0)
        for key in sorted({*old, *new})
        if new.get(key, 0) != old.get(key, 0)
    }
    return moved or None


def _record_delta(before: Value, after: Value) -> Value | None:
    old, new = cast("dict[str, Scalar]", before), cast("dict[str, Scalar]", after)
    moved: dict[str, Scalar] = {
        field: f"{field_text(old, field)} -> {field_text(new, field)}"
        for field in sorted({*old, *new})
        if _differs(old.get(field), new.get(field))
    }
    return moved or None


def field_text(record: Mapping[str, Scalar], field: str) -> str:
    """A field's text; ``unknown`` where the record does not hold it."""
    return scalar_text(record[field]) if field in record else UNKNOWN


def _differs(before: Scalar, after: Scalar) -> bool:
    return type(before) is not type(after) or before != after


def _sequence_delta(before: Value, after: Value) -> Value | None:
    if before == after:
        return None
    old, new = Counter(cast("tuple[str, ...]", before)), Counter(cast("tuple[str, ...]", after))
    moved = [f"-{item}" for item in (old - new).elements()] + [f"+{item}" for item in (new - old).elements()]
    return tuple(moved) or ("order changed",)


def _number_sign(before: Value, after: Value, spec: FactSpec) -> int:
    difference = cast("float", after) - cast("float", before)
    scale = max(abs(cast("float", before)), abs(cast("float", after)))
    if not difference or abs(difference) <= spec.tolerance * scale:
        return 0
    return 1 if difference > 0 else -1


def _no_sign(before: Value, after: Value, spec: FactSpec) -> int:
    return 0


def _token_sign(before: Value, after: Value, spec: FactSpec) -> int:
    """By the spec's order: the highest word first, then the lowest; 0 where a word is not in it."""
    ranks = []
    for value in (before, after):
        words = cast("str", value).split(" + ")
        if not all(word in spec.order for word in words):
            return 0
        places = [spec.order.index(word) for word in words]
        ranks.append((max(places), min(places)))
    return (ranks[1] > ranks[0]) - (ranks[1] < ranks[0])


def _tally_sign(before: Value, after: Value, spec: FactSpec) -> int:
    old, new = cast("dict[str, int]", before), cast("dict[str, int]", after)
    if spec.measure == "key":
        before_mean, after_mean = _mean_key(old), _mean_key(new)
        if before_mean is None or after_mean is None:
            return 0
        return _number_sign(before_mean, after_mean, spec)
    return _number_sign(sum(old.values()), sum(new.values()), spec)


def _mean_key(tally: Mapping[str, int]) -> float | None:
    """Mean of the numbers the keys begin with, weighted by their counts."""
    total = weight = 0
    for key, count in tally.items():
        head = key.split(" ", 1)[0]
        if not (head.isascii() and head.isdigit() and len(head) < 20):
            return None
        total += int(head) * count
        weight += count
    return total / weight if weight else None


def _number_text(value: Value) -> str:
    return scalar_text(cast("Scalar", value))


def _strings_text(value: Value) -> str:
    return "; ".join(cast("tuple[str, ...]", value)) or "none"


def _mapping_text(value: Value) -> str:
    items = cast("dict[str, Scalar]", value)
    return ", ".join(f"{key} {scalar_text(items[key])}" for key in sorted(items)) or "none"


def standard_kinds() -> dict[str, KindSpec]:
    """The kinds that are always there, by id."""
    kinds = (
        KindSpec(
            id="count", accepts=_is_count, compare=_number_delta, to_text=_number_text, sign=_number_sign
        ),
        KindSpec(
            id="quantity", accepts=_is_number, compare=_number_delta, to_text=_number_text, sign=_number_sign
        ),
        KindSpec(
            id="flag",
            accepts=lambda value: isinstance(value, bool),
            compare=_arrow_delta,
            to_text=_number_text,
            sign=lambda before, after, spec: int(cast("bool", after)) - int(cast("bool", before)),
        ),
        KindSpec(
            id="token",
            accepts=lambda value: isinstance(value, str),
            compare=_arrow_delta,
            to_text=_number_text,
            sign=_token_sign,
        ),
        KindSpec(id="set", accepts=_is_set, compare=_set_delta, to_text=_strings_text, sign=_no_sign),
        KindSpec(
            id="tally", accepts=_is_tally, compare=_tally_delta, to_text=_mapping_text, sign=_tally_sign
        ),
        KindSpec(
            id="record", accepts=_is_record, compare=_record_delta, to_text=_mapping_text, sign=_no_sign
        ),
        KindSpec(
            id="sequence", accepts=_is_strings, compare=_sequence_delta, to_text=_strings_text, sign=_no_sign
        ),
    )
    return {kind.id: kind for kind in kinds}
