"""What is wanted of bundles, by content, and what is sure to be before their files are looked into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from irdiff.engine.planning import LINES, Content, Want
from irdiff.engine.work import Bench
from irdiff.model.bundle import Artifact, Bundle

Name: TypeAlias = tuple[str, str]


def content_of(artifact: Artifact) -> Content | None:
    """Stage and SHA-256; None for what cannot be read, which its reading says."""
    try:
        return artifact.stage, artifact.sha256
    except OSError:
        return None


def wanted(
    bench: Bench,
    stages_of: Iterable[tuple[Bundle, Collection[str], bool]],
    *,
    lines: Iterable[Artifact] = (),
    turn: int = 0,
) -> dict[Content, Want]:
    """These stages of bundles, with their canonical form or without.

    Of ``lines`` the user's lines are wanted too, where their stages put that off.
    """
    asked: dict[Content, Want] = {}
    for bundle, stages, canonical in stages_of:
        for name in stages:
            artifact = bundle.artifacts.get(name)
            content = content_of(artifact) if artifact is not None else None
            if artifact is None or content is None:
                continue
            known = asked.get(content)
            if known is None or (canonical and not known.canonical):
                asked[content] = Want(artifact=artifact, canonical=canonical, turn=turn)
    for artifact in lines:
        content = content_of(artifact)
        if content is not None and bench.stage(artifact.stage).source_lines is not None:
            asked[content[0] + LINES, content[1]] = Want(artifact=artifact, canonical=False, lines=True)
    return asked


Pairs: TypeAlias = "list[tuple[Bundle, Bundle]]"
FIRST = 1 << 20
"""Bytes that one process reads while another finds out what there is to read."""


def sure_pairs(before: Sequence[Bundle], after: Sequence[Bundle]) -> Pairs:
    """Kernels that will be pairs by their names alone, or by name and entry."""
    pairs: dict[Name, tuple[Bundle, Bundle]] = {}
    for key in (_by_name, _by_entry):
        one, other = (_alone(side, key) for side in (before, after))
        pairs |= {name: (bundle, other[name]) for name, bundle in one.items() if name in other}
    return list(pairs.values())


def all_that_differ(
    pairs: Pairs, bundles: Iterable[Bundle], stages: Collection[str]
) -> list[tuple[Bundle, str]]:
    """Bundles with those of the stages that differ, where no bundle that has one is in no pair; else none."""
    paired = {id(bundle) for pair in pairs for bundle in pair}
    if any(id(bundle) not in paired for bundle in bundles if not bundle.artifacts.keys().isdisjoint(stages)):
        return []
    return [(bundle, stage) for pair in pairs for stage in stages if _differ(*pair, stage) for bundle in pair]


def first_that_differ(pairs: Pairs, stages: Collection[str]) -> list[tuple[Bundle, str]]:
    """Some bundles with that of the stages of which most bytes differ, as the sizes of files say."""
    found: dict[str, list[tuple[Bundle, str]]] = {}
    sizes: Counter[str] = Counter()
    for pair in pairs:
        for stage in stages:
            size = _other_size(*pair, stage)
            if size and sizes[stage] < FIRST:
                found.setdefault(stage, []).extend((bundle, stage) for bundle in pair)
            sizes[stage] += size
    return found[max(found, key=lambda stage: (sizes[stage], stage))] if found else []


def _by_name(bundle: Bundle) -> Name:
    return bundle.name, ""


def _by_entry(bundle: Bundle) -> Name:
    return bundle.name, bundle.entry


def _alone(bundles: Sequence[Bundle], key: Callable[[Bundle], Name]) -> dict[Name, Bundle]:
    """The bundles that have their key alone."""
    counts = Counter(map(key, bundles))
    return {key(bundle): bundle for bundle in bundles if counts[key(bundle)] == 1}


def _other_size(one: Bundle, other: Bundle, stage: str) -> int:
    """Bytes of the files of a stage on both sides where one has more than the other."""
    mine, theirs = one.artifacts.get(stage), other.artifacts.get(stage)
    if mine is None or theirs is None:
        return 0
    try:
        return mine.size + theirs.size if mine.size != theirs.size else 0
    except OSError:
        return 0


def _differ(one: Bundle, other: Bundle, stage: str) -> bool:
    if _other_size(one, other, stage):
        return True
    mine, theirs = one.artifacts.get(stage), other.artifacts.get(stage)
    try:
        return mine is not None and theirs is not None and mine.sha256 != theirs.sha256
    except OSError:
        return False
