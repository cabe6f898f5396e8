"""What is sure to be read before files are looked into."""

from __future__ import annotations

import msgspec
import pytest

from irdiff.api import Bundle
from irdiff.engine import wanting
from irdiff.engine.wanting import all_that_differ, first_that_differ, sure_pairs
from toy_stages import bundle


def kernel(name: str, two: str, *, entry: str = "") -> Bundle:
    return msgspec.structs.replace(bundle(name, one="add 1", two=two), entry=entry)


def found(before: list[Bundle], after: list[Bundle]) -> list[tuple[str, str]]:
    return [
        (each.name, each.artifacts[stage].read().decode())
        for each, stage in all_that_differ(sure_pairs(before, after), (*before, *after), ["two"])
    ]


def test_of_kernels_that_alone_have_their_name_what_differs_is_known() -> None:
    before = [kernel("a", "add 1"), kernel("b", "add 1"), kernel("c", "add 1")]
    after = [kernel("a", "add 1"), kernel("b", "add 2"), kernel("c", "add 1 2")]
    assert found(before, after) == [("b", "add 1"), ("b", "add 2"), ("c", "add 1"), ("c", "add 1 2")]


def test_of_several_with_one_name_those_of_one_entry_are_pairs() -> None:
    before = [kernel("a", "add 1", entry="X"), kernel("a", "add 2", entry="Y")]
    after = [kernel("a", "add 3", entry="Y"), kernel("a", "add 1", entry="X")]
    assert found(before, after) == [("a", "add 2"), ("a", "add 3")]


@pytest.mark.parametrize(
    "after",
    [
        [kernel("a", "add 2")],
        [kernel("a", "add 2"), kernel("other", "add 2")],
        [kernel("a", "add 2"), kernel("b", "add 2", entry="X"), kernel("b", "add 2", entry="Y")],
    ],
)
def test_where_one_kernel_has_no_sure_counterpart_nothing_is(after: list[Bundle]) -> None:
    assert found([kernel("a", "add 1"), kernel("b", "add 1")], after) == []


def test_of_another_stage_some_begin_as_their_sizes_say(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [kernel("a", "add 1"), kernel("b", "add 1"), kernel("c", "add 1"), kernel("d", "add 1")]
    after = [kernel("a", "add 2"), kernel("b", "add 1 2"), kernel("c", "add 1 2"), kernel("other", "add 1 2")]
    pairs = sure_pairs(before, after)
    assert [each.name for each, _ in first_that_differ(pairs, ["one", "two"])] == ["b", "b", "c", "c"]
    monkeypatch.setattr(wanting, "FIRST", 10)
    assert [each.name for each, _ in first_that_differ(pairs, ["one", "two"])] == ["b", "b"]
    assert first_that_differ(pairs, ["one"]) == []
