"""Answers of stages, each content asked once: from the store, else from an executor, kept until they are used."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from irdiff.engine.parcel import Known
from irdiff.engine.planning import LINES, Content, Late, Plan, Want, Wants, item_of, size_of, workers_for
from irdiff.engine.unit import Answer, Executor, Meanwhile, Said, Settings, unpacked
from irdiff.engine.work import Bench, InThisProcess
from irdiff.model.bundle import Artifact
from irdiff.model.specs import StageSpec

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, total) contents."""
Then: TypeAlias = Callable[[Content], Wants]
"""Told of each content that was asked for when it is there; what is to be read on that account, without forms."""

POOL_FROM = 2 << 20
"""Bytes to be read from which other processes are worth their start: about half a second's work."""
READY_FROM = 128 << 10
"""The same where those processes are there already."""
AT_ONCE = 128
"""Answers written to the store in one transaction."""


class Store(Protocol):
    """Where answers outlive the process. Whatever goes wrong with it costs time only: it raises nothing."""

    def key(
        self, stage: StageSpec, suffix: str, sha256: str, switched_off: frozenset[str], wanted: frozenset[str]
    ) -> str:
        """What the answer of a stage for a content goes by: all that it depends on."""

    def known(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Those keys that are there, with the digest of the canonical form (empty for none)."""

    def get(self, key: str) -> bytes | None:
        """The bytes of one answer."""

    def put(self, rows: Sequence[tuple[str, str, bytes]]) -> bool:
        """Keep (key, digest, bytes); False where they were not kept."""


class Answers:
    """What was asked so far."""

    def __init__(
        self,
        bench: Bench,
        settings: Settings,
        *,
        progress: Progress,
        store: Store | None = None,
        pool: Executor | None = None,
    ) -> None:
        self._bench = bench
        self._settings = settings
        self._store = store
        self._pool = pool
        self._progress = progress
        self._digests: dict[Content, str] = {}
        """Of everything that was read: digest of the canonical form; empty for none."""
        self._formed: set[Content] = set()
        """Contents whose canonical form was asked for, could it be made or not."""
        self._kept: dict[Content, bytes] = {}
        """Answers that are in no store, packed."""
        self._open: dict[Content, Said] = {}
        """Answers in use."""
        self._begun: dict[Content, Want] = {}
        """What somebody reads already for the next that asks."""
        self.lasting = True
        """Whether another run would be told the same."""
        self._waiting: dict[Content, tuple[str, Answer]] = {}
        """Answers on their way to the store."""

    def ask(
        self,
        wants: Wants,
        *,
        hold: bool = False,
        then: Then | None = None,
        meanwhile: Meanwhile | None = None,
    ) -> None:
        """See to it that every content was read, and its canonical form made where that is wanted.

        ``hold`` says that the answers will all be used at once: they are kept unpacked. ``then`` may ask for more as
        contents are there. ``meanwhile`` is called where nothing but waiting for others is to be done.
        """
        missing = self._missing(wants)
        if then is not None:
            missing |= self._following([each for each in wants if each not in missing], set(missing), then)
        if not missing:
            return
        size = size_of(missing.values())
        executor = self._executor(missing, size)
        plan = Plan(self._bench, self._settings, min(executor.workers, workers_for(size)))
        lines = plan.lines({content: want for content, want in missing.items() if content not in self._begun})
        if executor is self._pool:
            missing, self._begun = {**self._begun, **missing}, {}
        late = Late(plan, missing)
        if then is not None:
            lines.insert(0, late.line())  # what it holds, whole pairs wait for
        self._progress(0, len(missing))
        done = 0
        for batch, answers in executor.run(lines, most=workers_for(size), meanwhile=meanwhile):
            for item, answer in zip(batch.items, answers, strict=True):
                content = (item.stage + LINES if item.lines else item.stage, item.sha256)
                self._take(content, answer, missing, hold=hold)
                late.answered(content)
                if then is not None:
                    more = self._following([content], late, then)
                    missing |= more
                    late.add(more)
            done += len(answers)
            self._progress(done, len(missing))
        self._write()

    def begin(self, together: Wants, alone: Wants) -> None:
        """Have contents read by whoever has time, first those prepared together: the next ``ask`` waits for them."""
        if self._pool is None:
            return
        missing = self._missing(together), self._missing(alone)
        plan = Plan(self._bench, self._settings, self._pool.workers)
        for batch in (*plan.long(list(missing[0].values())), *plan.once(list(missing[1].values()))):
            if not self._pool.begin(batch):
                return
            mine = {(item.stage, item.sha256) for item in batch.items}
            known = {**missing[0], **missing[1]}
            self._begun |= {content: want for content, want in known.items() if content in mine}

    def digest(self, content: Content) -> str:
        """Digest of the canonical form of a content, where that was asked for and could be made; else empty."""
        return self._digests.get(content, "") if content in self._formed else ""

    def said(self, artifact: Artifact) -> Said:
        """The answer for a content, read now where it was not asked for."""
        content = (artifact.stage, artifact.sha256)
        found = self._open.get(content)
        if found is None:
            want = Want(artifact=artifact, canonical=content in self._formed)
            found = self._open[content] = self._fetched(content, want)
        return found

    def lines(self, artifact: Artifact) -> dict[int, str]:
        """Place to the user's line, made now where that was not asked for."""
        content = (artifact.stage + LINES, artifact.sha256)
        found = self._open.get(content)
        if found is None:
            want = Want(artifact=artifact, canonical=False, lines=True)
            found = self._open[content] = self._fetched(content, want)
        return found.lines

    def known(self, artifact: Artifact, *, lines: bool = False) -> Known | None:
        """The answer for a content as it is kept; None for what was not asked for."""
        content = (artifact.stage + LINES if lines else artifact.stage, artifact.sha256)
        digest = self._digests.get(content)
        if digest is None:
            return None
        data = self._kept.get(content)
        if data is None and content in self._open:
            data = Answer.of(self._open[content]).packed()
        if data is None and self._store is not None:
            data = self._store.get(self._key(Want(artifact=artifact, canonical=False, lines=lines)))
        return Known(*content, digest, content in self._formed, data) if data is not None else None

    def take(self, known: Known) -> None:
        """An answer that another process has."""
        content = (known.stage, known.sha256)
        self._digests[content] = known.digest
        self._kept[content] = known.data
        if known.formed:
            self._formed.add(content)

    def release(self) -> None:
        """Let go of answers in use; they are unpacked again where they are asked for again."""
        for content, said in self._open.items():
            if content not in self._kept and (self._store is None or not said.lasting):
                self._kept[content] = Answer.of(said).packed()
        self._open.clear()

    def _missing(self, wants: Wants) -> dict[Content, Want]:
        """What neither this nor the store knows; all of it counts as asked for from now on."""
        missing = self._not_stored(self._unserved(wants))
        self._formed.update(content for content, want in wants.items() if want.canonical)
        return missing

    def _following(
        self, there: Iterable[Content], under_way: Container[Content], then: Then
    ) -> dict[Content, Want]:
        """What has to be read because these contents are there. Of what is ``under_way`` it is told when that comes.

        Even where a content was read before: then it is on its way with what was not asked for then.
        """
        found: dict[Content, Want] = {}
        waiting = list(there)
        while waiting:
            more = then(waiting.pop())
            more = {each: want for each, want in more.items() if each not in under_way and each not in found}
            new = self._missing(more)
            waiting += [each for each in more if each not in new]
            found |= new
        return found

    def _unserved(self, wants: Wants) -> dict[Content, Want]:
        """What was not read yet, or without its canonical form though that is wanted."""
        return {
            content: want
            for content, want in wants.items()
            if content not in self._digests
            or (want.canonical and not self._digests[content] and content not in self._formed)
        }

    def _not_stored(self, missing: Wants) -> dict[Content, Want]:
        """What the store does not know."""
        if self._store is None or not missing:
            return dict(missing)
        keys = {content: self._key(want) for content, want in missing.items()}
        known = self._store.known(list(keys.values()))
        found = {content: known[key] for content, key in keys.items() if key in known}
        self._digests |= {
            content: digest for content, digest in found.items() if digest or not missing[content].canonical
        }
        return self._unserved(missing)

    def _executor(self, missing: Wants, size: int) -> Executor:
        pool = self._pool
        if pool is not None and not self._begun.keys().isdisjoint(missing):
            return pool
        if pool is None or len(missing) < 2 or size < (READY_FROM if pool.ready else POOL_FROM):
            return InThisProcess(self._bench)
        return pool

    def _take(self, content: Content, answer: Answer, missing: Wants, *, hold: bool) -> None:
        self._digests[content] = answer.digest
        self._open.pop(content, None)
        self._kept.pop(content, None)
        self.lasting = self.lasting and answer.lasting
        if hold:
            self._open[content] = answer.said()
        if self._store is None or not answer.lasting:
            if not hold:
                self._kept[content] = answer.packed()
            return
        self._waiting[content] = (self._key(missing[content]), answer)
        if len(self._waiting) >= AT_ONCE:
            self._write()

    def _write(self) -> None:
        """Bring what waits to the store; what it does not take stays here."""
        if self._store is None or not self._waiting:
            return
        rows = [(key, answer.digest, answer.packed()) for key, answer in self._waiting.values()]
        if not self._store.put(rows):
            self._kept.update((content, row[2]) for content, row in zip(self._waiting, rows, strict=True))
        self._waiting.clear()

    def _fetched(self, content: Content, want: Want) -> Said:
        if content in self._waiting:
            return self._waiting[content][1].said()
        data = self._kept.get(content)
        if data is None and self._store is not None and content in self._digests:
            data = self._store.get(self._key(want))
        if data is not None:
            try:
                return unpacked(data)
            except ValueError:
                self._kept.pop(content, None)  # damaged in the store: read it again
        (said,) = self._bench.read((item_of(want),))
        return said

    def _key(self, want: Want) -> str:
        assert self._store is not None
        artifact = want.artifact
        return self._store.key(
            self._bench.stage(artifact.stage),
            artifact.suffix + LINES if want.lines else artifact.suffix,
            artifact.sha256,
            self._settings.switched_off,
            self._settings.wanted,
        )
