"""Judging mutants: is each told apart from its original, and did the fact that its kind names move?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

import corpus
from irdiff.api import Artifact, Context, ParseError, StageSpec
from irdiff.plugins import load_plugins
from irdiff.tools import LocalToolbox
from irdiff_sass.cubin import read_cubin
from irdiff_sass.decoded import Listing
from mutation import llir_kinds, mlir_kinds, ptx_kinds, sass_kinds, ttgir_kinds
from mutation.drawing import Kind, Mutant, Subject, draw
from mutation.sass_kinds import Placed

REGISTRY = load_plugins(external=False)
STAGES: dict[str, StageSpec] = {
    stage.id: stage
    for stage in REGISTRY.stages
    if stage.id in ("source", "ttir", "ttgir", "llir", "ptx", "sass")
}
TOOLS = LocalToolbox({tool.id: tool for tool in REGISTRY.tools}, os.environ)
KERNELS = (
    ("sm_90", "vector_add_kernel"),
    ("sm_90", "locked_sum_kernel"),
    ("sm_90", "softmax_kernel"),
    ("sm_90", "histogram_kernel"),
    ("sm_90", "matmul_kernel"),
    ("sm_90", "layer_norm_fwd_kernel"),
    ("sm_90", "tma_matmul_kernel"),
    ("sm_80", "matmul_kernel"),
    ("sm_121", "matmul_kernel"),
)  # fmt: skip
PAIRS = ("divisibility", "fp_fusion", "mma_fallback", "spills")


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What irdiff said of one mutant."""

    mutant: Mutant
    changed: bool
    """The canonical form differs."""
    refused: bool
    """The file is no longer one of its stage: told as unreadable, and no mutant of meaning."""
    moved: tuple[str, ...]
    """The facts that moved."""

    @property
    def named(self) -> bool:
        """Whether a fact moved that the kind names."""
        return any(f"{self.mutant.stage}.{fact}" in self.moved for fact in self.mutant.kind.facts)


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact as its stage reads it."""

    lines: tuple[str, ...]
    facts: dict[tuple[str, str], object]


def subjects(stage: StageSpec) -> list[Subject]:
    """The artifacts of a stage that are mutated: small ones first."""
    suffix = stage.suffixes[0]
    found = [(f"{target} {kernel}", corpus.entry("3.6.0", target, kernel)) for target, kernel in KERNELS]
    found += [(f"pair {name}", corpus.PAIRS / name / "after") for name in PAIRS]
    made = {
        path.read_bytes(): Subject(label=label, path=path, data=path.read_bytes())
        for label, folder in found
        for path in sorted(folder.rglob(f"*{suffix}"))
        if path.stat().st_size < 90_000
    }
    return sorted(made.values(), key=lambda each: len(each.data))


def kinds_of(stage: StageSpec, originals: Sequence[Subject]) -> tuple[Kind, ...]:
    """The kinds of edits of a stage."""
    if stage.id != "sass":
        text = {"ttgir": ttgir_kinds.KINDS, "llir": llir_kinds.KINDS, "ptx": ptx_kinds.KINDS}
        return text.get(stage.id, mlir_kinds.SHARED)
    prepared = _prepared(stage, [each.data for each in originals])
    return sass_kinds.kinds({each.data: _placed(each.data, prepared) for each in originals})


def _placed(data: bytes, prepared: Mapping[bytes, object]) -> list[Placed]:
    listing = prepared[data]
    assert isinstance(listing, Listing), listing
    return [
        Placed(offset=code.section.offset + each.address - text.base, instruction=each)
        for code, text in zip(read_cubin(data).codes, listing.codes, strict=True)
        for each in text.instructions
    ]


def _artifact(data: bytes, stage: StageSpec) -> Artifact:
    return Artifact.of_bytes(data, stage=stage.id, suffix=stage.suffixes[0])


def _prepared(stage: StageSpec, files: Sequence[bytes]) -> dict[bytes, object]:
    """What the stage made of all files at once."""
    if stage.prepare is None:
        return {}
    artifacts = [_artifact(data, stage) for data in files]
    found = stage.prepare(artifacts, TOOLS)
    return {
        data: found[artifact.sha256]
        for data, artifact in zip(files, artifacts, strict=True)
        if artifact.sha256 in found
    }


def read(stage: StageSpec, data: bytes, prepared: object | None) -> Read | None:
    """Facts and canonical form; None for a file that the stage refuses."""
    context = Context(tools=TOOLS, prepared=prepared)
    artifact = _artifact(data, stage)
    try:
        summary = stage.summarize(artifact, context)
        lines = stage.canonical(artifact, context).lines
    except ParseError:
        return None
    return Read(lines=lines, facts={(fact.id, fact.scope): fact.value for fact in summary.facts})


def judge(stage: StageSpec, count: int, seed: int) -> list[Outcome]:
    """Draw and judge the mutants of a stage."""
    originals = subjects(stage)
    mutants = draw(stage.id, kinds_of(stage, originals), originals, count, seed)
    prepared = _prepared(stage, [*(each.data for each in originals), *(each.data for each in mutants)])
    before = {each.data: read(stage, each.data, prepared.get(each.data)) for each in originals}
    outcomes = []
    for mutant in mutants:
        one, other = before[mutant.subject.data], read(stage, mutant.data, prepared.get(mutant.data))
        assert one is not None
        moved: set[str] = set()
        if other is not None:
            keys = one.facts.keys() | other.facts.keys()
            moved = {key[0] for key in keys if one.facts.get(key) != other.facts.get(key)}
        outcomes.append(
            Outcome(
                mutant=mutant,
                changed=other is not None and one.lines != other.lines,
                refused=other is None,
                moved=tuple(sorted(moved)),
            )
        )
    return outcomes


def share(outcomes: Sequence[Outcome]) -> float:
    """Of all mutants, those in which a fact moved that their kind names; a kind without a fact counts as a miss."""
    return sum(each.named for each in outcomes) / max(1, len(outcomes))


def told(outcomes: Sequence[Outcome], seed: int) -> str:
    """The measurement in lines: mutants by stage and kind, and every survivor."""
    counted = [each for each in outcomes if each.mutant.kind.facts]
    some = any(each.moved for each in outcomes if not each.mutant.kind.facts)
    total = (
        f"seed {seed}: {len(outcomes)} mutants, {sum(each.changed for each in outcomes)} changed; "
        f"a fact that the kind names moved in {share(outcomes):.1%} of all; "
        f"{len(outcomes) - len(counted)} are of kinds that no fact counts"
    )
    lines = [total + (" and by other facts" if some else "")]
    for stage in STAGES:
        mine = [each for each in outcomes if each.mutant.stage == stage]
        counted = [each for each in mine if each.mutant.kind.facts]
        moved = sum(each.named for each in counted)
        lines.append(
            f"{stage}: {len(mine)} mutants of {len({each.mutant.kind.name for each in mine})} kinds, "
            f"{sum(each.changed for each in mine)} changed; named fact moved in {moved} of {len(counted)}; "
            f"{len(mine) - len(counted)} of kinds that no fact counts"
        )
        kinds = Counter(each.mutant.kind.name for each in mine)
        named = Counter(each.mutant.kind.name for each in mine if each.named)
        no_fact = {each.mutant.kind.name for each in mine} - {each.mutant.kind.name for each in counted}
        lines += [
            f"  {kind}: {number}" + (" (no fact)" if kind in no_fact else f", named {named[kind]}")
            for kind, number in sorted(kinds.items())
        ]
    lines += [
        f"{'REFUSED' if each.refused else 'SURVIVOR'} {each.mutant}" for each in outcomes if not each.changed
    ]
    lines += [
        f"NOT NAMED {each.mutant}: moved {', '.join(each.moved) or 'nothing'}"
        for each in outcomes
        if each.changed and each.mutant.kind.facts and not each.named
    ]
    return "\n".join(lines)
