"""What LLVM IR declares of the kernel: convention, arguments, launch attributes, triple."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irdiff.api import Fact, Scalar
from irdiff_llir.reader import Module
from irdiff_llir.syntax import TYPE, split_operands

_CONVENTION = re.compile(r"define (?:[a-z_()\"]+ )*?([a-z]+_kernel) ")
_NAME = re.compile(r"@(\"[^\"]*\"|[-\w.$]+)\(")
_GROUP = re.compile(r" #(\d+)(?= |\Z)")
_ATTRIBUTES = re.compile(r"attributes #(\d+) = \{(.*)\}\s*\Z")
_ATTRIBUTE = re.compile(r"\"((?:nvvm\.|amdgpu-(?!no-))[-\w.]+)\"(?:=\"([^\"]*)\")?")
_TRIPLE = re.compile(r"target triple = \"([^\"]*)\"")
_ANNOTATION = re.compile(r"!\d+ = !\{ptr @(\"[^\"]*\"|[-\w.$]+), !\"(\w+)\", i32 (-?\d+)\}")
_PARENTHESIS = re.compile(r"[()]")
_BYVAL = re.compile(r"byval\((?:[^()]|\(\d+\))*\)")


def kernel_fact(module: Module) -> Iterator[Fact]:
    """The ``llir.kernel`` record; nothing where the file defines no function."""
    odd = [module.items[index] for index in module.odd]
    defines = [(line, text) for line, _, opcode, text in odd if opcode == "{"]
    if not defines:
        return
    line, text = next((pair for pair in defines if _CONVENTION.match(pair[1])), defines[0])
    convention = _CONVENTION.match(text)
    name = _NAME.search(text)
    fields: dict[str, Scalar] = {
        "convention": convention[1] if convention is not None else "none",
        "triple": "none",
    }
    evidence: dict[str, tuple[int, ...]] = {"convention": (line,), "arguments": (line,)}
    fields["arguments"] = _arguments(text[name.end() :]) if name is not None else None
    used = set(_GROUP.findall(text.partition(" !")[0]))
    for number, kind, top in module.top:
        found = None
        if kind == "target" and (triple := _TRIPLE.match(top)) is not None:
            found = [("triple", triple[1])]
        elif kind == "attributes" and (group := _ATTRIBUTES.match(top)) is not None and group[1] in used:
            found = _ATTRIBUTE.findall(group[2])
        elif (
            kind == "!"
            and name is not None
            and " = !{ptr @" in top
            and (note := _ANNOTATION.match(top)) is not None
            and note[1] == name[1]
        ):
            found = [(f"nvvm.{note[2]}", note[3])]
        for field, value in found or ():
            fields[field] = value if value else True
            evidence[field] = (number,)
    yield Fact(
        id="llir.kernel",
        value={field: fields[field] for field in sorted(fields)},
        evidence={field: evidence[field] for field in sorted(evidence)},
    )


def _arguments(text: str) -> str:
    """Types of the arguments, with address spaces; attributes that only inform the optimizer are left out."""
    depth = 1
    for found in _PARENTHESIS.finditer(text):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            text = text[: found.start()]
            break
    types: list[str] = []
    for part in split_operands(text):
        kind = TYPE.match(part)
        passed = _BYVAL.search(part)
        if kind is not None:
            types.append(f"{kind.group()} {passed.group()}" if passed is not None else kind.group())
    return ", ".join(types)
