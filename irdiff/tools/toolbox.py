"""LocalToolbox: finds external programs on this machine and runs them."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from irdiff.errors import ToolError
from irdiff.model.tools import Tool, ToolResult, ToolSpec
from irdiff.tools.process import run_limited
from irdiff.tools.search import Copy, copies

PROBE_SECONDS = 20.0
"""Time a program has to say its version."""

KEPT = ("HOME", "PATH", "TMPDIR")
"""Environment variables that a program is given; its messages are asked for in the C locale."""


class LocalToolbox:
    """Implements ``irdiff.api.Toolbox`` from the registered ToolSpecs.

    What was found is remembered in the instance, so each copy is asked for its version once. A copy that this
    user may not execute (an unpacked wheel can lose the bit) is run from a private temporary copy, removed by
    ``close`` (``contextlib.closing`` calls it), or when the instance is collected. A pickled
    instance makes its own.
    """

    def __init__(
        self,
        specs: Mapping[str, ToolSpec],
        environment: Mapping[str, str],
        *,
        python_path: Sequence[str] | None = None,
    ) -> None:
        """``environment`` is ``os.environ`` at the edge; ``python_path`` defaults to this interpreter's."""
        self._specs = dict(specs)
        self._environment = dict(environment)
        self._python_path = None if python_path is None else tuple(python_path)
        self._found: dict[str, tuple[Tool, ...]] = {}
        self._private: dict[str, str] = {}
        self._root = ""
        self._remove: weakref.finalize[..., LocalToolbox] | None = None

    def find(self, tool_id: str) -> tuple[Tool, ...]:
        """Every copy found, in the order in which they should be tried; none for an id nobody registered."""
        if tool_id not in self._found:
            spec = self._specs.get(tool_id)
            places = copies(spec, self._environment, self._python_path) if spec is not None else ()
            self._found[tool_id] = (
                tuple(self._probe(spec, copy) for copy in places) if spec is not None else ()
            )
        return self._found[tool_id]

    def identity(self, tool_id: str) -> str:
        """Which copies would be tried, without asking them: another answer means that results may be others."""
        spec = self._specs.get(tool_id)
        found = []
        for copy in copies(spec, self._environment, self._python_path) if spec is not None else ():
            with suppress(OSError):
                status = os.stat(copy.path)  # noqa: PTH116
                found.append(f"{copy.path} {status.st_size} {status.st_mtime_ns}")
        return f"{tool_id}: {'; '.join(found)}"

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:
        """Run one. Raises ToolError when it cannot be started or runs longer than ``timeout`` seconds."""
        spec = self._specs.get(tool.id)
        try:
            return run_limited(
                [self._executable(tool.path), *arguments], environment=self._clean(), timeout=timeout
            )
        except ToolError as error:
            hint = error.hint or (spec.hint if spec is not None else None)
            raise ToolError(error.message, where=tool.path, hint=hint) from error

    def close(self) -> None:
        """Remove private copies; the instance can still be used, and makes them again."""
        self._private.clear()
        if self._remove is not None:
            self._remove()
            self._remove = None

    def __getstate__(self) -> dict[str, object]:
        state = dict(self.__dict__)
        state["_private"] = {}
        state["_remove"] = None
        return state

    def _probe(self, spec: ToolSpec, copy: Copy) -> Tool:
        version = _matches(spec.version_pattern, self._answer(copy.path, spec.version_arguments))
        supports: tuple[str, ...] = ()
        if spec.supports_pattern:
            listed = self._answer(copy.path, spec.supports_arguments)
            supports = tuple(dict.fromkeys(_matches(spec.supports_pattern, listed)))
        return Tool(
            id=spec.id,
            path=copy.path,
            origin=copy.origin,
            version=version[0] if version else "",
            supports=supports,
        )

    def _answer(self, path: str, arguments: Sequence[str]) -> str:
        """What a program prints; empty where it does not run, which the caller sees as "did not say"."""
        try:
            result = run_limited(
                [self._executable(path), *arguments],
                environment=self._clean(),
                timeout=PROBE_SECONDS,
                output_limit=1 << 20,
            )
        except ToolError:
            return ""
        return (result.stdout + b"\n" + result.stderr).decode("utf-8", "replace")

    def _clean(self) -> dict[str, str]:
        kept = {name: self._environment[name] for name in KEPT if name in self._environment}
        return {**kept, "LC_ALL": "C"}

    def _executable(self, path: str) -> str:
        """The path itself, or a private copy of it that may be executed."""
        if os.access(path, os.X_OK):
            return path
        if path not in self._private:
            try:
                self._private[path] = self._copy(path)
            except OSError as error:
                raise ToolError(f"cannot be copied to be executed: {error}", where=path) from error
        return self._private[path]

    def _copy(self, path: str) -> str:
        """Each copy has a folder of its own, which only this user can enter."""
        import shutil
        import tempfile

        if self._remove is None:
            root = tempfile.mkdtemp(prefix="irdiff-tools-")
            self._remove = weakref.finalize(self, shutil.rmtree, root, ignore_errors=True)
            self._root = root
        folder = Path(tempfile.mkdtemp(dir=self._root))
        copy = folder / Path(path).name
        shutil.copyfile(path, copy)
        copy.chmod(0o700)
        return str(copy)


def _matches(pattern: str, text: str) -> list[str]:
    """Every match of a pattern: its first group, or all of it where it has none."""
    return [found.group(1 if found.re.groups else 0) for found in re.finditer(pattern, text)]
