"""What is asked for, cut into lines of batches for whoever works."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from irdiff.engine.unit import Batch, Item, Line, Settings
from irdiff.engine.work import Bench
from irdiff.model.bundle import Artifact

Content: TypeAlias = tuple[str, str]
"""Stage id and SHA-256."""
LINES = " lines"
"""Behind the id of a stage where the user's lines are asked for instead of facts."""

EACH = 1 << 20
"""Bytes to be read for each worker: as much work as starting it is."""
SMALLEST, LARGEST = 32 << 10, 256 << 10
"""Bytes of a batch: enough that handing it over costs nothing, few enough that nobody waits for the last one."""
TOGETHER = 2 << 20
"""Bytes of artifacts that a stage prepares together before they are shared out: each share starts a program."""
MOST_TOGETHER = 16 << 20
"""Bytes of such a share, which is in memory all at once."""


class Want(msgspec.Struct, frozen=True, kw_only=True):
    """One content asked for."""

    artifact: Artifact
    canonical: bool
    lines: bool = False
    """The user's lines instead: the stage's id in the content then ends in LINES."""
    turn: int = 0
    """What has a lower one is read first, but for what is prepared together."""


Wants: TypeAlias = Mapping[Content, Want]


class Plan:
    """How wants are cut into batches for so many workers."""

    def __init__(self, bench: Bench, settings: Settings, workers: int) -> None:
        self._bench = bench
        self._settings = settings
        self._workers = workers

    def lines(self, wants: Wants) -> list[Line]:
        """Batches of each turn and stage, sized by bytes; contents are read as it goes.

        What is prepared together comes first, for it takes longest, then the stages with most bytes.
        """
        kinds: dict[tuple[int, str], list[Want]] = {}
        for content, want in wants.items():
            turn = -1 if self.together(content) else want.turn
            kinds.setdefault((turn, content[0]), []).append(want)
        sizes = {kind: size_of(found) for kind, found in kinds.items()}
        alone = sum(size for (turn, _), size in sizes.items() if turn >= 0)
        each = min(max(alone // (8 * self._workers), SMALLEST), LARGEST)
        order = sorted(kinds, key=lambda kind: (kind[0], -sizes[kind], kind[1]))
        return [
            Line(kind[1], self._cut(kinds[kind], each) if kind[0] >= 0 else self.long(kinds[kind]))
            for kind in order
        ]

    def together(self, content: Content) -> bool:
        """Whether the stage of a content prepares several at once."""
        stage, _ = content
        return not stage.endswith(LINES) and self._bench.stage(stage).prepare is not None

    def _cut(self, wants: Iterable[Want], limit: int) -> Iterator[Batch]:
        """Batches of so many bytes, or of one content."""
        items: list[Item] = []
        size = 0
        for want in wants:
            item = item_of(want)
            if items and size + len(item.data) > limit:
                yield Batch(settings=self._settings, items=tuple(items))
                items, size = [], 0
            items.append(item)
            size += len(item.data)
        if items:
            yield Batch(settings=self._settings, items=tuple(items))

    def late(self, wants: Iterable[tuple[Content, Want]], *, together: bool) -> Iterator[Batch]:
        """Batches of what was asked for after the lines were cut."""
        found = [want for _, want in wants]
        return self.long(found) if together else self._cut(found, SMALLEST)

    def once(self, wants: Sequence[Want]) -> Iterator[Batch]:
        """One batch of everything, if there is anything."""
        return self._cut(wants, size_of(wants) + 1)

    def long(self, wants: Sequence[Want]) -> Iterator[Batch]:
        """Batches of what is prepared together."""
        share = min(max(size_of(wants) // self._workers + 1, TOGETHER), MOST_TOGETHER)
        for batch in self._cut(wants, share):
            yield msgspec.structs.replace(batch, long=True)


class Late:
    """What is under way, and a line of what is asked for while other lines are read.

    What is prepared together waits until nothing else is under way: each share of it starts a program.
    """

    def __init__(self, plan: Plan, under_way: Iterable[Content]) -> None:
        self._plan = plan
        self._under_way = set(under_way)
        self._waiting: deque[tuple[Content, Want]] = deque()
        self._together: list[tuple[Content, Want]] = []

    def __contains__(self, content: object) -> bool:
        """Whether a content was asked for and is not answered."""
        return content in self._under_way

    def add(self, wants: Wants) -> None:
        """Ask for more."""
        self._under_way.update(wants)
        for each in wants.items():
            (self._together if self._plan.together(each[0]) else self._waiting).append(each)

    def answered(self, content: Content) -> None:
        """A content is there."""
        self._under_way.discard(content)

    def line(self) -> Line:
        """The batches, None where there is none yet."""
        return Line("late", self._batches())

    def _batches(self) -> Iterator[Batch | None]:
        while self._under_way:
            if self._waiting:
                found = list(self._waiting)
                self._waiting.clear()
                yield from self._plan.late(found, together=False)
            elif self._together and len(self._together) == len(self._under_way):
                held, self._together = self._together, []
                yield from self._plan.late(held, together=True)
            else:
                yield None


def workers_for(size: int) -> int:
    """How many workers are worth their start where so many bytes are read."""
    return max(2, size // EACH)


def size_of(wants: Iterable[Want]) -> int:
    """Bytes of the artifacts."""
    return sum(want.artifact.size for want in wants)


def item_of(want: Want) -> Item:
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
