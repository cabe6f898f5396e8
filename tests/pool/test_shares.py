"""Each worker stays with one kind of work as long as there is some, and none is idle while there is any."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from irdiff.engine.unit import Batch, Item, Settings
from irdiff.pool.shares import Shares


def batch(stage: str, number: int) -> Batch:
    item = Item(stage=stage, suffix="", location=str(number), sha256="", data=b"", canonical=False)
    return Batch(settings=Settings(), items=(item,))


def lines(*counts: int) -> Shares:
    return Shares([iter([batch(f"s{line}", n) for n in range(count)]) for line, count in enumerate(counts)])


def test_two_workers_read_two_stages_and_then_the_rest_together() -> None:
    shares = lines(3, 4, 2)
    order = [(worker, shares.next(worker)) for worker in (0, 1) * 5]
    given = [(worker, found.items[0].stage) for worker, found in order if found is not None]
    assert given == [
        *((0, "s0"), (1, "s1")) * 3,
        (0, "s2"),
        (1, "s1"),
        (0, "s2"),
    ]
    assert order[-1][1] is None


@given(st.lists(st.integers(0, 6), max_size=6), st.integers(1, 4), st.randoms(use_true_random=False))
def test_every_batch_is_given_out_once_and_nobody_waits_while_there_is_one(
    counts: list[int], workers: int, chance: object
) -> None:
    shares = lines(*counts)
    seen: list[tuple[str, str]] = []
    while (found := shares.next(chance.randrange(workers))) is not None:  # type: ignore[attr-defined]
        seen.append((found.items[0].stage, found.items[0].location))
    assert sorted(seen) == sorted(
        (f"s{line}", str(n)) for line, count in enumerate(counts) for n in range(count)
    )
    assert all(shares.next(worker) is None for worker in range(workers))
