"""Read kernels: each distinct content once, and of two sides only what somebody asks for.

A plugin's exception, a tool that fails or a file that cannot be read becomes an Issue on the stage where it
happened; every other stage and kernel is still read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

import msgspec

from irdiff.engine.answers import Answers, Progress, Store, Then
from irdiff.engine.assembly import Assembly
from irdiff.engine.hashing import hashed
from irdiff.engine.isolation import guarded
from irdiff.engine.kernels import Kernel, Reading
from irdiff.engine.parcel import Known
from irdiff.engine.planning import LINES, Content, Want, Wants
from irdiff.engine.unit import Executor, Meanwhile, Settings, unpacked_form
from irdiff.engine.wanting import all_that_differ, content_of, first_that_differ, sure_pairs, wanted
from irdiff.engine.work import Bench
from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.issues import Issue
from irdiff.model.summary import Canonical
from irdiff.model.tools import Toolbox
from irdiff.registry import Registry

__all__ = ["Progress", "Reader", "no_progress"]


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
        store: Store | None = None,
        pool: Executor | None = None,
        settings: Settings | None = None,
    ) -> None:
        """``settings`` says what processes of the ``pool`` load; ``switched_off`` and ``wanted`` go before it."""
        given = msgspec.structs.replace(settings or Settings(), switched_off=switched_off, wanted=wanted)
        self.settings = given
        self.pool = pool
        self._bench = Bench(registry, tools, given)
        self._answers = Answers(self._bench, given, progress=progress, store=store, pool=pool)
        self._assembly = Assembly(registry, self._bench)
        self._canonical = canonical
        self.switched_off = switched_off
        self._lost = False
        self._not_read: dict[Content, Reading] = {}
        """One for each content: most are on both sides."""
        self._targets = [
            stage.id for stage in registry.stages if any(fact.role == "target" for fact in stage.facts)
        ]

    def begin(self, before: Sequence[Bundle], after: Sequence[Bundle]) -> None:
        """Have work begin that is sure to come, where other processes wait for some.

        First what stages prepare together: a program is started for it, and once more for what is known later, so it
        begins only where all of it is known from names and from these files alone. Then some of another stage.
        """
        if self.pool is None or not self.pool.ready:
            return
        together = [stage.id for stage in self._bench.stages() if stage.prepare is not None]
        alone = [stage.id for stage in self._bench.stages() if stage.prepare is None]
        pairs = sure_pairs(before, after)
        found = (all_that_differ(pairs, (*before, *after), together), first_that_differ(pairs, alone))
        self._answers.begin(
            *(self.wants((bundle, (stage,), True) for bundle, stage in different) for different in found)
        )

    def read_both(
        self, before: Sequence[Bundle], after: Sequence[Bundle], *, lazy: bool = False
    ) -> tuple[list[Kernel], list[Kernel]]:
        """Read two sides at once: equal bytes are read once, and need no canonical form for their own sake.

        ``lazy`` kernels know the digests of their files and their targets; a Comparer reads of them what it needs.
        """
        bundles = [*before, *after]
        hashed([artifact for bundle in bundles for artifact in bundle.artifacts.values()])
        if lazy:
            kernels = self._unread(bundles)
        else:
            common = _contents(before) & _contents(after)
            kernels = self.read(bundles, common=common)
        return kernels[: len(before)], kernels[len(before) :]

    def read(self, bundles: Sequence[Bundle], *, common: frozenset[Content] = frozenset()) -> list[Kernel]:
        """Read every artifact of every bundle; one Kernel per bundle, in the order given.

        ``common`` holds contents whose canonical form is made only if asked for.
        """
        artifacts = [artifact for bundle in bundles for artifact in bundle.artifacts.values()]
        hashed(artifacts)
        wants: dict[Content, Want] = {}
        for artifact in artifacts:
            content = content_of(artifact)
            if content is not None:
                canonical = self._canonical and content not in common
                wants.setdefault(content, Want(artifact=artifact, canonical=canonical))
        self._answers.ask(wants, hold=True)
        return [self.kernel(bundle) for bundle in bundles]

    def ask(self, wants: Wants, *, then: Then | None = None, meanwhile: Meanwhile | None = None) -> None:
        """See to it that this is read, and what ``then`` asks for as it is there; see ``Answers.ask``."""
        self._answers.ask(wants, then=then, meanwhile=meanwhile)

    def wants(
        self,
        stages_of: Iterable[tuple[Bundle, Collection[str], bool]],
        *,
        lines: Iterable[Artifact] = (),
        turn: int = 0,
    ) -> dict[Content, Want]:
        """These stages of bundles, with their canonical form or without, and the user's lines of ``lines``."""
        return wanted(self._bench, stages_of, lines=lines, turn=turn)

    def kernel(
        self, bundle: Bundle, stages: Collection[str] | None = None, target: str | None = None
    ) -> Kernel:
        """The kernel of a bundle with those stages read, or all; read now where they were not asked for.

        ``target`` is its target where a stage that is not read said it.
        """
        readings = {
            name: self.reading(artifact) if stages is None or name in stages else self._unread_stage(artifact)
            for name, artifact in self._assembly.ordered(bundle)
        }
        return self._assembly.kernel(bundle, readings, target)

    def known(self, bundles: Iterable[Bundle], stages: Collection[str] | None) -> tuple[Known, ...] | None:
        """All that was answered of those stages of bundles, for another process; None where some were not asked for."""
        found: dict[Content, Known] = {}
        for bundle in bundles:
            for name, artifact in bundle.artifacts.items():
                if stages is not None and name not in stages:
                    continue
                content = content_of(artifact)
                facts = self._answers.known(artifact) if content is not None else None
                if content is None or facts is None:
                    return None
                found[content] = facts
                lines = self._answers.known(artifact, lines=True)
                if lines is not None:
                    found[content[0] + LINES, content[1]] = lines
        return tuple(found.values())

    def take(self, known: Iterable[Known]) -> None:
        """What another process was told of contents: they are not read again."""
        for each in known:
            self._answers.take(each)

    def release(self) -> None:
        """Let go of what was unpacked."""
        self._answers.release()

    @property
    def lasting(self) -> bool:
        """Whether another run would read the same: every file could be read, and no tool or plugin failed."""
        return self._answers.lasting and not self._lost

    def digest(self, artifact: Artifact) -> str:
        """Digest of the canonical form of an artifact that was asked for; empty where there is none."""
        content = content_of(artifact)
        return self._answers.digest(content) if content is not None else ""

    def reading(self, artifact: Artifact) -> Reading:
        """What the stage says of an artifact, its issues named after this file."""
        stage = self._bench.stage(artifact.stage)
        try:
            sha256 = artifact.sha256
        except OSError as error:
            self._lost = True
            return Reading(stage=stage, sha256=None, summary=None, issues=(_unreadable(artifact, error),))
        said = self._answers.said(artifact)
        formed = self._answers.digest((artifact.stage, sha256))
        return Reading(
            stage=stage,
            sha256=sha256,
            summary=said.summary,
            canonical=said.canonical if formed else None,
            erased=said.erased if formed else {},
            without=said.without if formed else {},
            issues=tuple(msgspec.structs.replace(issue, where=artifact.location) for issue in said.issues),
        )

    def canonical(self, artifact: Artifact, *beside: Artifact) -> Canonical | None:
        """The canonical form of one artifact with its text; None where it cannot be made.

        It is made anew but where a program had to be started for it: then it was kept with the answer. ``beside`` are
        artifacts of the same stage that are asked for next: a program is started once for all.
        """
        if self.digest(artifact):
            form = self._answers.said(artifact).form
            if form:
                with suppress(ValueError):
                    return unpacked_form(form)
        stage = self._bench.stage(artifact.stage)
        context = self._bench.context(self._bench.prepared(artifact, beside))
        owner = self._bench.owner(stage.id)
        made = guarded(lambda: stage.canonical(artifact, context), Canonical, owner, artifact)
        return made if isinstance(made, Canonical) else None

    def source_lines(self, reading: Reading, artifact: Artifact) -> Mapping[int, str]:
        """Places of an artifact to the user's lines, made now where the stage puts that off; empty if it fails."""
        if reading.summary is None:
            return {}
        if reading.stage.source_lines is None:
            return reading.summary.source_lines
        return self._answers.lines(artifact)

    def written(self, reading: Reading, artifact: Artifact) -> Mapping[int, str]:
        """Place to the artifact's own text there: its lines, or what the stage makes of it."""
        make = reading.stage.written
        if make is None:
            text = artifact.read().decode("utf-8", errors="replace")
            return dict(enumerate(text.split("\n"), 1))
        context = self._bench.context(self._bench.prepared(artifact))
        owner = self._bench.owner(reading.stage.id)
        made = guarded(lambda: make(artifact, context), dict, owner, artifact)
        return made if isinstance(made, dict) else {}

    def with_canonical(self, reading: Reading, artifact: Artifact) -> Reading:
        """The reading, its canonical form made where that was put off."""
        if reading.canonical is not None or reading.summary is None:
            return reading
        want = Want(artifact=artifact, canonical=True)
        self._answers.ask({(artifact.stage, artifact.sha256): want}, hold=True)
        late = self.reading(artifact)
        return msgspec.structs.replace(
            reading, canonical=late.canonical, erased=late.erased, without=late.without
        )

    def _unread(self, bundles: Sequence[Bundle]) -> list[Kernel]:
        """Kernels of which nothing was read but what says for which target they were compiled."""
        targets: dict[int, str] = {}
        for stage_id in self._targets:
            without = [
                (index, bundle)
                for index, bundle in enumerate(bundles)
                if bundle.target is None and index not in targets and stage_id in bundle.artifacts
            ]
            self.ask(self.wants((bundle, (stage_id,), False) for _, bundle in without))
            for index, bundle in without:
                target = self.kernel(bundle, (stage_id,)).target
                if target is not None:
                    targets[index] = target
                self._answers.release()
        return [
            self._assembly.kernel(
                bundle,
                {name: self._unread_stage(artifact) for name, artifact in self._assembly.ordered(bundle)},
                targets.get(index),
            )
            for index, bundle in enumerate(bundles)
        ]

    def _unread_stage(self, artifact: Artifact) -> Reading:
        stage = self._bench.stage(artifact.stage)
        try:
            content = (artifact.stage, artifact.sha256)
            if content not in self._not_read:
                self._not_read[content] = Reading(stage=stage, sha256=content[1], summary=None, read=False)
            return self._not_read[content]
        except OSError as error:
            self._lost = True
            return Reading(stage=stage, sha256=None, summary=None, issues=(_unreadable(artifact, error),))


def _unreadable(artifact: Artifact, error: OSError) -> Issue:
    return Issue(
        severity="error",
        code="unreadable-file",
        message=f"cannot be read: {error.strerror or error}",
        where=artifact.location,
        stage=artifact.stage,
        hint="check that the file is there and that you may read it",
    )


def _contents(bundles: Sequence[Bundle]) -> frozenset[Content]:
    """Everything readable."""
    found = (content_of(artifact) for bundle in bundles for artifact in bundle.artifacts.values())
    return frozenset(content for content in found if content is not None)
