"""The unit of work: artifacts of one batch, read by their stages, in this process or in any other.

A plugin's exception, a tool that fails or a file that cannot be read becomes an Issue on the stage where it
happened; every other artifact of the batch is still read. What goes over a process border is bytes alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from irdiff.engine.isolation import guarded
from irdiff.engine.shares import Shares
from irdiff.engine.unclaimed import unclaimed_stage
from irdiff.engine.unit import Answer, Batch, Item, Line, Meanwhile, Said, Settings, packed
from irdiff.model.bundle import Artifact
from irdiff.model.issues import Issue
from irdiff.model.specs import Context, StageSpec
from irdiff.model.summary import Canonical, Summary
from irdiff.model.tools import Toolbox
from irdiff.registry import Registry

FEW = 4
"""Contents whose preparation is kept until the next one."""
TRANSIENT = frozenset({"failed", "plugin-error", "changed-file", "worker-ended"})
"""Codes of issues that another try may not have."""


class Bench:
    """Reads batches with the stages of one registry."""

    def __init__(self, registry: Registry, tools: Toolbox, settings: Settings) -> None:
        self._registry = registry
        self._tools = tools
        self._settings = settings
        self._stages = {stage.id: stage for stage in registry.stages}
        self._recent: dict[tuple[str, str], object] = {}
        """What was prepared last, where it is little: lines are asked for right after facts."""

    def stages(self) -> Iterable[StageSpec]:
        """All of them."""
        return self._stages.values()

    def stage(self, stage_id: str) -> StageSpec:
        """The stage of that id, or one made up where no plugin has it."""
        return self._stages.get(stage_id) or unclaimed_stage(stage_id)

    def owner(self, stage_id: str) -> str:
        """The plugin that registered an id, in words."""
        info = self._registry.owners.get(stage_id)
        return f"{info.name} ({info.origin})" if info else "irdiff"

    def context(self, prepared: object | None = None) -> Context:
        """What a stage is given beside an artifact."""
        return Context(
            tools=self._tools,
            prepared=prepared,
            switched_off=self._settings.switched_off,
            wanted=self._settings.wanted,
        )

    def read(self, items: Sequence[Item]) -> tuple[Said, ...]:
        """One answer for each item."""
        return tuple(self.each(items))

    def each(self, items: Sequence[Item]) -> Iterator[Said]:
        """The same one after the other."""
        artifacts = [
            Artifact.of_bytes(item.data, stage=item.stage, suffix=item.suffix, location=item.location)
            for item in items
        ]
        sound = [
            artifact
            for item, artifact in zip(items, artifacts, strict=True)
            if artifact.sha256 == item.sha256 and not item.lines
        ]
        prepared, problems = self.prepare(sound)
        for item, artifact in zip(items, artifacts, strict=True):
            if artifact.sha256 != item.sha256:
                yield _changed_meanwhile(item)
                continue
            if item.lines:
                yield self._lines(artifact)
                continue
            said = self._read_one(artifact, prepared.get((item.stage, item.sha256)), canonical=item.canonical)
            trouble = problems.get(item.stage)
            if trouble is not None:
                said = msgspec.structs.replace(said, issues=(*said.issues, trouble), lasting=False)
            yield said

    def prepare(
        self, artifacts: Sequence[Artifact]
    ) -> tuple[dict[tuple[str, str], object], dict[str, Issue]]:
        """Call each stage's ``prepare`` once with all its contents; what failed, by stage."""
        prepared: dict[tuple[str, str], object] = {}
        problems: dict[str, Issue] = {}
        by_stage: dict[str, list[Artifact]] = {}
        for artifact in artifacts:
            by_stage.setdefault(artifact.stage, []).append(artifact)
        for stage_id, mine in by_stage.items():
            made = self._prepare_stage(self.stage(stage_id), mine)
            if isinstance(made, Issue):
                problems[stage_id] = made
            else:
                prepared |= {(stage_id, sha256): value for sha256, value in made.items()}
        self._recent = prepared if len(prepared) <= FEW else {}
        return prepared, problems

    def prepared(self, artifact: Artifact, beside: Sequence[Artifact] = ()) -> object | None:
        """What ``prepare`` makes of an artifact; ``beside`` are those that will be asked for next."""
        content = (artifact.stage, artifact.sha256)
        if content not in self._recent:
            self.prepare([artifact, *beside])
        return self._recent.get(content)

    def _prepare_stage(self, stage: StageSpec, artifacts: Sequence[Artifact]) -> Mapping[str, object] | Issue:
        make = stage.prepare
        if make is None:
            return {}
        return guarded(lambda: dict(make(artifacts, self._tools)), dict, self.owner(stage.id), artifacts[0])

    def _lines(self, artifact: Artifact) -> Said:
        stage = self.stage(artifact.stage)
        make = stage.source_lines
        if make is None:
            return Said(summary=None)
        context = self.context()
        made = guarded(lambda: dict(make(artifact, context)), dict, self.owner(stage.id), artifact)
        if isinstance(made, Issue):  # what is wrong with the artifact is told with its facts
            return Said(summary=None, lasting=made.code not in TRANSIENT)
        return Said(summary=None, lines=made)

    def _read_one(self, artifact: Artifact, prepared: object | None, *, canonical: bool) -> Said:
        stage = self.stage(artifact.stage)
        context = self.context(prepared)
        owner = self.owner(stage.id)
        summary = guarded(lambda: stage.summarize(artifact, context), Summary, owner, artifact)
        if not isinstance(summary, Summary):
            return Said(summary=None, issues=(summary,), lasting=summary.code not in TRANSIENT)
        issues = tuple(_placed(issue, artifact) for issue in summary.issues)
        lasting = summary.degraded is None and not any(issue.code in TRANSIENT for issue in issues)
        if not canonical:
            return Said(summary=summary, issues=issues, lasting=lasting)
        made = guarded(lambda: stage.canonical(artifact, context), Canonical, owner, artifact)
        if not isinstance(made, Canonical):
            lasting = lasting and made.code not in TRANSIENT
            return Said(summary=summary, issues=(*issues, made), lasting=lasting)
        digest = hashlib.sha256(msgspec.json.encode(made.lines)).hexdigest()
        return Said(
            summary=summary,
            canonical=digest,
            form=packed(made) if stage.prepare is not None else b"",
            erased=made.erased,
            without=made.without,
            issues=issues,
            lasting=lasting,
        )


class InThisProcess:
    """The executor without any other process."""

    workers = 1
    ready = True

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def run(
        self,
        lines: Sequence[Line],
        *,
        most: int | None = None,  # noqa: ARG002  # nothing is started here
        meanwhile: Meanwhile | None = None,  # noqa: ARG002  # nothing is waited for
    ) -> Iterator[tuple[Batch, Sequence[Answer]]]:
        """Each batch with its answers, line after line."""
        shares = Shares(lines)
        while (batch := shares.next(0)) is not None:
            yield batch, [Answer.of(said) for said in self._bench.read(batch.items)]

    def begin(self, batch: Batch) -> bool:  # noqa: ARG002  # nobody else is there
        """Nothing is done before it is asked for."""
        return False

    def close(self) -> None:
        """Nothing is held."""


def _changed_meanwhile(item: Item) -> Said:
    issue = Issue(
        severity="error",
        code="changed-file",
        message="was written while it was being read",
        where=item.location,
        stage=item.stage,
        hint="run it again when the compiler is done",
    )
    return Said(summary=None, issues=(issue,), lasting=False)


def _placed(issue: Issue, artifact: Artifact) -> Issue:
    return msgspec.structs.replace(issue, where=issue.where or artifact.location, stage=artifact.stage)
