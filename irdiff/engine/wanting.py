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


def sure_to_differ(
    before: Sequence[Bundle], after: Sequence[Bundle], stages: Collection[str]
) -> list[tuple[Bundle, str]]:
    """All bundles with those of the stages that differ, where names alone say which kernels are pairs; else none."""
    pairs: dict[Name, tuple[Bundle, Bundle]] = {}
    for key in (_by_name, _by_entry):
        one, other = (_alone(side, key) for side in (before, after))
        pairs |= {name: (bundle, other[name]) for name, bundle in one.items() if name in other}
    paired = {id(bundle) for pair in pairs.values() for bundle in pair}
    if any(
        id(bundle) not in paired
        for bundle in (*before, *after)
        if not bundle.artifacts.keys().isdisjoint(stages)
    ):
        return []
    return [
        (bundle, stage)
        for pair in pairs.values()
        for stage in stages
        if _differ(*pair, stage)
        for bundle in pair
    ]


def _by_name(bundle: Bundle) -> Name:
    return bundle.name, ""


def _by_entry(bundle: Bundle) -> Name:
    return bundle.name, bundle.entry


def _alone(bundles: Sequence[Bundle], key: Callable[[Bundle], Name]) -> dict[Name, Bundle]:
    """The bundles that have their key alone."""
    counts = Counter(map(key, bundles))
    return {key(bundle): bundle for bundle in bundles if counts[key(bundle)] == 1}


def _differ(one: Bundle, other: Bundle, stage: str) -> bool:
    mine, theirs = one.artifacts.get(stage), other.artifacts.get(stage)
    if mine is None or theirs is None:
        return False
    try:
        return mine.size != theirs.size or mine.sha256 != theirs.sha256
    except OSError:
        return False
