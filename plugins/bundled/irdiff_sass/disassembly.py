"""Decoding machine code with nvdisasm: one process for all code of one architecture.

A process costs 0.2 to 0.5 s whatever it decodes, so the ``.text`` sections of all cubins for one architecture
are put one after another into a file that is decoded raw (``nvdisasm -b SM90a -ndf FILE``), and the text is parted
again by address. Places that branches name come out absolute in that file and are made relative. The bits that
the text does not show are read from the sections themselves.
"""

from __future__ import annotations

import hashlib
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from irdiff.api import Artifact, ParseError, Tool, Toolbox, ToolError
from irdiff_sass.addressed import behind_numbers, with_line_feeds
from irdiff_sass.cubin import Code, Cubin, read_cubin
from irdiff_sass.decoded import CodeText, Listing, Undecoded, in_columns, settle
from irdiff_sass.instructions import SIZE, parts_of
from irdiff_sass.shapes import Shape, shapes_of
from irdiff_sass.specs import TOOL

BATCH = 8 << 20
"""Bytes of code in one process; one cubin with more code than this is not decoded."""
RUNS = 64
"""Processes for one architecture, so that many broken cubins cost a bounded time."""
FAILURES = 3
"""Processes that may crash or run out of time before the rest of an architecture is left undecoded."""
SECONDS = 30.0
"""Time limit of a process, and as much again for each MiB of code."""

WITHOUT = "registers, spills and fingerprint were read without it"
BRING = "pip install 'irdiff[sass]' brings one"


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """The code of one cubin."""

    codes: tuple[Code, ...]
    data: bytes
    """All its sections, one after another."""


def prepare(artifacts: Sequence[Artifact], tools: Toolbox) -> Mapping[str, object]:
    """SHA-256 of each cubin to its ``Listing``, or to an ``Undecoded`` that says why there is none.

    Cubins that cannot be read are left out: ``summarize`` says what is wrong with them.
    """
    units: dict[tuple[int, bool], dict[str, Unit]] = {}
    wanted: dict[str, tuple[tuple[int, bool], str]] = {}
    for artifact in artifacts:
        cubin = _cubin(artifact)
        if cubin is None:
            continue
        unit = Unit(codes=cubin.codes, data=b"".join(code.data for code in cubin.codes))
        shape = repr([(code.role, code.section.size) for code in cubin.codes]).encode()
        key = hashlib.sha256(shape + unit.data).hexdigest()
        architecture = (cubin.sm, cubin.accelerated)
        units.setdefault(architecture, {})[key] = unit
        wanted[artifact.sha256] = (architecture, key)
    decoded = {
        architecture: decode_units(architecture, found, tools) for architecture, found in units.items()
    }
    return {sha256: decoded[architecture][key] for sha256, (architecture, key) in wanted.items()}


def _cubin(artifact: Artifact) -> Cubin | None:
    try:
        data = artifact.read()
        return read_cubin(data) if data[:4] == b"\x7fELF" else None
    except (OSError, ParseError):
        return None


def decode_units(
    architecture: tuple[int, bool], units: Mapping[str, Unit], tools: Toolbox
) -> dict[str, Listing | Undecoded]:
    """Decode the code of cubins for one architecture with the first copy of nvdisasm that knows it."""
    copies = tools.find(TOOL)
    chosen = _choose(copies, architecture)
    if chosen is None:
        reason = _nobody_knows(copies, architecture[0])
        return {key: Undecoded(reason=reason) for key in units}
    refused = {key: why for key, unit in units.items() if (why := _refusal(unit))}
    results: dict[str, Listing | Undecoded] = {key: _undecoded(why) for key, why in refused.items()}
    sound = {key: unit for key, unit in units.items() if key not in refused}
    waiting = list(_batches(sound))
    runs = failures = 0
    while waiting:
        batch = waiting.pop()
        runs += 1
        if runs > RUNS or failures > FAILURES:
            results |= {key: _undecoded("nvdisasm failed too often on other cubins") for key in batch}
            continue
        try:
            lines = _run(*chosen, [sound[key].data for key in batch], tools)
        except (ToolError, _RefusedError) as error:
            failures += isinstance(error, ToolError)
            if len(batch) > 1:
                waiting += _halves(batch)
            else:
                results[batch[0]] = _undecoded(f"{_called(chosen[0])}: {_complaint(error)}")
            continue
        results |= _part(batch, sound, lines)
    return results


def _refusal(unit: Unit) -> str:
    """Why the code of a cubin cannot be given to a disassembler; empty where it can."""
    if any(len(code.data) % SIZE for code in unit.codes):
        return "its code is no whole number of instructions"
    if len(unit.data) > BATCH:
        return f"it holds {len(unit.data):,} bytes of code, more than {BATCH:,}"
    return ""


