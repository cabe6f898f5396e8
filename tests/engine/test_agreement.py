"""A fact that repeats another is a warning where they differ, and where neither is an estimate."""

from __future__ import annotations

import pytest

from irdiff.api import Coverage, Fact, FactSpec, Summary
from irdiff.engine.agreement import disagreements
from irdiff.engine.kernels import Reading
from irdiff.model.facts import Exactness
from toy_stages import stage


def readings(one: object, other: object, *, said: Exactness | None) -> dict[str, Reading]:
    facts = (Fact(id="text.size", value=one, exactness=said), Fact(id="binary.size", value=other))
    return {
        fact.id: Reading(
            stage=stage(fact.id.partition(".")[0]),
            sha256="0" * 64,
            summary=Summary(facts=(fact,), coverage=Coverage(understood=1, total=1)),
        )
        for fact in facts
    }


def specs(declared: Exactness) -> dict[str, FactSpec]:
    made = (
        FactSpec(id="text.size", title="size", kind="quantity", exactness=declared, repeats="binary.size"),
        FactSpec(id="binary.size", title="size", kind="quantity"),
    )
    return {spec.id: spec for spec in made}


@pytest.mark.parametrize(
    ("declared", "said", "other", "codes"),
    [
        ("exact", None, 4, ["sources-disagree"]),
        ("exact", None, 3, []),
        ("exact", "estimate", 4, []),
        ("estimate", None, 4, []),
        ("estimate", "exact", 4, ["sources-disagree"]),
    ],
)
def test_estimates_are_not_held_to_what_they_repeat(
    declared: Exactness, said: Exactness | None, other: int, codes: list[str]
) -> None:
    found = disagreements(readings(3, other, said=said), specs(declared))
    assert [issue.code for issue in found] == codes
