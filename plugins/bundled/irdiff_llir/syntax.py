"""Small pieces of LLVM IR's syntax: operands at the top level, types, and their sizes."""

from __future__ import annotations

import re

TYPE = re.compile(r"(?:ptr(?: addrspace\(\d+\))?|<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|[a-z]\w*|%[-\w.$]+)")
_SEQUENCE = re.compile(r"[\[<](\d{1,9}) x (.+)[\]>]\Z")
_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "fp128": 16, "x86_fp80": 16}
_INTEGER = re.compile(r"i(\d{1,6})\Z")
_STRING = re.compile(r"\"[^\"]*\"")
_OPEN, _CLOSE = "([{<", ")]}>"


def split_operands(text: str) -> list[str]:
    """Split at commas that are inside no bracket and no string."""
    parts: list[str] = []
    depth = start = 0
    quoted = False
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return parts


def is_balanced(text: str) -> bool:
    """Whether brackets outside strings come in pairs and strings are closed."""
    if '"' in text:
        if text.count('"') % 2:
            return False
        text = _STRING.sub("", text)
    count = text.count
    return (
        count("(") == count(")")
        and count("{") == count("}")
        and count("[") == count("]")
        and count("<") == count(">")
    )


def type_bytes(name: str) -> int | None:
    """Bytes of a type as an element of an array, or None where it is not a plain one."""
    factor = 1
    while (found := _SEQUENCE.match(name)) is not None:
        factor *= int(found[1])
        name = found[2]
    integer = _INTEGER.match(name)
    size = (int(integer[1]) + 7) // 8 if integer is not None else _SIZES.get(name)
    return None if size is None else factor * size
