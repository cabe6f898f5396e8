"""What the code object's metadata says of its kernels, from the YAML of the assembly or the note of the ELF.

AMDGPU usage guide of LLVM, "Code Object V3 Metadata" and later versions: one map for each kernel in
``amdhsa.kernels``; a key that is not there was not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from irdiff.api import ParseError

NOTE = 32
"""NT_AMDGPU_METADATA: type of the ELF note."""
RESOURCES = (
    "vgpr_count",
    "agpr_count",
    "sgpr_count",
    "vgpr_spill_count",
    "sgpr_spill_count",
    "private_segment_fixed_size",
    "group_segment_fixed_size",
    "kernarg_segment_size",
    "kernarg_segment_align",
    "max_flat_workgroup_size",
    "wavefront_size",
    "workgroup_processor_mode",
)
"""Keys whose numbers are kept, without their dot."""
_KEY = re.compile(r"(\s*)(- )?(\.?[A-Za-z_][\w.]*):(?:\s+(.*))?\Z")
_ITEM = re.compile(r"\s*- (.*)\Z")
_ARCH = re.compile(r"gfx[0-9a-f]{3,5}(?:-generic)?")
_NUMBER = re.compile(r"\d{1,18}\Z")
_BOOLEAN = {"true": 1, "false": 0}
_INDENT = 4
"""Columns of a kernel's own keys."""


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel."""

    name: str
    numbers: dict[str, int]
    """Key without its dot to number; of RESOURCES, those that are recorded."""
    places: dict[str, int] = {}
    """Key to the line it stands on, or the offset of the note."""
    arguments: tuple[str, ...] = ()
    """``global_buffer 8 B at 0, global``: kind, size, offset, address space."""
    other: tuple[str, ...] = ()
    """Every other key as ``key: value``, in the order of the keys."""


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    kernels: tuple[Kernel, ...]
    target: str | None
    """``amdhsa.target`` as written."""
    version: str | None
    """``amdhsa.version``: ``1.2``."""
    target_place: int = 0


def arch_of(text: str) -> str | None:
    """``gfx942`` out of any spelling of a target: ``amdgcn-amd-amdhsa--gfx942:sramecc+``."""
    found = _ARCH.search(text)
    return found.group() if found else None


def features_of(text: str) -> str:
    """What a target says behind its name: ``:sramecc+:xnack-``."""
    _, colon, features = text.strip('"').partition(":")
    return colon + features


def from_yaml(lines: Iterable[tuple[int, str]]) -> Metadata:
    """Read the block of the assembly: the few forms that LLVM's YAML writer uses."""
    reader = _Yaml()
    for number, line in lines:
        match = _KEY.match(line)
        if match is not None:
            reader.key(number, match)
        else:
            item = _ITEM.match(line)
            if item is not None:
                reader.item(item[1])
    reader.close()
    target, place = reader.top_level.get("amdhsa.target", (None, 0))
    return Metadata(
        kernels=tuple(reader.kernels),
        target=target,
        version=".".join(reader.version) or None,
        target_place=place,
    )


class _Yaml:
    """Where the reader is: in a key of the top, a kernel, one of its arguments."""

    def __init__(self) -> None:
        self.kernels: list[Kernel] = []
        self.top_level: dict[str, tuple[str, int]] = {}
        self.version: list[str] = []
        self._top = self._inside = ""
        self._own: dict[str, tuple[str, int]] = {}
        self._arguments: list[dict[str, str]] = []

    def key(self, number: int, match: re.Match[str]) -> None:
        """``key: value``, perhaps the first of an item of a list."""
        begins = match[2] is not None
        indent = len(match[1]) + (2 if begins else 0)
        key, value = match[3], (match[4] or "").strip("'\"")
        if indent == 0:
            self._top, self._inside = key, ""
            self.top_level[key] = (value, number)
        elif self._top == "amdhsa.kernels" and indent == _INDENT:
            if begins:
                self.close()
            self._inside = key.lstrip(".")
            self._own[self._inside] = (value, number)
        elif self._top == "amdhsa.kernels" and self._inside == "args":
            if begins:
                self._arguments.append({})
            if self._arguments:
                self._arguments[-1][key.lstrip(".")] = value

    def item(self, text: str) -> None:
        """``- value``."""
        if self._top == "amdhsa.version":
            self.version.append(text)
        elif self._inside in self._own:
            value, place = self._own[self._inside]
            self._own[self._inside] = (f"{value} {text}".strip(), place)

    def close(self) -> None:
        """A kernel ends."""
        if self._own or self._arguments:
            self.kernels.append(_kernel(self._own, self._arguments))
        self._own, self._arguments = {}, []


def from_note(payload: bytes, place: int) -> Metadata:
    """Read the note's MessagePack. Raises ParseError where it is none."""
    try:
        decoded = msgspec.msgpack.decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ParseError(f"the metadata note is no MessagePack: {error}", offset=place) from error
    if not isinstance(decoded, dict):
        raise ParseError("the metadata note holds no map", offset=place)
    listed = decoded.get("amdhsa.kernels")
    kernels = []
    for each in listed if isinstance(listed, list) else ():
        if not isinstance(each, dict):
            continue
        given = each.get(".args")
        arguments = [
            {str(key).lstrip("."): _text(value) for key, value in argument.items()}
            for argument in (given if isinstance(given, list) else ())
            if isinstance(argument, dict)
        ]
        own = {str(key).lstrip("."): (_text(value), place) for key, value in each.items() if key != ".args"}
        kernels.append(_kernel(own, arguments))
    version = decoded.get("amdhsa.version")
    target = decoded.get("amdhsa.target")
    return Metadata(
        kernels=tuple(kernels),
        target=target if isinstance(target, str) else None,
        version=".".join(map(_text, version)) if isinstance(version, list) and version else None,
        target_place=place,
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return " ".join(map(_text, value))
    return str(value)


def _kernel(own: Mapping[str, tuple[str, int]], arguments: Sequence[Mapping[str, str]]) -> Kernel:
    numbers: dict[str, int] = {}
    places: dict[str, int] = {}
    other = []
    for key in sorted(own):
        value, place = own[key]
        number = _BOOLEAN.get(value, int(value) if _NUMBER.match(value) else None)
        if key in RESOURCES and number is not None:
            numbers[key], places[key] = number, place
        elif key not in ("name", "symbol", "args"):
            other.append(f"{key}: {value}")
    return Kernel(
        name=own.get("name", ("", 0))[0],
        numbers=numbers,
        places=places,
        arguments=tuple(_argument(each) for each in arguments),
        other=tuple(other),
    )


def _argument(given: Mapping[str, str]) -> str:
    words = [given.get("value_kind", "argument"), given.get("size", "?"), "B at", given.get("offset", "?")]
    extra = [
        value if key in ("address_space", "access") else f"{key} {value}"
        for key, value in sorted(given.items())
        if key not in ("value_kind", "size", "offset", "name", "type_name")
    ]
    return ", ".join([" ".join(words), *extra])