def _complaint(error: Exception) -> str:
    return error.message if isinstance(error, ToolError) else str(error)


class _RefusedError(Exception):
    """nvdisasm did not decode all of its input."""


def _undecoded(why: str) -> Undecoded:
    return Undecoded(reason=f"SASS not decoded: {why}; {WITHOUT}")


def _called(tool: Tool) -> str:
    version = ".".join(tool.version.split(".")[:2])
    return f"nvdisasm {version}" if version else "nvdisasm"


def _nobody_knows(copies: Sequence[Tool], sm: int) -> str:
    if not copies:
        return f"SASS not decoded: no nvdisasm was found; {WITHOUT}. {BRING}."
    names = ", ".join(dict.fromkeys(_called(tool) for tool in copies))
    verb = "does" if "," not in names else "do"
    return f"SASS not decoded: {names} {verb} not know sm_{sm}; {WITHOUT}. {BRING} that does."


def _choose(copies: Sequence[Tool], architecture: tuple[int, bool]) -> tuple[Tool, str] | None:
    """The first copy that knows the architecture, and its name for it.

    A copy that did not say what it knows is tried last: it may work. ``sm_90`` and ``sm_90a`` decode alike.
    """
    sm, accelerated = architecture
    names = [f"SM{sm}a", f"SM{sm}"] if accelerated else [f"SM{sm}", f"SM{sm}a"]
    for tool in copies:
        for name in names:
            if name in tool.supports:
                return tool, name
    silent = next((tool for tool in copies if not tool.supports and tool.version), None)
    return (silent, names[0]) if silent is not None else None


def _batches(units: Mapping[str, Unit]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for key in sorted(units):
        if batch and size + len(units[key].data) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(key)
        size += len(units[key].data)
    if batch:
        yield batch


def _halves(batch: list[str]) -> list[list[str]]:
    middle = len(batch) // 2
    return [batch[middle:], batch[:middle]]


def _run(tool: Tool, name: str, parts: Sequence[bytes], tools: Toolbox) -> list[str]:
    """What follows the address of each instruction, in order. Raises _RefusedError unless each 16 bytes have one."""
    data = b"".join(parts)
    with tempfile.TemporaryDirectory(prefix="irdiff-sass-") as folder:
        blob = Path(folder) / "code.bin"
        blob.write_bytes(data)
        limit = SECONDS * (1 + len(data) / (1 << 20))
        result = tools.run(tool, ["-b", name, "-ndf", str(blob)], timeout=limit)
    if result.returncode:
        complaint = result.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _RefusedError(complaint[0][:200] if complaint else f"exit code {result.returncode}")
    text = with_line_feeds(result.stdout.decode("utf-8", "replace"))
    lines = behind_numbers(text, SIZE)
    if lines is None:
        lines = _found(text)
    if len(lines) * SIZE != len(data):
        raise _RefusedError(f"{len(lines):,} of {len(data) // SIZE:,} instructions were decoded")
    return lines


def _found(text: str) -> list[str]:
    """What follows the address of each instruction, line by line. Raises _RefusedError where an address is missing."""
    lines: list[str] = []
    for line in text.split("\n"):
        start, found, rest = line.partition("*/")
        if not found or not start.lstrip().startswith("/*"):
            continue
        if start.lstrip()[2:].lstrip("0") != f"{len(lines) * SIZE:x}".lstrip("0"):
            raise _RefusedError(f"an address is missing before {start.strip()[2:]}")
        lines.append(rest)
    return lines


def _part(
    batch: Sequence[str], units: Mapping[str, Unit], lines: Sequence[str]
) -> dict[str, Listing | Undecoded]:
    """Give each cubin its lines back."""
    shapes = shapes_of(lines)
    listings: dict[str, Listing | Undecoded] = {}
    first = 0
    for key in batch:
        codes = []
        for code in units[key].codes:
            last = first + len(code.data) // SIZE
            codes.append(_code_text(code, lines[first:last], shapes[first:last], first * SIZE))
            first = last
        listings[key] = Listing(codes=tuple(codes))
    return listings


def _code_text(code: Code, lines: Sequence[str], shapes: Sequence[Shape], start: int) -> CodeText:
    """One section, decoded where it begins at ``start``."""
    its, forms = list(lines), list(shapes)
    parted = {
        index: parts_of(line.rpartition(";")[0], start, len(code.data))
        for index, (line, shape) in enumerate(zip(lines, shapes, strict=True))
        if shape.names_place
    }
    settle(its, forms, parted)
    highs = struct.unpack(f"<{len(its) * 2}Q", code.data)[1::2]
    controls = [high >> 41 & 0x1FFFFF for high in highs]
    return in_columns(its, forms, controls, role=code.role, base=code.base)
