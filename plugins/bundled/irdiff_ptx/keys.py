"""How operands enter the keys of a tally where the opcode alone does not say what happens."""

from __future__ import annotations

import re
from collections.abc import Callable

_OPERAND = re.compile(r"\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|[^\s,\[\]{}()]+")
_ADDRESSES = re.compile(r"\[[^\]]*\][\s,]*\[[^\]]*\]")
KEYED_OPCODES = ("cp.async", "wgmma.wait_group", "bar")
"""How the opcodes begin for which :func:`key_of` asks for the operands."""
_CACHE_HINT = "L2::cache_hint"


def key_of(fact: str | None, opcode: str, words: list[str]) -> str | Callable[[str], str]:
    """The key of an opcode in the tally of ``fact``, or the function from its operands to the key."""
    if fact == "ptx.async_copies":
        if words[2:3] and words[2] in ("ca", "cg"):
            return lambda operands: _async_copy(words, operands)
        if "tensor" not in words:
            return lambda operands: _with_size(opcode, operands)
    elif fact == "ptx.async_waits" and words[0] in ("cp", "wgmma"):
        return lambda operands: f"{opcode} {_spelled(operands)}".strip()
    elif fact == "ptx.barriers":
        return lambda operands: _barrier(opcode, operands)
    return opcode


def number(text: str) -> str:
    """A constant in decimal; what is no constant is ``register``."""
    try:
        return str(int(text, 0)) if len(text) < 20 else "register"
    except ValueError:
        return "register"


def _spelled(operands: str) -> str:
    return ", ".join(number(operand) for operand in _OPERAND.findall(operands))


def _async_copy(words: list[str], operands: str) -> str:
    """``cp.async.cg 16``, then what else the copy does (PTX ISA 9.7.9 "cp.async").

    ``src-size``: reads fewer bytes than it writes, zero-filling the rest (Triton's masked copy);
    ``ignore-src``: a predicate that zero-fills all; then cache hints as in the opcode.
    """
    parts = _OPERAND.findall(operands)
    key = [f"cp.async.{words[2]} {number(parts[2]) if len(parts) > 2 else 'unknown'}"]
    extra = parts[3:-1] if _CACHE_HINT in words else parts[3:]
    if extra:
        key.append("ignore-src" if extra[0].lstrip("!").startswith("%p") else "src-size")
    key.extend(word for word in words[3:] if word.startswith("L2::"))
    return " ".join(key)


def _with_size(opcode: str, operands: str) -> str:
    """A bulk copy of plain bytes, with its size."""
    parts = _OPERAND.findall(operands)
    return f"{opcode} {number(parts[2])}" if len(parts) > 2 else opcode


def _barrier(opcode: str, operands: str) -> str:
    """``bar.sync`` is barrier 0 for the whole CTA; another barrier or number of threads is spelled out."""
    text = _spelled(operands)
    return opcode if text in ("", "0") or opcode.startswith("bar.warp") else f"{opcode} {text}"


def without_addresses(operands: str) -> str:
    """The operands with the two addresses in front emptied, which enter no key: then few differ."""
    addresses = _ADDRESSES.match(operands)
    return operands if addresses is None else f"[][]{operands[addresses.end() :]}"


def packing(operands: str) -> str:
    """Of a ``mov``: ``pack``, several registers into one, ``unpack``, one into several; a plain move is neither."""
    for part, what in zip(_OPERAND.findall(operands), ("unpack", "pack"), strict=False):
        if part.startswith("{"):
            return what
    return ""
