"""Small pieces of LLVM IR's syntax: operands at the top level, types, and their sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence

TYPE = re.compile(r"(?:ptr(?: addrspace\(\d+\))?|<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|[a-z]\w*|%[-\w.$]+)")
_SEQUENCE = re.compile(r"[\[<](\d{1,9}) x (.+)[\]>]\Z")
_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "fp128": 16, "x86_fp80": 16}
_INTEGER = re.compile(r"i(\d{1,6})\Z")
_STRING = re.compile(r"\"[^\"\n]*\"")
_NO_BRACKETS = bytes(set(range(128)) - set(b'(){}[]<>"\n'))
_SEPARATOR = re.compile(r"[\"(\[{<)\]}>,]")
_OPEN, _CLOSE = "([{<", ")]}>"


def split_operands(text: str) -> list[str]:
    """Split at commas that are inside no bracket and no string."""
    parts: list[str] = []
    depth = start = 0
    quoted = False
    for found in _SEPARATOR.finditer(text):
        character, position = found[0], found.start()
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
        elif depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return parts


def are_balanced(texts: Sequence[str]) -> list[bool]:
    """For each text, all of one line, whether brackets outside strings come in pairs and strings are closed.

    Of all texts together only brackets and quotes that close no string are kept: few different ones remain.
    """
    kept = _STRING.sub("", "\n".join(texts)).encode("ascii", "ignore").translate(None, _NO_BRACKETS)
    lines = kept.split(b"\n") if texts else []
    known = {line: _is_balanced(line) for line in set(lines)}
    return [known[line] for line in lines]


def _is_balanced(brackets: bytes) -> bool:
    count = brackets.count
    return (
        count(b'"') == 0
        and count(b"(") == count(b")")
        and count(b"{") == count(b"}")
        and count(b"[") == count(b"]")
        and count(b"<") == count(b">")
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
