"""The numbers of SPIR-V and their names, from Khronos' grammar (names.txt, written by make_names.py)."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import NamedTuple


class Names(NamedTuple):
    """Tables by number."""

    opcodes: dict[int, tuple[str, str]]
    """Number to (name, flags): ``t`` where the first operand is a result type, ``r`` where the next is a result."""
    known: frozenset[str]
    """The names of all opcodes."""
    enumerants: dict[str, dict[int, str]]
    """Kind (capability, storage, model, mode, addressing, memory) to number to name."""


@lru_cache(maxsize=1)
def names() -> Names:
    """The tables, read once."""
    opcodes: dict[int, tuple[str, str]] = {}
    enumerants: dict[str, dict[int, str]] = {}
    for line in (resources.files("irdiff_spirv") / "names.txt").read_text(encoding="utf-8").splitlines():
        kind, number, name, *flags = line.split(" ") if not line.startswith("#") else ("", "", "")
        if kind == "op":
            opcodes[int(number)] = (name, "".join(flags))
        elif kind:
            enumerants.setdefault(kind, {})[int(number)] = name
    return Names(opcodes, frozenset(name for name, _ in opcodes.values()), enumerants)
