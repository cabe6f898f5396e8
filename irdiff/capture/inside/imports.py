"""Doing something right before or after a module's code runs, whoever finds it and however."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .recorder import Recorder


class Imports:
    """A finder that lets the others find a module, and calls hooks around its code."""

    def __init__(
        self,
        recorder: Recorder,
        before: dict[str, Callable[[], None]],
        after: dict[str, Callable[[Any], None]],
    ) -> None:
        self.recorder, self.before, self.after = recorder, before, after

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the other finders give, its loader wrapped."""
        if name not in self.before and name not in self.after:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = Loader(spec.loader, self, name)
                return spec
        return None


class Loader:
    """A loader that calls hooks around the module's code, and leaves no trace of itself in the module."""

    def __init__(self, loader: Any, imports: Imports, name: str) -> None:
        self.loader, self.recorder = loader, imports.recorder
        self.before, self.after = imports.before.get(name), imports.after.get(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: Any) -> Any:
        """As the real loader."""
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Call the first hook, execute, call the second."""
        if self.before is not None:
            self.before()
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        try:
            if self.after is not None:
                self.after(module)
        except Exception as error:  # protects the program from irdiff's hooks
            self.recorder.problem(f"hook of {module.__name__}")
            if self.recorder.settings.get("target"):  # half a stand-in would compile something else
                reason = f"{type(error).__name__}: {error}"
                text = "irdiff: compiling without a GPU does not work with this {}: {}"
                raise SystemExit(text.format(module.__name__, reason)) from error


def both(first: Callable[[Any], None] | None, second: Callable[[Any], None] | None) -> Callable[[Any], None]:
    """Two hooks as one."""

    def run(module: Any) -> None:
        for hook in (first, second):
            if hook is not None:
                hook(module)

    return run
