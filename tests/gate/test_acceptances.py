"""Accepted changes: who accepted what, until when, for which specialization; and names of findings that stay."""

from __future__ import annotations

import pytest

from gate.gated import CLEAN, SPILLS, acceptance, gated, judgement, spilling
from irdiff.api import Bundle, Fired, RuleSpec
from irdiff.engine.gate.acceptance import with_fingerprints
from toy_stages import bundle, registry


def test_an_accepted_finding_fails_nothing_and_says_who_accepted_it() -> None:
    (finding,) = spilling().findings
    found = spilling(accepted=[acceptance(finding, expires="2026-06-01")])
    assert not found.failed
    assert found.findings[0].accepted == "larger tile (somebody, until 2026-06-01)"
    assert found.stale == ()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"expires": "2026-05-31"}, "expired 2026-05-31"),
        ({"expires": "some day"}, "expired some day"),
        ({"after": "1"}, "no longer matches: 1 accepted, now 2"),
    ],
)
def test_an_acceptance_that_no_longer_holds_is_reported(changes: dict[str, str], why: str) -> None:
    (finding,) = spilling().findings
    found = spilling(accepted=[acceptance(finding, **changes)])
    assert (found.failed, [each.why for each in found.stale]) == (True, [why])


def test_an_acceptance_of_nothing_is_reported_unless_its_kernel_was_not_compared() -> None:
    (finding,) = spilling().findings
    accepted = [acceptance(finding), acceptance(finding, kernel="another", fingerprint="0")]
    found = judgement(gated(bundle(**CLEAN), bundle(**CLEAN), accepted=accepted))
    assert [(each.kernel, each.why) for each in found.stale] == [
        ("kernel", "no longer matches: nothing is found there any more")
    ]


def test_a_specialization_is_accepted_and_not_another_with_the_same_values() -> None:
    """A plain cache says nothing of constexprs: what was measured before tells these two apart."""

    def tree(first: str, second: str) -> list[Bundle]:
        return [
            bundle(one="add x", two=f"add x{first}", path="first"),
            bundle(one="add x\nspill y", two=f"add x{second}", path="second"),
        ]

    good, bad = "", "\nspill x"
    found = judgement(gated(tree(good, good), tree(bad, bad))).findings
    assert {each.path: (each.before, each.after) for each in found} == {"first": (0, 1), "second": (0, 1)}
    names = {each.path: each for each in found}
    for path, after in (("first", (good, bad)), ("second", (bad, good))):
        accepted = [acceptance(names[path])]
        for sides in ((tree(good, good), tree(*after)), (tree(good, good)[::-1], tree(*after)[::-1])):
            (other,) = judgement(gated(*sides, accepted=accepted)).findings
            assert (other.path == path, other.accepted) == (False, None)
        both = judgement(gated(tree(good, good), tree(bad, bad), accepted=accepted)).findings
        assert {each.path for each in both if each.accepted} == {path}


def test_what_was_accepted_by_order_alone_is_still_accepted() -> None:
    """As files were written before a fingerprint held the specialization."""
    sides = (
        [bundle(one=one, two="add", path=one) for one in ("add", "spill")],
        [bundle(one=one, two="add\nspill", path=one) for one in ("add", "spill")],
    )
    found = judgement(gated(*sides)).findings
    earlier = [acceptance(each) for each in with_fingerprints(found)]
    assert not {each.fingerprint for each in earlier} & {each.fingerprint for each in found}
    again = judgement(gated(*sides, accepted=earlier))
    assert ([bool(each.accepted) for each in again.findings], again.stale) == ([True, True], ())


def test_a_kernel_that_is_gone_is_accepted_and_not_another_specialization_of_it() -> None:
    gone = RuleSpec(
        code="BUILD103", title="gone", level="error", role="", gone=lambda kernel: [Fired(message="gone")]
    )
    using = registry(rules=(gone,))
    kept = bundle("kept", one="add", two="add", path="kept")
    before = [bundle(one=one, two="add", path=path) for path, one in (("x", "add"), ("y", "spill"))]
    (first,) = judgement(gated([*before, kept], [before[1], kept], using=using)).findings
    (second,) = judgement(
        gated([*before, kept], [before[0], kept], using=using, accepted=[acceptance(first)])
    ).findings
    assert (first.path, second.path, second.accepted) == ("x", "y", None)


def test_the_name_of_a_finding_stays_while_paths_values_and_other_kernels_change() -> None:
    (finding,) = spilling().findings
    more = bundle(one="add x", two="spill x", path="elsewhere")
    (other,) = judgement(gated(bundle(**CLEAN, path="here"), more)).findings
    assert other.after != finding.after
    assert other.fingerprint == finding.fingerprint
    sides = [[bundle(name, path=name, **text) for name in ("first", "kernel")] for text in (CLEAN, SPILLS)]
    names = {each.kernel: each.fingerprint for each in judgement(gated(*sides)).findings}
    assert names["kernel"] == finding.fingerprint != names["first"]


def test_two_findings_of_one_name_are_told_apart() -> None:
    sides = [
        [bundle(path=f"entry{n}", one=f"add {n}", two=text) for n in range(2)]
        for text in ("add x", "spill x")
    ]
    prints = [each.fingerprint for each in judgement(gated(*sides)).findings]
    assert len(prints) == len(set(prints)) == 2
