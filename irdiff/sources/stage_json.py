"""Read the JSON that Triton writes beside a kernel: robustly, and only what every release means by it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from irdiff.model.bundle import Target
from irdiff.model.facts import Scalar
from irdiff.sources.names import classify

MAX_JSON = 1 << 24
"""Bytes (16 MiB) of a stage JSON or group file that are parsed; real ones have one to a few thousand."""

REMEMBERED = 1 << 13
"""Bytes of a JSON that is worth remembering: most kernels are on both sides, with equal files."""
_LARGEST = 1 << 63
_SHOWN_DIGITS = 40


class BadJsonError(ValueError):
    """Not JSON, or not an object; the message completes "the JSON ..."."""


class Decoded(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON object."""

    fields: Mapping[str, object]
    odd: tuple[str, ...] = ()
    """Numbers that are none a machine can hold (past 64 bits, NaN, infinite), as written and cut short; they
    are in ``fields`` as text."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a stage JSON says of its kernel."""

    name: str | None = None
    target: Target | None = None
    release: str | None = None
    hash: str | None = None
    scalars: Mapping[str, Scalar] = {}
    odd: tuple[str, ...] = ()
    """Fields that are there and are not what Triton writes, and odd numbers: each completes "the JSON ..."."""


def decode(data: bytes) -> Decoded:
    """Parse an object. Raises BadJsonError alone, whatever the bytes are."""
    if len(data) > MAX_JSON:
        raise BadJsonError(f"is larger than {MAX_JSON >> 20} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadJsonError(f"is not UTF-8 at byte {error.start}") from None
    numbers = _Numbers()
    try:
        value = json.loads(
            text, parse_int=numbers.integer, parse_float=numbers.real, parse_constant=numbers.set_aside
        )
    except RecursionError:
        raise BadJsonError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        what = f"is cut off or damaged at line {error.lineno}: {error.msg}" if text.strip() else "is empty"
        raise BadJsonError(what) from None
    if not isinstance(value, dict):
        raise BadJsonError(f"is a {_kind(value)}, not an object")
    return Decoded(fields=value, odd=tuple(numbers.odd))


class _Numbers:
    """Turns digits into numbers, and keeps as text those that no machine holds."""

    def __init__(self) -> None:
        self.odd: list[str] = []

    def set_aside(self, digits: str) -> str:
        self.odd.append(digits[:_SHOWN_DIGITS])
        return digits[:_SHOWN_DIGITS]

    def integer(self, digits: str) -> int | str:
        # Python refuses more than 4,300 digits, and takes quadratic time for those before it does.
        if len(digits) <= 20 and -_LARGEST <= (value := int(digits)) < _LARGEST:
            return value
        return self.set_aside(digits)

    def real(self, digits: str) -> float | str:
        value = float(digits)
        return value if math.isfinite(value) else self.set_aside(digits)


def record(decoded: Decoded, stem: str) -> Record:
    """Take out what identifies the kernel; ``stem`` is its file name without the suffix."""
    fields = decoded.fields
    odd = [f"holds the number {number}" for number in decoded.odd]
    release = _text(fields, "triton_version", odd)
    name = _text(fields, "name", odd)
    return Record(
        name=_function_name(name, stem, release),
        target=_target(fields, odd),
        release=release,
        hash=_text(fields, "hash", odd),
        scalars=scalars(fields),
        odd=tuple(odd),
    )


def said_by(data: bytes, stem: str) -> Record | str:
    """What a stage JSON says; else what is wrong with it, to complete "the JSON ..."."""
    return _remembered(data, stem) if len(data) <= REMEMBERED else _said(data, stem)


def stages_listed(data: bytes) -> Mapping[str, str] | str:
    """The names of stages' files that a group file lists, with their suffixes; else what is wrong with it."""
    return _remembered_list(data) if len(data) <= REMEMBERED else _stages(data)


def _said(data: bytes, stem: str) -> Record | str:
    try:
        return record(decode(data), stem)
    except BadJsonError as error:
        return str(error)


def _stages(data: bytes) -> Mapping[str, str] | str:
    try:
        listed = listed_files(decode(data))
    except BadJsonError as error:
        return str(error)
    kinds = {name: classify(name) for name in listed}
    return {name: kind.suffix for name, kind in kinds.items() if kind.role == "stage"}


_remembered = lru_cache(maxsize=1 << 11)(_said)
_remembered_list = lru_cache(maxsize=1 << 11)(_stages)


def looks_like_triton(data: bytes) -> bool:
    """Whether a JSON that no other file of a kernel lies beside is a stage JSON, even a damaged one.

    The two fields are in those of every release from 2.1 to 3.9, at the top.
    """
    if not all(b'"' + field + b'"' in data for field in (b"num_warps", b"num_stages")):
        return False
    try:
        return decode(data).fields.keys() >= {"num_warps", "num_stages"}
    except BadJsonError:
        return True


def is_readable(data: bytes) -> bool:
    """Whether it is JSON at all, of whatever kind."""
    try:
        json.loads(data.decode("utf-8-sig"), parse_int=len)
    except (ValueError, RecursionError):
        return False
    return True


def listed_files(decoded: Decoded) -> tuple[str, ...]:
    """File names in a group file, sorted; the paths beside them are of the machine that wrote it and never opened.

    An object, name to path, or a plain list where a remote cache is used. Raises BadJsonError.
    """
    children = decoded.fields.get("child_paths")
    if not isinstance(children, (dict, list)):
        raise BadJsonError("has no child_paths")
    return tuple(sorted({clean(name) for name in children if isinstance(name, str) and name}))


def scalars(fields: Mapping[str, object]) -> dict[str, Scalar]:
    """The fields that are no list and no object, in the order of their names."""
    found: dict[str, Scalar] = {}
    for key in sorted(fields):
        value = fields[key]
        if isinstance(value, str):
            found[clean(key)] = clean(value)
        elif value is None or isinstance(value, (bool, int, float)):
            found[clean(key)] = value
    return found


def clean(text: str) -> str:
    """Text without lone surrogates, which JSON may spell and no encoding can write."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _text(fields: Mapping[str, object], key: str, odd: list[str]) -> str | None:
    value = fields.get(key)
    if isinstance(value, str) and value:
        return clean(value)
    if key in fields:
        odd.append(f"has {key} of the wrong type ({_kind(value)})")
    return None


def _target(fields: Mapping[str, object], odd: list[str]) -> Target | None:
    """``{"backend", "arch", "warp_size"}`` from 3.0 on, ``{"capability"}`` in 2.2 (NVIDIA only), none in 2.1.

    A list where GPUTarget was written as the tuple it is.
    """
    if "target" not in fields:
        return None
    value = fields["target"]
    backend: object = None
    arch: object = None
    if isinstance(value, dict):
        backend, arch = value.get("backend"), value.get("arch")
        if backend is None and arch is None and "capability" in value:
            backend, arch = "cuda", value["capability"]
    elif isinstance(value, list) and len(value) >= 2:
        backend, arch = value[0], value[1]
    if (
        isinstance(backend, str)
        and backend
        and isinstance(arch, (int, str))
        and not isinstance(arch, bool)
        and arch
    ):
        return Target(backend=clean(backend), arch=clean(str(arch)))
    odd.append("has a target that names no backend and architecture")
    return None


def _function_name(name: str | None, stem: str, release: str | None) -> str | None:
    """The entry's name, without the specialization that Triton 2.1 to 3.0 append (``kernel_0d1d2c``)."""
    if name and release is None and re.fullmatch(re.escape(stem) + r"_[0-9cde]+", name):
        return stem
    return name


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    kinds = ((dict, "object"), (list, "list"), (str, "string"))
    return next((word for kind, word in kinds if isinstance(value, kind)), "number")
