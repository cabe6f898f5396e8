"""Canonical forms of fixtures, made once, as the hunks see them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

import corpus
from irdiff.api import Artifact, Canonical, StageSpec
from irdiff.cli.session import make_registry, session
from irdiff.engine.hunks import Text, hunks
from irdiff.engine.kernels import Kernel
from irdiff.engine.summarize import Reader
from irdiff.model.report import Hunk
from irdiff.registry import Registry
from toy_stages import NoTools

STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "sass")
TEXT_STAGES = ("source", "ttir", "ttgir", "llir", "ptx")


@cache
def registry() -> Registry:
    return make_registry(external=False)


@cache
def spec(stage: str) -> StageSpec:
    return next(each for each in registry().stages if each.id == stage)


@cache
def canonical(path: Path, stage: str) -> Canonical:
    """The canonical form of one stage of the first kernel below a folder."""
    with session(external=False) as run:
        reader = run.reader(canonical=False)
        made = reader.canonical(run.load(str(path)).bundles[0].artifacts[stage])
    assert made is not None
    return made


def of_bytes(data: bytes, stage: str) -> Canonical:
    """The canonical form of a made-up artifact."""
    reader = Reader(registry(), NoTools(), canonical=False)
    made = reader.canonical(Artifact.of_bytes(data, stage=stage, suffix=f".{stage}"))
    assert made is not None
    return made


@cache
def kernel(path: Path) -> Kernel:
    with session(external=False) as run:
        return run.reader(canonical=False).read(run.load(str(path)).bundles)[0]


def matmul(stage: str) -> Canonical:
    return canonical(corpus.entry("3.6.0", "sm_90", "matmul_kernel"), stage)


def between(before: Canonical, after: Canonical, stage: str, *, context: int = 2) -> tuple[Hunk, ...]:
    return hunks(Text(canonical=before), Text(canonical=after), spec(stage), "kernel", context=context)


def with_lines(form: Canonical, lines: list[str]) -> Canonical:
    return msgspec.structs.replace(form, lines=tuple(lines), places=tuple(range(1, len(lines) + 1)))


def moved(found: tuple[Hunk, ...]) -> list[tuple[str, str]]:
    """(mark, canonical line) of every line that differs."""
    return [(line.mark, line.canonical) for hunk in found for line in hunk.lines if line.mark != " "]
