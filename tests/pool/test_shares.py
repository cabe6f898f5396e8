"""Each worker stays with one kind of work as long as there is some, and none is idle while there is any."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from irdiff.engine.shares import Shares
from irdiff.engine.unit import Batch, Item, Line, Settings


def batch(stage: str, number: int) -> Batch:
    item = Item(stage=stage, suffix="", location=str(number), sha256="", data=b"", canonical=False)
    return Batch(settings=Settings(), items=(item,))


def lines(*counts: int) -> Shares:
    return Shares([line(f"s{number}", count) for number, count in enumerate(counts)])


def line(kind: str, count: int) -> Line:
    return Line(kind, iter([batch(kind, n) for n in range(count)]))


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


def test_who_comes_later_learns_as_little_as_can_be_of_what_others_know() -> None:
    shares = Shares([line(kind, 2) for kind in ("sass", "llir", "ptx", "ttgir", "llir", "ptx", "ttgir")])
    found = [shares.next(worker) for worker in (0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0)]
    given = [each.items[0].stage for each in found if each is not None]
    assert given[:2] == ["sass", "llir"]
    late = given[8:10]
    assert late == ["llir", "llir"]
    assert given[10:] == ["ptx", "ptx", "ttgir", "ttgir"]


def test_a_line_that_has_nothing_now_is_asked_again() -> None:
    answers = iter([None, batch("late", 0), None])
    shares = Shares([Line("late", answers), line("s0", 1)])
    found = [shares.next(0) for _ in range(4)]
    assert [each.items[0].stage if each is not None else None for each in found] == ["s0", "late", None, None]


@given(st.lists(st.integers(0, 6), max_size=6), st.integers(1, 4), st.randoms(use_true_random=False))
def test_every_batch_is_given_out_once_and_nobody_waits_while_there_is_one(
    counts: list[int], workers: int, chance: object
) -> None:
    shares = lines(*counts)
    seen: list[tuple[str, str]] = []
    while (found := shares.next(chance.randrange(workers))) is not None:  # type: ignore[attr-defined]
        seen.append((found.items[0].stage, found.items[0].location))
    assert sorted(seen) == sorted(
        (f"s{number}", str(n)) for number, count in enumerate(counts) for n in range(count)
    )
    assert all(shares.next(worker) is None for worker in range(workers))
