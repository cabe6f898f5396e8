"""Doing something right after a module is imported, whoever finds it and however."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .recorder import Recorder


class AfterImport:
    """A finder that lets the others find a module, and calls a hook when it has been executed."""

    def __init__(self, recorder: Recorder, hooks: dict[str, Callable[[Any], None]]) -> None:
        self.recorder, self.hooks = recorder, hooks

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the other finders give, its loader wrapped."""
        if name not in self.hooks:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = Loader(spec.loader, self.hooks[name], self.recorder)
                return spec
        return None


class Loader:
    """A loader that calls a hook after the module's code, and leaves no trace of itself in the module."""

    def __init__(self, loader: Any, hook: Callable[[Any], None], recorder: Recorder) -> None:
        self.loader, self.hook, self.recorder = loader, hook, recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: Any) -> Any:
        """As the real loader."""
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Execute, then call the hook."""
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        try:
            self.hook(module)
        except Exception as error:
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
