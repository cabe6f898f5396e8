"""Kernels and readers that the tests of executors share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import corpus
from irdiff.api import Bundle
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.summarize import Reader
from irdiff.engine.unit import Executor, Settings
from irdiff.model.codec import encode
from irdiff.plugins import load_plugins
from irdiff.registry import Registry
from irdiff.sources import load
from irdiff.tools.toolbox import LocalToolbox

PAIRS = ("divisibility", "mma_fallback", "spills", "fp_fusion")
SETTINGS = Settings(external=False)


@contextmanager
def registry_and_tools() -> Iterator[tuple[Registry, LocalToolbox]]:
    import os

    registry = load_plugins(external=False)
    with closing(LocalToolbox({tool.id: tool for tool in registry.tools}, os.environ)) as tools:
        yield registry, tools


def sides(registry: Registry) -> tuple[list[Bundle], list[Bundle]]:
    """Before and after of several fixture pairs."""
    found: tuple[list[Bundle], list[Bundle]] = ([], [])
    for pair in PAIRS:
        for side, name in zip(found, ("before", "after"), strict=True):
            side.extend(load(str(corpus.PAIRS / pair / name), registry, {}, registry.sources).bundles)
    return found


def report_with(
    pool: Executor | None,
    inputs: tuple[str, str] | None = None,
    *,
    early: bool = False,
    idle: Callable[[], None] | None = None,
) -> bytes:
    """The comparison of both sides, or of two inputs, read by an executor; ``early`` as where workers wait already."""
    with registry_and_tools() as (registry, tools):
        reader = Reader(registry, tools, canonical=True, pool=pool, settings=SETTINGS)
        given = [load(each, registry, {}, registry.sources).bundles for each in inputs or ()]
        before, after = given or sides(registry)
        if early:
            reader.begin(before, after)
        kernels = reader.read_both(before, after, lazy=True)
        report = Comparer(registry, reader, idle=idle).compare(
            Side(described="before", kernels=tuple(kernels[0])),
            Side(described="after", kernels=tuple(kernels[1])),
        )
    return encode(report)
