"""What is asked for because something else is there: everything once, in whatever order answers come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.engine import answers
from irdiff.engine.answers import Answers
from irdiff.engine.planning import Content, Want
from irdiff.engine.shares import Shares
from irdiff.engine.unit import Answer, Batch, Line, Meanwhile, Settings
from irdiff.engine.work import Bench
from irdiff.model.bundle import Artifact
from toy_stages import NoTools, registry, stage

REGISTRY = registry(
    stage("one"),
    msgspec.structs.replace(stage("two", after=("one",)), prepare=lambda artifacts, tools: {}),
)
SIZE = 10
"""Contents."""


def artifact(number: int) -> Artifact:
    """Of the stage that prepares several at once every third."""
    name = "one" if number % 3 else "two"
    return Artifact.of_bytes(f"add {number}".encode(), stage=name, suffix=f".{name}")


ARTIFACTS = [artifact(number) for number in range(SIZE)]
CONTENTS = [(each.stage, each.sha256) for each in ARTIFACTS]


@pytest.fixture(autouse=True, scope="module")
def no_input_is_too_small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "READY_FROM", 0)
        yield


class Jumbled:
    """Two workers that answer in any order."""

    workers = 2
    ready = True

    def __init__(self, bench: Bench, choices: Iterator[int]) -> None:
        self._bench = bench
        self._choices = choices
        self.batches: list[Batch] = []

    def run(
        self, lines: Sequence[Line], *, most: int | None = None, meanwhile: Meanwhile | None = None
    ) -> Iterator[tuple[Batch, Sequence[Answer]]]:
        shares = Shares(lines)
        waiting: list[Batch] = []
        while True:
            for worker in range(2):
                batch = shares.next(worker)
                if batch is not None:
                    waiting.append(batch)
                    self.batches.append(batch)
            if not waiting:
                return
            batch = waiting.pop(next(self._choices, 0) % len(waiting))
            yield batch, [Answer.of(said) for said in self._bench.read(batch.items)]

    def begin(self, batch: Batch) -> bool:
        return False

    def close(self) -> None:
        pass


def want(number: int, *, canonical: bool = False) -> Want:
    return Want(artifact=ARTIFACTS[number], canonical=canonical)


@given(
    st.dictionaries(st.integers(0, SIZE - 1), st.booleans(), min_size=1),
    st.sets(st.integers(0, SIZE - 1)),
    st.dictionaries(st.integers(0, SIZE - 1), st.sets(st.integers(0, SIZE - 1)), max_size=SIZE),
    st.lists(st.integers(0, 5), max_size=30),
    st.booleans(),
)
def test_all_that_follows_is_read_once_and_told_when_it_is_there(
    first: dict[int, bool],
    before: set[int],
    follows: dict[int, set[int]],
    choices: list[int],
    others: bool,
) -> None:
    """``first``: what is asked for, with its form or without; ``before``: what was read earlier, without."""
    bench = Bench(REGISTRY, NoTools(), Settings())
    pool = Jumbled(bench, iter(choices)) if others else None
    asked = Answers(bench, Settings(), progress=lambda done, total: None, pool=pool)
    asked.ask({CONTENTS[number]: want(number) for number in before})
    if pool is not None:
        pool.batches.clear()
    told: list[Content] = []
    pending = {number: set(more) for number, more in follows.items()}

    def then(content: Content) -> dict[Content, Want]:
        told.append(content)
        assert asked.known(ARTIFACTS[CONTENTS.index(content)]) is not None
        if first.get(CONTENTS.index(content)):
            assert asked.digest(content)
        return {CONTENTS[number]: want(number) for number in pending.pop(CONTENTS.index(content), ())}

    asked.ask({CONTENTS[each]: want(each, canonical=form) for each, form in first.items()}, then=then)
    reachable, stack = set(first), list(first)
    while stack:
        new = follows.get(stack.pop(), set()) - reachable
        reachable |= new
        stack += new
    assert {CONTENTS.index(content) for content in told} == reachable
    assert all(asked.known(ARTIFACTS[number]) is not None for number in reachable)
    if pool is not None:
        items = [(item.stage, item.sha256) for batch in pool.batches for item in batch.items]
        assert len(items) == len(set(items))


def test_what_follows_and_is_prepared_together_is_one_batch() -> None:
    bench = Bench(REGISTRY, NoTools(), Settings())
    pool = Jumbled(bench, iter(()))
    asked = Answers(bench, Settings(), progress=lambda done, total: None, pool=pool)
    follows = {1: 0, 2: 3, 4: 6, 5: 9}

    def then(content: Content) -> dict[Content, Want]:
        after = follows.get(CONTENTS.index(content))
        return {CONTENTS[after]: want(after)} if after is not None else {}

    asked.ask({CONTENTS[number]: want(number) for number in follows}, then=then)
    (together,) = [batch for batch in pool.batches if batch.long]
    assert {item.sha256 for item in together.items} == {ARTIFACTS[number].sha256 for number in (0, 3, 6, 9)}
