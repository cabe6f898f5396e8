"""Summarize: one isolated call per stage and distinct content, so that nothing is read twice and nothing spreads.

A plugin's exception, a tool that fails or a file that cannot be read becomes an Issue on the stage where it
happened; every other stage and kernel is still read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from irdiff.engine.agreement import disagreements
from irdiff.engine.isolation import guarded
from irdiff.engine.kernels import Kernel, KernelFactView, Reading
from irdiff.engine.unclaimed import unclaimed_stage
from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.facts import Fact
from irdiff.model.issues import Issue
from irdiff.model.specs import Context, EntryInfo, StageSpec, Toolbox
from irdiff.model.summary import Canonical, Summary
from irdiff.registry import Registry

Progress = Callable[[int, int], None]
"""Called with (done, total) distinct contents."""


def no_progress(done: int, total: int) -> None:
    """Report nothing."""


class Reader:
    """Reads bundles with the stages of a registry; remembers each distinct content."""

    def __init__(
        self,
        registry: Registry,
        tools: Toolbox,
        *,
        canonical: bool,
        switched_off: frozenset[str] = frozenset(),
        wanted: frozenset[str] = frozenset(),
        progress: Progress = no_progress,
    ) -> None:
        self._registry = registry
        self._tools = tools
        self._canonical = canonical
        self.switched_off = switched_off
        self._wanted = wanted
        self._progress = progress
        self._lines: dict[tuple[str, str], Mapping[int, str]] = {}
        self._late: dict[tuple[str, str], Reading] = {}
        self._order = {stage.id: index for index, stage in enumerate(registry.stages)}
        self._stages = {stage.id: stage for stage in registry.stages}

    def read_both(
        self, before: Sequence[Bundle], after: Sequence[Bundle]
    ) -> tuple[list[Kernel], list[Kernel]]:
        """Read two sides at once: equal bytes are read once, and need no canonical form for their own sake."""
        kernels = self.read([*before, *after], common=_contents(before) & _contents(after))
        return kernels[: len(before)], kernels[len(before) :]

    def read(
        self, bundles: Sequence[Bundle], *, common: frozenset[tuple[str, str]] = frozenset()
    ) -> list[Kernel]:
        """Read every artifact of every bundle; one Kernel per bundle, in the order given.

        ``common`` holds (stage, sha256) of contents whose canonical form is made only if asked for.
        """
        distinct: dict[tuple[str, str], Artifact] = {}
        failed: dict[str, Reading] = {}
        for bundle in bundles:
            for artifact in bundle.artifacts.values():
                try:
                    distinct.setdefault((artifact.stage, artifact.sha256), artifact)
                except OSError as error:
                    failed[artifact.location] = self._unreadable_file(artifact, error)
        prepared, problems = self._prepare(distinct)
        readings: dict[tuple[str, str], Reading] = {}
        for done, (key, artifact) in enumerate(distinct.items()):
            self._progress(done, len(distinct))
            canonical = self._canonical and key not in common
            reading = self._read_one(self._stage(key[0]), artifact, prepared.get(key), canonical=canonical)
            trouble = problems.get(key[0])
            if trouble is not None:
                reading = msgspec.structs.replace(reading, issues=(*reading.issues, trouble))
            readings[key] = reading
        self._progress(len(distinct), len(distinct))
        return [self._kernel(bundle, readings, failed) for bundle in bundles]

    def canonical(self, artifact: Artifact) -> Canonical | None:
        """The canonical form of one artifact with its text, made anew; None where it cannot be made."""
        stage = self._stage(artifact.stage)
        prepared, _ = self._prepare({(artifact.stage, artifact.sha256): artifact})
        context = self._context(prepared.get((artifact.stage, artifact.sha256)))
        made = guarded(lambda: stage.canonical(artifact, context), Canonical, self._owner(stage.id), artifact)
        return made if isinstance(made, Canonical) else None

    def source_lines(self, reading: Reading, artifact: Artifact) -> Mapping[int, str]:
        """Places of an artifact to the user's lines, made now where the stage puts that off; empty if it fails."""
        if reading.summary is None:
            return {}
        make = reading.stage.source_lines
        if make is None:
            return reading.summary.source_lines
        key = (artifact.stage, artifact.sha256)
        if key not in self._lines:
            context = self._context(None)
            made = guarded(lambda: make(artifact, context), dict, self._owner(reading.stage.id), artifact)
            self._lines[key] = made if isinstance(made, dict) else {}
        return self._lines[key]

    def written(self, reading: Reading, artifact: Artifact) -> Mapping[int, str]:
        """Place to the artifact's own text there: its lines, or what the stage makes of it."""
        make = reading.stage.written
        if make is None:
            text = artifact.read().decode("utf-8", errors="replace")
            return dict(enumerate(text.split("\n"), 1))
        prepared, _ = self._prepare({(artifact.stage, artifact.sha256): artifact})
        context = self._context(prepared.get((artifact.stage, artifact.sha256)))
        made = guarded(lambda: make(artifact, context), dict, self._owner(reading.stage.id), artifact)
        return made if isinstance(made, dict) else {}

    def _stage(self, stage_id: str) -> StageSpec:
        return self._stages.get(stage_id) or unclaimed_stage(stage_id)

    def _owner(self, stage_id: str) -> str:
        """The plugin that registered an id, in words."""
        info = self._registry.owners.get(stage_id)
        return f"{info.name} ({info.origin})" if info else "irdiff"

    def _context(self, prepared: object | None) -> Context:
        return Context(
            tools=self._tools, prepared=prepared, switched_off=self.switched_off, wanted=self._wanted
        )

    def _prepare(
        self, distinct: Mapping[tuple[str, str], Artifact]
    ) -> tuple[dict[tuple[str, str], object], dict[str, Issue]]:
        """Call each stage's ``prepare`` once with all its contents; what failed, by stage."""
        prepared: dict[tuple[str, str], object] = {}
        problems: dict[str, Issue] = {}
        for stage in self._registry.stages:
            artifacts = [artifact for (stage_id, _), artifact in distinct.items() if stage_id == stage.id]
            if stage.prepare is None or not artifacts:
                continue
            made = guarded(
                lambda stage=stage, artifacts=artifacts: dict(stage.prepare(artifacts, self._tools)),  # type: ignore[misc]
                dict,
                self._owner(stage.id),
                artifacts[0],
            )
            if isinstance(made, dict):
                prepared |= {(stage.id, sha256): value for sha256, value in made.items()}
            else:
                problems[stage.id] = made
        return prepared, problems

    def with_canonical(self, reading: Reading, artifact: Artifact) -> Reading:
        """The reading, its canonical form made where that was put off."""
        if reading.canonical is not None or reading.summary is None:
            return reading
        key = (artifact.stage, artifact.sha256)
        if key not in self._late:
            prepared, _ = self._prepare({key: artifact})
            self._late[key] = self._read_one(reading.stage, artifact, prepared.get(key), canonical=True)
        late = self._late[key]
        return msgspec.structs.replace(
            reading, canonical=late.canonical, erased=late.erased, without=late.without
        )

    def _read_one(
        self, stage: StageSpec, artifact: Artifact, prepared: object | None, *, canonical: bool
    ) -> Reading:
        context = self._context(prepared)
        owner = self._owner(stage.id)
        summary = guarded(lambda: stage.summarize(artifact, context), Summary, owner, artifact)
        if not isinstance(summary, Summary):
            return Reading(stage=stage, sha256=artifact.sha256, summary=None, issues=(summary,))
        issues = tuple(_placed(issue, artifact) for issue in summary.issues)
        if not canonical:
            return Reading(stage=stage, sha256=artifact.sha256, summary=summary, issues=issues)
        made = guarded(lambda: stage.canonical(artifact, context), Canonical, owner, artifact)
        if not isinstance(made, Canonical):
            return Reading(stage=stage, sha256=artifact.sha256, summary=summary, issues=(*issues, made))
        digest = hashlib.sha256(msgspec.json.encode(made.lines)).hexdigest()
        return Reading(
            stage=stage,
            sha256=artifact.sha256,
            summary=summary,
            canonical=digest,
            erased=made.erased,
            without=made.without,
            issues=issues,
        )

    def _unreadable_file(self, artifact: Artifact, error: OSError) -> Reading:
        issue = Issue(
            severity="error",
            code="unreadable-file",
            message=f"cannot be read: {error.strerror or error}",
            where=artifact.location,
            stage=artifact.stage,
            hint="check that the file is there and that you may read it",
        )
        return Reading(stage=self._stage(artifact.stage), sha256=None, summary=None, issues=(issue,))

    def _kernel(
        self, bundle: Bundle, readings: Mapping[tuple[str, str], Reading], failed: Mapping[str, Reading]
    ) -> Kernel:
        mine: dict[str, Reading] = {}
        for stage_id in sorted(
            bundle.artifacts, key=lambda name: (self._order.get(name, len(self._order)), name)
        ):
            artifact = bundle.artifacts[stage_id]
            lost = failed.get(artifact.location)
            mine[stage_id] = lost if lost is not None else self._located(readings, artifact)
        target = str(bundle.target) if bundle.target else self._target_of(mine)
        missing, issues = self._missing(bundle, target)
        derived, trouble = self._derive(mine, target)
        return Kernel(
            bundle=bundle,
            target=target,
            readings=mine,
            missing=missing,
            derived=derived,
            issues=(*_untold(bundle, mine), *issues, *trouble, *disagreements(mine, self._registry.facts)),
        )

    def _located(self, readings: Mapping[tuple[str, str], Reading], artifact: Artifact) -> Reading:
        """The reading of this content, its issues named after this file."""
        reading = readings[artifact.stage, artifact.sha256]
        if not reading.issues:
            return reading
        issues = tuple(msgspec.structs.replace(issue, where=artifact.location) for issue in reading.issues)
        return msgspec.structs.replace(reading, issues=issues)

    def _target_of(self, readings: Mapping[str, Reading]) -> str | None:
        """The target as a stage's fact of role ``target`` says it."""
        for reading in readings.values():
            for fact in reading.summary.facts if reading.summary else ():
                spec = self._registry.facts.get(fact.id)
                if spec is not None and spec.role == "target" and isinstance(fact.value, str):
                    return fact.value
        return None

    def _missing(self, bundle: Bundle, target: str | None) -> tuple[tuple[str, ...], tuple[Issue, ...]]:
        entry = EntryInfo(
            layout=bundle.layout,
            backend=target.partition(":")[0] if target else None,
            release=_major_minor(bundle.release),
            suffixes=frozenset(artifact.suffix for artifact in bundle.artifacts.values()),
        )
        missing: list[str] = []
        issues: list[Issue] = []
        told = {issue.stage for issue in bundle.issues if issue.severity == "error"}
        earlier = self._registry.stage_after(bundle.begins) if bundle.begins is not None else ()
        for stage in self._registry.stages:
            if stage.id in bundle.artifacts or stage.id in earlier:
                continue
            expected = guarded(lambda stage=stage: stage.expected(entry), bool, self._owner(stage.id), None)  # type: ignore[misc]
            if isinstance(expected, Issue):
                issues.append(expected)
            elif expected:
                missing.append(stage.id)
                if stage.id in told:
                    continue
                issues.append(
                    Issue(
                        severity="error",
                        code="missing-stage",
                        message=f"no {stage.suffixes[0]} file, which an entry written like this one has",
                        where=bundle.path,
                        stage=stage.id,
                        hint="compile it again, or compare the entry it was copied from",
                    )
                )
        return tuple(missing), tuple(issues)

    def _derive(
        self, readings: Mapping[str, Reading], target: str | None
    ) -> tuple[tuple[Fact, ...], list[Issue]]:
        view = KernelFactView(readings, target)
        facts: list[Fact] = []
        issues: list[Issue] = []
        for spec in self._registry.derived:
            made = guarded(lambda spec=spec: tuple(spec.derive(view)), tuple, self._owner(spec.id), None)  # type: ignore[misc]
            if isinstance(made, Issue):
                issues.append(made)
            else:
                facts.extend(made)
        return tuple(facts), issues


def _placed(issue: Issue, artifact: Artifact) -> Issue:
    return msgspec.structs.replace(issue, where=issue.where or artifact.location, stage=artifact.stage)


def _untold(bundle: Bundle, readings: Mapping[str, Reading]) -> list[Issue]:
    """What was wrong with the files, but for those of which a stage says it again."""
    told = {
        issue.where for reading in readings.values() for issue in reading.issues if issue.severity == "error"
    }
    return [issue for issue in bundle.issues if issue.where not in told]


def _contents(bundles: Sequence[Bundle]) -> frozenset[tuple[str, str]]:
    """(stage, sha256) of everything readable."""
    found = set()
    for bundle in bundles:
        for artifact in bundle.artifacts.values():
            with suppress(OSError):  # what cannot be read is reported by ``read``
                found.add((artifact.stage, artifact.sha256))
    return frozenset(found)


def _major_minor(release: str | None) -> tuple[int, int] | None:
    parts = (release or "").split(".")
    if len(parts) < 2 or not parts[0].isdigit() or not parts[1].isdigit():
        return None
    return int(parts[0]), int(parts[1])
