"""Changes in words: values of the keys that moved, whatever the number of keys."""

from __future__ import annotations

import pytest

from irdiff.model.facts import Value
from irdiff.model.report import Change
from irdiff.present.wording import before_after


def change(before: Value, after: Value, delta: dict[str, int]) -> Change:
    return Change(fact="a.b", scope="k", before=before, after=after, delta=delta, effect="neutral")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"a": 1, "b": 2}, {"b": 5}, "b: 2 → 5, a: 1 → 0"),
        ({"a": "x"}, {"b": 1}, "b: none → 1, a: x → 0"),
        (None, {"a": 3}, "a: none → 3"),
        ({"a": True}, {"a": False, "b": 1}, "a: true → false, b: none → 1"),
    ],
)
def test_an_absent_key_counts_nothing_in_a_tally_and_is_none_in_a_record(
    before: Value, after: Value, words: str
) -> None:
    keys = {**(before if isinstance(before, dict) else {}), **(after if isinstance(after, dict) else {})}
    moved = {}
    for key in keys:
        values = [side.get(key, 0) if isinstance(side, dict) else 0 for side in (before, after)]
        moved[key] = values[1] - values[0] if all(isinstance(v, int) for v in values) else 0
    assert before_after(change(before, after, moved), None) == words


def test_the_largest_moves_are_named_and_the_others_counted() -> None:
    after = {f"k{number}": number for number in range(50_000)}
    words = before_after(change({}, after, dict(after)), None)
    assert words == "k49999: 0 → 49,999, k49998: 0 → 49,998, k49997: 0 → 49,997 and 49997 more"
