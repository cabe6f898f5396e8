"""Answers of stages, each content asked once: from the store, else from an executor, kept until they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec

from irdiff.engine.parcel import Known
from irdiff.engine.unit import Answer, Batch, Executor, Item, Said, Settings, unpacked
from irdiff.engine.work import Bench, InThisProcess
from irdiff.model.bundle import Artifact
from irdiff.model.specs import StageSpec

Content: TypeAlias = tuple[str, str]
"""Stage id and SHA-256."""
LINES = " lines"
"""Behind the id of a stage where the user's lines are asked for instead of facts."""
Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, total) contents."""

POOL_FROM = 2 << 20
"""Bytes to be read from which other processes are worth their start: about half a second's work."""
EACH = 1 << 20
"""Bytes to be read for each of them: as much work as starting it is."""
READY_FROM = 128 << 10
"""The same where those processes are there already."""
SMALLEST, LARGEST = 32 << 10, 256 << 10
"""Bytes of a batch: enough that handing it over costs nothing, few enough that nobody waits for the last one."""
TOGETHER = 2 << 20
"""Bytes of artifacts that a stage prepares together before they are shared out: each share starts a program."""
MOST_TOGETHER = 16 << 20
"""Bytes of such a share, which is in memory all at once."""
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


class Want(msgspec.Struct, frozen=True, kw_only=True):
    """One content asked for."""

    artifact: Artifact
    canonical: bool
    lines: bool = False
    """The user's lines instead: the stage's id in the content then ends in LINES."""


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
        self.lasting = True
        """Whether another run would be told the same."""
        self._waiting: list[tuple[Content, str, Answer]] = []
        """Answers on their way to the store."""

    def ask(self, wants: Mapping[Content, Want], *, hold: bool) -> None:
        """See to it that every content was read, and its canonical form made where that is wanted.

        ``hold`` says that the answers will all be used at once: they are kept unpacked.
        """
        missing = self._not_stored(self._unserved(wants))
        self._formed.update(content for content, want in wants.items() if want.canonical)
        if not missing:
            return
        self._progress(0, len(missing))
        done = 0
        for batch, answers in self._executor(missing).run(
            self._lines(missing), most=workers_for(_size(missing))
        ):
            for item, answer in zip(batch.items, answers, strict=True):
                content = (item.stage + LINES if item.lines else item.stage, item.sha256)
                self._take(content, answer, missing, hold=hold)
            done += len(answers)
            self._progress(done, len(missing))
        self._write()

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

    def _unserved(self, wants: Mapping[Content, Want]) -> dict[Content, Want]:
        """What was not read yet, or without its canonical form though that is wanted."""
        return {
            content: want
            for content, want in wants.items()
            if content not in self._digests
            or (want.canonical and not self._digests[content] and content not in self._formed)
        }

    def _not_stored(self, missing: Mapping[Content, Want]) -> dict[Content, Want]:
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

    def _executor(self, missing: Mapping[Content, Want]) -> Executor:
        pool = self._pool
        if pool is None or len(missing) < 2 or _size(missing) < (READY_FROM if pool.ready else POOL_FROM):
            return InThisProcess(self._bench)
        return pool

    def _lines(self, missing: Mapping[Content, Want]) -> list[Iterator[Batch]]:
        """Batches of each stage, sized by bytes; contents are read as it goes.

        What is prepared together comes first, for it takes longest, then the stages with most bytes.
        """
        workers = min(self._pool.workers if self._pool is not None else 1, workers_for(_size(missing)))
        kinds: dict[str, list[Want]] = {}
        for content, want in missing.items():
            kinds.setdefault(content[0], []).append(want)
        sizes = {kind: sum(want.artifact.size for want in wants) for kind, wants in kinds.items()}
        together = {kind for kind in kinds if not kind.endswith(LINES) and self._bench.stage(kind).prepare}
        alone = sum(size for kind, size in sizes.items() if kind not in together)
        limits = {
            kind: min(max(size // workers + 1, TOGETHER), MOST_TOGETHER)
            if kind in together
            else min(max(alone // (8 * workers), SMALLEST), LARGEST)
            for kind, size in sizes.items()
        }
        order = sorted(kinds, key=lambda kind: (kind not in together, -sizes[kind], kind))
        return [self._cut(kinds[kind], limits[kind]) for kind in order]

    def _cut(self, wants: Sequence[Want], limit: int) -> Iterator[Batch]:
        items: list[Item] = []
        size = 0
        for want in wants:
            item = _item(want)
            if items and size + len(item.data) > limit:
                yield Batch(settings=self._settings, items=tuple(items))
                items, size = [], 0
            items.append(item)
            size += len(item.data)
        if items:
            yield Batch(settings=self._settings, items=tuple(items))

    def _take(self, content: Content, answer: Answer, missing: Mapping[Content, Want], *, hold: bool) -> None:
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
        self._waiting.append((content, self._key(missing[content]), answer))
        if len(self._waiting) >= AT_ONCE:
            self._write()

    def _write(self) -> None:
        """Bring what waits to the store; what it does not take stays here."""
        if self._store is None or not self._waiting:
            return
        rows = [(key, answer.digest, answer.packed()) for _, key, answer in self._waiting]
        if not self._store.put(rows):
            self._kept.update(
                (content, row[2]) for (content, _, _), row in zip(self._waiting, rows, strict=True)
            )
        self._waiting.clear()

    def _fetched(self, content: Content, want: Want) -> Said:
        data = self._kept.get(content)
        if data is None and self._store is not None and content in self._digests:
            data = self._store.get(self._key(want))
        if data is not None:
            try:
                return unpacked(data)
            except ValueError:
                self._kept.pop(content, None)  # damaged in the store: read it again
        (said,) = self._bench.read((_item(want),))
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


def workers_for(size: int) -> int:
    """How many workers are worth their start where so many bytes are read."""
    return max(2, size // EACH)


def _size(wants: Mapping[Content, Want]) -> int:
    return sum(want.artifact.size for want in wants.values())


def _item(want: Want) -> Item:
    """The artifact with its bytes; one that cannot be read any more is given as empty, which its digest tells."""
    artifact = want.artifact
    try:
        data = artifact.read()
    except OSError:
        data = b""
    return Item(
        stage=artifact.stage,
        suffix=artifact.suffix,
        location=artifact.location,
        sha256=artifact.sha256,
        data=data,
        canonical=want.canonical,
        lines=want.lines,
    )
