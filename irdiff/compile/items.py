"""The items of a signature as values: types, constexprs, tuples; and their text."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

SCALARS = (
    *("i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64"),
    *("fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"),
)
"""Types of one element."""
OPAQUE = ("nvTmaDesc",)
"""Types of which nothing else can be said: a TMA descriptor before Triton 3.4."""

Hint: TypeAlias = Literal["16", "1", "range32"]
HINTS: tuple[Hint, ...] = ("16", "1", "range32")
ValueKind: TypeAlias = Literal["int", "float", "bool", "none", "str"]


class TypeItem(msgspec.Struct, frozen=True, kw_only=True, tag="type", tag_field="item"):
    """A type, or, for a constexpr parameter, the type as a value."""

    type: str
    """As Triton spells it: ``*fp16``, ``tensordesc<fp16[128, 64]>``."""
    hints: tuple[Hint, ...] = ()
    """In the order of ``HINTS``."""


class ValueItem(msgspec.Struct, frozen=True, kw_only=True, tag="value", tag_field="item"):
    """A constexpr value, as text so that no value is lost on the way to another process."""

    kind: ValueKind
    text: str
    """``256``, ``inf``, ``True``, ``None``; the string itself for ``str``."""


class TupleItem(msgspec.Struct, frozen=True, kw_only=True, tag="tuple", tag_field="item"):
    """Several items passed as one argument."""

    items: tuple[Item, ...]


class LaterItem(msgspec.Struct, frozen=True, kw_only=True, tag="constexpr", tag_field="item"):
    """The word ``constexpr``: a value that is given by name or is the parameter's default."""


Item: TypeAlias = TypeItem | ValueItem | TupleItem | LaterItem


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a signature."""

    name: str | None = None
    """``None``: the parameter at this position."""
    item: Item


def spell(item: Item) -> str:
    """The text of an item; ``parse_values`` of it gives the item back."""
    if isinstance(item, TypeItem):
        return ":".join((item.type, *item.hints))
    if isinstance(item, TupleItem):
        inner = ", ".join(spell(each) for each in item.items)
        return f"({inner},)" if len(item.items) == 1 else f"({inner})"
    if isinstance(item, LaterItem):
        return "constexpr"
    return quoted(item.text) if item.kind == "str" else item.text


def spell_signature(arguments: tuple[Argument, ...]) -> str:
    """The text of a signature."""
    return ", ".join(
        spell(argument.item) if argument.name is None else f"{argument.name}={spell(argument.item)}"
        for argument in arguments
    )


def value_item(value: float | str | None) -> ValueItem:
    """A Python value as an item."""
    if value is None:
        return ValueItem(kind="none", text="None")
    if isinstance(value, bool):
        return ValueItem(kind="bool", text=str(value))
    if isinstance(value, int):
        return ValueItem(kind="int", text=str(value))
    if isinstance(value, float):
        return ValueItem(kind="float", text=repr(value))
    return ValueItem(kind="str", text=value)


def quoted(text: str) -> str:
    """A string in quotes, as the notation reads it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"
