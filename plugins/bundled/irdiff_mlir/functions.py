"""Functions and their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from irdiff_mlir import attributes, types
from irdiff_mlir.model import Operation

FUNCTIONS = frozenset(("tt.func", "func.func"))
"""Operations that are functions."""

_FUNCTION = re.compile(r'(?:(public|private|nested) )?@(?:"([^"]*)"|([\w$.-]+))\(')

_MANGLED = re.compile(r"(.*?\w)__")


class Argument(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One argument of a function."""

    name: str
    type: str
    attributes: dict[str, str]


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """One function."""

    name: str
    operation: int
    line: int
    private: bool
    arguments: tuple[Argument, ...]


def of(operation: Operation) -> Function | None:
    """The function that an operation is; None where it does not look like one."""
    match = _FUNCTION.match(operation.head)
    if match is None:
        return None
    inside = types.enclosed(operation.head, match.end() - 1)
    arguments = [_argument(text) for text in types.split(inside)] if inside else []
    return Function(
        name=match[2] or match[3] or "",
        operation=operation.index,
        line=operation.line,
        private=match[1] == "private",
        arguments=tuple(argument for argument in arguments if argument),
    )


def private_names(operations: Iterable[Operation]) -> dict[str, str]:
    """Names of the functions that only this file can call -> ``@f0``, ``@f1`` in the order they stand in."""
    found: dict[str, str] = {}
    for operation in operations:
        if operation.name not in FUNCTIONS or not operation.regions:
            continue
        match = _FUNCTION.match(operation.head)
        if match is not None and match[1] == "private":
            found.setdefault(match[2] or match[3] or "", f"@f{len(found)}")
    return found


def plain_name(mangled: str) -> str:
    """``triton.language.standard.sum`` of the name Triton's front end gives one of its specializations.

    Behind ``__`` it spells types and constants, differently in Triton 3.7 and newer.
    """
    match = _MANGLED.match(mangled)
    return match[1] if match else mangled


def _argument(text: str) -> Argument | None:
    name, colon, rest = text.partition(": ")
    if not colon or not name.startswith("%"):
        return None
    dictionaries = attributes.dictionaries(rest)
    at = rest.rfind(" {") if dictionaries and rest.endswith("}") else -1
    start = dictionaries[-1][0] if at >= 0 else len(rest)
    return Argument(
        name=name[1:],
        type=rest[:start].strip(),
        attributes=attributes.fields(rest[start:]) if start < len(rest) else {},
    )
