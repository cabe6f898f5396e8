"""External programs: how one is declared, what is known of a copy that was found, and what runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How to find an external program. Searched in this order: setting, packages, homes, PATH, modules."""

    id: str
    """Name of the executable as well."""
    variable: str
    """Environment variable that names it explicitly."""
    hint: str
    """How to get one."""
    packages: tuple[tuple[str, str], ...] = ()
    """(distribution on PyPI, file name inside it)."""
    homes: tuple[tuple[str, str], ...] = ()
    """(environment variable of a folder, path below it)."""
    modules: tuple[tuple[str, str], ...] = ()
    """(import name, path below its folder); found without importing it."""
    version_arguments: tuple[str, ...] = ("--version",)
    version_pattern: str = r"(\d+(?:\.\d+)+)"
    """Regular expression; its first group is the version."""
    supports_arguments: tuple[str, ...] = ()
    """Arguments that make it list what it can decode."""
    supports_pattern: str = ""
    """Regular expression for each item of that list."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """An external program that was found."""

    id: str
    path: str
    origin: str
    """Where it was found, in words: ``PyPI package nvidia-cuda-nvdisasm``, ``PATH``."""
    version: str
    """As it says itself; ``""`` where it did not answer."""
    supports: tuple[str, ...] = ()
    """What it says it can decode, in its own spelling: ``SM90a``."""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """How one run of a tool ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


class Toolbox(Protocol):
    """Finds and runs external programs: with argument lists, without a shell, with a time limit."""

    def find(self, tool_id: str) -> tuple[Tool, ...]:
        """Every copy found, in the order in which they should be tried."""

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:
        """Run one. Raises ToolError when it cannot be started or runs longer than ``timeout`` seconds."""
