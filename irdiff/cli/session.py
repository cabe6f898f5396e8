"""One run of the command line: registry, tools and inputs, read from the environment once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

from irdiff.engine.summarize import Progress, Reader, no_progress
from irdiff.errors import UsageError
from irdiff.model.issues import Issue
from irdiff.plugins import load_plugins
from irdiff.registry import Registry
from irdiff.sources import Loaded, load
from irdiff.sources.load import load_defaults
from irdiff.tools.toolbox import LocalToolbox

DISABLE = "IRDIFF_DISABLE_PLUGINS"
"""Environment variable: comma-separated names of plugins that are not loaded."""


def disabled_plugins() -> frozenset[str]:
    """Names in the environment's setting."""
    return frozenset(name.strip() for name in os.environ.get(DISABLE, "").split(",") if name.strip())


def make_registry(*, external: bool) -> Registry:
    """Load the plugins as the user asked."""
    return load_plugins(external=external, disabled=disabled_plugins())


class Session:
    """What a command works with."""

    def __init__(self, registry: Registry, tools: LocalToolbox) -> None:
        self.registry = registry
        self.tools = tools

    def load(self, path: str) -> Loaded:
        """Find the kernels of a path, archive or selector. Raises InputError where there are none."""
        return load(path, self.registry, os.environ, self.registry.sources)

    def load_defaults(self, wanted: str | None = None) -> Loaded:
        """The kernels of the user's own caches. Raises InputError where there are none."""
        return load_defaults(self.registry, os.environ, wanted)

    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the plugins."""
        return tuple(problem.issue() for problem in self.registry.problems)

    def reader(
        self, *, canonical: bool, switched_off: frozenset[str] = frozenset(), progress: Progress = no_progress
    ) -> Reader:
        """A reader with a check that the normalisations to switch off exist."""
        known = {rule.id for stage in self.registry.stages for rule in stage.normalizations}
        unknown = sorted(switched_off - known)
        if unknown:
            import difflib

            near = difflib.get_close_matches(unknown[0], sorted(known), n=3)
            raise UsageError(
                f"no normalisation is called {unknown[0]!r}",
                where="--no-normalize",
                hint=f"did you mean {' or '.join(near)}?"
                if near
                else f"there are: {', '.join(sorted(known))}",
            )
        return Reader(
            self.registry, self.tools, canonical=canonical, switched_off=switched_off, progress=progress
        )


@contextmanager
def session(*, external: bool) -> Iterator[Session]:
    """A session, its temporary files removed at the end."""
    registry = make_registry(external=external)
    with closing(LocalToolbox({tool.id: tool for tool in registry.tools}, os.environ)) as tools:
        yield Session(registry, tools)


@contextmanager
def progress_bar(words: str) -> Iterator[Progress]:
    """A progress bar on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from irdiff.present.terminal import ProgressBar

    bar = ProgressBar(sys.stderr, words)
    try:
        yield bar
    finally:
        bar.close()
