"""What PTX declares rather than executes: header, parameters, launch bounds, registers, local memory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from irdiff.api import Scalar
from irdiff_ptx.items import Item
from irdiff_ptx.opcodes import TYPE_BITS

_HEAD = re.compile(
    r"(?P<linking>(?:\.\w+\s+)*)\.(?P<kind>entry|func)\s*(?:\((?P<returns>[^()]*)\)\s*)?(?P<name>[\w$%.]+)\s*"
    r"(?:\((?P<parameters>[^()]*)\))?(?P<bounds>[^()]*)\Z"
)
_PARAMETER = re.compile(r"(?P<type>\.(?:param|reg)\s(?:.*[^\w$%])?)(?P<name>[\w$%]+)\s*(?P<array>\[\d*\])?\Z")
_BOUND = re.compile(r"\.([a-z]\w*)\s*([^.]*)")
_REGISTERS = re.compile(r"\.reg\s+(?:\.v([248])\s+)?\.(\w+)\s+(.+)\Z")
_REGISTER = re.compile(r"([\w$%]+)\s*(?:<\s*(\d{1,9})\s*>)?\Z")
_STORAGE = re.compile(
    r"\.(?:local|shared|global|const)\s+(?:\.align\s+\d+\s+)?(?:\.v([248])\s+)?\.(\w+)\s+[\w$%]+((?:\[\d{1,12}\])*)"
)


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of a function."""

    text: str
    """Type and attributes without the name: ``.u64 .ptr .global .align 1``, ``.align 64 .b8[128]``."""
    name: str


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """A function's head (PTX ISA 11.2 "Specifying Kernel Entry Points and Functions")."""

    linking: str
    """``.visible``, ``.extern``, ``.weak`` or nothing."""
    kind: str
    """``entry`` or ``func``."""
    name: str
    returns: tuple[Parameter, ...]
    parameters: tuple[Parameter, ...]
    bounds: tuple[tuple[str, str], ...]
    """Performance-tuning and cluster directives after the parameters (PTX ISA 11.4): (name, value)."""


@lru_cache(maxsize=16)
def parse_head(text: str) -> Head | None:
    """A function's head, or None where it is not one."""
    match = _HEAD.match(" ".join(text.split()))
    if match is None:
        return None
    parameters = _parameters(match["parameters"])
    returns = _parameters(match["returns"])
    if parameters is None or returns is None:
        return None
    bounds = tuple((name, value.strip()) for name, value in _BOUND.findall(match["bounds"]))
    return Head(
        linking=match["linking"].strip(),
        kind=match["kind"],
        name=match["name"],
        returns=returns,
        parameters=parameters,
        bounds=bounds,
    )


def _parameters(text: str | None) -> tuple[Parameter, ...] | None:
    found: list[Parameter] = []
    for part in (text or "").split(","):
        bare = part.strip()
        if not bare:
            continue
        kind, _, name = bare.rpartition(" ")
        if not (kind.startswith(".param ") and name.isidentifier() and name.isascii()):  # as most are
            match = _PARAMETER.match(bare)
            if match is None:
                return None
            kind, name = match["type"].rstrip() + (match["array"] or ""), match["name"]
        found.append(Parameter(text=kind.removeprefix(".param").strip(), name=name))
    return tuple(found)


def bound_value(name: str, value: str) -> Scalar:
    """A number, or the sizes as text; sizes of 1 at the end say nothing (PTX ISA 11.4 ".maxntid")."""
    if name in ("reqntid", "maxntid"):
        value = shortest_sizes(value)
    if not value:
        return True
    return int(value) if value.isdecimal() and len(value) < 18 else value


def shortest_sizes(value: str) -> str:
    """``128, 1, 1`` as ``128``: dimensions that are not given are 1."""
    sizes = [size.strip() for size in value.split(",")]
    while len(sizes) > 1 and sizes[-1] == "1":
        sizes.pop()
    return ", ".join(sizes)


@lru_cache(maxsize=256)
def registers(text: str) -> tuple[tuple[str, str, int | None], ...]:
    """(class, name, how many or None for one plain name) of a ``.reg`` directive; nothing where it is not one."""
    match = _REGISTERS.match(text)
    if match is None:
        return ()
    kind = f"v{match[1]}.{match[2]}" if match[1] else match[2]
    parts = [_REGISTER.match(part.strip()) for part in match[3].split(",")]
    return tuple(
        (kind, found[1], int(found[2]) if found[2] else None) for found in parts if found is not None
    )


def storage_bytes(texts: Iterable[str]) -> int:
    """Bytes that variable declarations such as ``.local .align 16 .b8 __local_depot0[64]`` take."""
    total = 0
    for text in texts:
        match = _STORAGE.match(text)
        if match is None:
            continue
        size = TYPE_BITS.get(match[2], 0) // 8 * int(match[1] or 1)
        for count in re.findall(r"\d+", match[3]):
            size *= int(count)
        total += size
    return total


def is_understood(item: Item) -> bool:
    """Whether a directive was parsed."""
    _, _, word, text = item
    if word in (".entry", ".func"):
        return parse_head(text) is not None
    if word == ".reg":
        return bool(registers(text))
    if word in (".local", ".shared", ".global", ".const"):
        return _STORAGE.match(text) is not None
    return word.startswith(".")
