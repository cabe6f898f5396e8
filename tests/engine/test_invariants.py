"""The two invariants of the model, as properties over arbitrary artifacts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toy_stages import bundle, compare

WORDS = st.sampled_from(["add a", "add b", "spill a", "# note", "# other", "mul a b", "", "add a, b"])
TEXTS = st.one_of(
    st.lists(WORDS, max_size=6).map("\n".join),
    st.sampled_from(["BROKEN", "BUG"]),
    st.just(None),
)


def artifacts(one: str | None, two: str | None) -> dict[str, str]:
    return {key: text for key, text in (("one", one), ("two", two)) if text is not None}


def without_comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_nothing_is_unaccounted(
    one: str | None, two: str | None, other_one: str | None, other_two: str | None
) -> None:
    """Canonical forms differ: at least one change of that stage. They do not: none."""
    report = compare([bundle(**artifacts(one, two))], [bundle(**artifacts(other_one, other_two))]).kernels[0]
    for stage, before, after in (("one", one, other_one), ("two", two, other_two)):
        mine = [change for change in report.changes if change.fact.startswith(f"{stage}.")]
        readable = before is not None and after is not None and not {before, after} & {"BROKEN", "BUG"}
        if readable and without_comments(before) != without_comments(after):
            assert report.stages[stage].sameness == "changed"
            assert mine
            assert report.status == "changed"
        else:
            assert not mine
            assert stage not in report.stages or report.stages[stage].sameness != "changed"


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_nothing_is_silently_degraded(
    one: str | None, two: str | None, other_one: str | None, other_two: str | None
) -> None:
    """A stage that is missing, unreadable or mostly not understood has an error; never a clean verdict."""
    report = compare([bundle(**artifacts(one, two))], [bundle(**artifacts(other_one, other_two))])
    kernel = report.kernels[0]
    errors = [issue for issue in kernel.issues if issue.severity == "error"]
    for stage, before, after in (("one", one, other_one), ("two", two, other_two)):
        for text in (before, after):
            if text is None or text in {"BROKEN", "BUG"}:
                assert any(issue.stage == stage for issue in errors)
    if errors:
        assert kernel.status in {"changed", "incomplete"}
        assert report.verdict in {"changed", "incomplete"}


@given(TEXTS, TEXTS)
def test_a_kernel_compared_with_itself_has_no_change(one: str | None, two: str | None) -> None:
    same = artifacts(one, two)
    kernel = compare([bundle(**same)], [bundle(**same)]).kernels[0]
    assert kernel.changes == ()
    assert kernel.first_divergence is None
    assert kernel.status in {"identical", "incomplete"}


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_comparison_mirrors_its_reverse(
    one: str | None, two: str | None, other_one: str | None, other_two: str | None
) -> None:
    before, after = bundle(**artifacts(one, two)), bundle(**artifacts(other_one, other_two))
    forth, back = compare([before], [after]).kernels[0], compare([after], [before]).kernels[0]
    assert forth.status == back.status
    assert {name: report.sameness for name, report in forth.stages.items()} == {
        name: report.sameness for name, report in back.stages.items()
    }
    opposite = {"better": "worse", "worse": "better"}
    assert [
        (c.fact, c.scope, c.before, c.after, opposite.get(c.effect, c.effect)) for c in forth.changes
    ] == [(c.fact, c.scope, c.after, c.before, c.effect) for c in back.changes]
