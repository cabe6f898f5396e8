"""An artifact as a module: by spirv-dis where it is found, else by its words; a text as it is."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from irdiff.api import Artifact, Context, ParseError, Tool, Toolbox, ToolError

from irdiff_spirv.binary import is_binary, walk
from irdiff_spirv.module import Module
from irdiff_spirv.text import read_text

TOOL = "spirv-dis"
SECONDS = 20.0
"""Time that the disassembler has for one module and each mebibyte of it."""
_ARGUMENTS = ("--raw-id", "--no-color", "--no-header", "--no-indent", "--offsets")


class Refused(NamedTuple):
    """Why the disassembler has no text of a module."""

    why: str


def prepare(artifacts: Sequence[Artifact], tools: Toolbox) -> Mapping[str, object]:
    """The text of each binary module, by its sha256, or the Refused that says why there is none."""
    found: dict[str, object] = {}
    copies: tuple[Tool, ...] | None = None
    for artifact in artifacts:
        data = artifact.read()
        if not is_binary(data):
            continue
        copies = _programs(tools) if copies is None else copies
        if copies:
            found[artifact.sha256] = _disassembled(data, copies, tools)
    return found


def _programs(tools: Toolbox) -> tuple[Tool, ...]:
    """The copies, without the Python scripts that the cmeel packages put beside their programs: they start slowly."""
    found = tools.find(TOOL)
    return tuple(tool for tool in found if "cmeel" not in tool.origin or "cmeel.prefix" in tool.path) or found


def _disassembled(data: bytes, copies: Sequence[Tool], tools: Toolbox) -> str | Refused:
    """The first copy that can reads it."""
    refused = Refused("")
    for tool in copies:
        with tempfile.TemporaryDirectory(prefix="irdiff-spirv-") as folder:
            file = Path(folder) / "module.spv"
            file.write_bytes(data)
            try:
                done = tools.run(
                    tool, [*_ARGUMENTS, str(file)], timeout=SECONDS * (1 + len(data) / (1 << 20))
                )
            except ToolError as error:
                refused = Refused(f"spirv-dis {tool.version} failed: {error.message}")
                continue
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace")
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = words[0].removeprefix("error: ")[:200] if words else f"exit code {done.returncode}"
        refused = Refused(f"spirv-dis {tool.version} does not read it: {said}")
    return refused


def module_of(artifact: Artifact, context: Context) -> Module:
    """The module, read once. Raises ParseError."""
    return context.once("module", lambda: _read(artifact, context.prepared))


def _read(artifact: Artifact, prepared: object) -> Module:
    data = artifact.read()
    if is_binary(data):
        walked = walk(data)
        if isinstance(prepared, str) and walked.truncated is None:
            return read_text(prepared, offsets=True, header=walked.header)
        return walked._replace(degraded=prepared.why) if isinstance(prepared, Refused) else walked
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ParseError("this is neither a SPIR-V module nor its text", offset=error.start) from None
    return read_text(text, offsets=False)
