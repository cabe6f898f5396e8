"""Accepted changes: written sorted and stable, read strictly, and holding for one finding with one value."""

from __future__ import annotations

from datetime import date

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.baseline.accepted import acceptances_of, accepted_text, default_accepted, read_accepted
from irdiff.engine.gate.acceptance import accept, with_fingerprints
from irdiff.errors import InputError, UsageError
from irdiff.model.gate import Acceptance, Finding, Judgement
from irdiff.model.report import Report

TEXT = st.text(max_size=12) | st.sampled_from(
    ['a "b"\n[[accepted]]', "\x7f\x00", "é\u2028\U0001f600\x01", "\\"]
)
SAID = TEXT.filter(bool)
ACCEPTANCE = st.builds(
    Acceptance,
    rule=TEXT,
    kernel=TEXT,
    fingerprint=st.integers(0, 5).map(str),
    before=TEXT,
    after=TEXT,
    reason=SAID,
    owner=SAID,
    expires=st.none() | st.dates().map(date.isoformat),
    target=st.none() | TEXT,
)


def _clean(text):
    return text.encode("utf-8", "replace").decode() if text is not None else None


@given(st.lists(ACCEPTANCE, max_size=4))
def test_a_file_is_read_back_as_it_was_sorted_and_one_entry_for_each_finding(tmp_path_factory, found):
    file = tmp_path_factory.mktemp("accepted") / "a.toml"
    file.write_bytes(accepted_text(found))
    again = read_accepted(file)
    last = {each.fingerprint: each for each in found}
    assert {each.fingerprint: each.reason for each in again} == {
        fingerprint: _clean(each.reason) for fingerprint, each in last.items()
    }
    assert {(each.expires, each.after) for each in again} == {
        (e.expires, _clean(e.after)) for e in last.values()
    }
    assert accepted_text(again) == accepted_text(reversed(again)) == accepted_text(last.values())


FINDINGS = with_fingerprints(
    [
        Finding(
            rule="RES101",
            level="error",
            message="0 → 288 B",
            kernel="attn",
            path="p",
            fact="f",
            before=0,
            after=288,
        ),
        Finding(
            rule="LAY102",
            level="warn",
            message="1 → 2",
            kernel="norm",
            path="p",
            target="cuda:90",
            before={"a": 1},
            after={"a": 2},
        ),
        Finding(rule="BUILD103", level="warn", message="gone", kernel="old", path="p"),
    ]
)


def _report(findings=FINDINGS):
    judgement = Judgement(failed=True, unsure=False, findings=tuple(findings))
    return Report(
        before="b", after="a", verdict="changed", direction="worse", kernels=(), judgement=judgement
    )


def _accepted(**options):
    return acceptances_of(_report(), reason="measured", owner="ann", **options)


def test_what_was_accepted_fails_no_more_and_another_value_does():
    today, names = date(2030, 1, 1), ["attn", "norm", "old"]
    found, stale = accept(FINDINGS, _accepted(), {}, today, names)
    assert [each.accepted for each in found] == ["measured (ann)"] * 3
    assert not stale
    worse = [FINDINGS[0].__class__(**{**_fields(FINDINGS[0]), "after": 512}), *FINDINGS[1:]]
    found, stale = accept(worse, _accepted(), {}, today, names)
    assert found[0].accepted is None
    assert [each.why for each in stale] == ["no longer matches: 288 accepted, now 512"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rule": "RES102"}, "rule RES101 accepted, now rule RES102"),
        ({"kernel": "norm"}, "kernel attn accepted, now kernel norm"),
        ({"target": "cuda:100"}, "target none accepted, now target cuda:100"),
        ({"before": 64}, "from 0 accepted, now from 64"),
        ({"before": None}, "from 0 accepted, now from none"),
        ({"after": 512}, "288 accepted, now 512"),
    ],
)
def test_an_acceptance_holds_for_nothing_else_under_the_same_fingerprint(changes, why):
    finding = msgspec.structs.replace(FINDINGS[0], **changes)
    found, stale = accept([finding], _accepted(rules=["RES101"]), {}, date(2030, 1, 1), ["attn", "norm"])
    assert found == [finding]
    assert [(each.kernel, each.why) for each in stale] == [("attn", f"no longer matches: {why}")]


def test_the_order_of_keys_is_no_other_value():
    tally = msgspec.structs.replace(FINDINGS[1], before={"a": 1, "b": 2}, after={"b": 3, "a": 1})
    accepted = acceptances_of(_report([tally]), reason="measured", owner="ann")
    again = msgspec.structs.replace(tally, before={"b": 2, "a": 1}, after={"a": 1, "b": 3})
    found, stale = accept([again], accepted, {}, date(2030, 1, 1), ["norm"])
    assert ([each.accepted for each in found], stale) == (["measured (ann)"], [])


def test_an_acceptance_does_not_move_to_another_specialization():
    """Two of one name; the first, which was accepted, is as it was again: the second takes its fingerprint."""
    first, second = (msgspec.structs.replace(FINDINGS[0], before=before) for before in (0, 64))
    both, alone = with_fingerprints([first, second]), with_fingerprints([second])
    assert alone[0].fingerprint == both[0].fingerprint
    accepted = acceptances_of(_report(both[:1]), reason="measured", owner="ann")
    found, stale = accept(both, accepted, {}, date(2030, 1, 1), ["attn"])
    assert ([each.accepted for each in found], stale) == (["measured (ann)", None], [])
    found, stale = accept(alone, accepted, {}, date(2030, 1, 1), ["attn"])
    assert [each.accepted for each in found] == [None]
    assert [each.why for each in stale] == ["no longer matches: from 0 accepted, now from 64"]


def _fields(finding):
    return {name: getattr(finding, name) for name in finding.__struct_fields__}


def test_an_acceptance_holds_on_its_last_day_and_not_after_it():
    accepted = _accepted(expires=date(2030, 1, 31), rules=["RES*"])
    assert accept(FINDINGS, accepted, {}, date(2030, 1, 31), ["attn"])[0][0].accepted
    found, stale = accept(FINDINGS, accepted, {}, date(2030, 2, 1), ["attn"])
    assert found[0].accepted is None
    assert [(each.rule, each.why, each.owner) for each in stale] == [("RES101", "expired 2030-01-31", "ann")]


def test_rules_and_kernels_narrow_what_is_accepted():
    assert [each.rule for each in _accepted(rules=["RES101"])] == ["RES101"]
    assert [each.kernel for each in _accepted(kernels=["n*", "old"])] == ["norm", "old"]
    assert [(each.before, each.after) for each in _accepted()] == [("0", "288"), ("a: 1", "a: 2"), ("", "")]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"reason": " ", "owner": "ann"}, "--reason: is empty"),
        ({"reason": "r", "owner": ""}, "--owner: is empty"),
        ({"reason": "r", "owner": "o", "rules": ["NUM*"]}, "no finding is chosen .*BUILD103 old"),
    ],
)
def test_what_would_accept_nothing_is_an_error(options, what):
    with pytest.raises(UsageError, match=what):
        acceptances_of(_report(), **options)


def test_a_report_of_compare_has_nothing_to_accept():
    report = Report(before="b", after="a", verdict="changed", direction="worse", kernels=())
    with pytest.raises(UsageError, match=r"no judgement .*irdiff check"):
        acceptances_of(report, reason="r", owner="o")


ENTRY = """\
[[accepted]]
rule = "A1"
kernel = "k"
before = ""
after = ""
reason = "r"
owner = "o"
fingerprint = "f"
"""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("accepted = 1", "expected `array`"),
        (ENTRY + ENTRY.replace('owner = "o"\n', ""), "accepted 2: object missing required field `owner`"),
        (ENTRY.replace('"r"', '""'), "accepted 1.reason: expected `str` of length >= 1"),
        (ENTRY + "colour = 1\n", "accepted 1: object contains unknown field `colour`"),
        (ENTRY + 'expires = "soon"\n', "accepted 1.expires"),
        ("<<<<<<< HEAD", "is no TOML"),
        ("\ud800", "is no TOML"),
    ],
)
def test_an_error_names_the_file_and_the_entry(tmp_path, text, what):
    file = tmp_path / "a.toml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError) as error:
        read_accepted(file)
    assert str(file) in str(error.value)
    assert what in str(error.value)


def test_accepted_changes_are_kept_beside_the_baseline_or_the_configuration(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "irdiff.toml").write_text("")
    assert default_accepted(inner / "k.baseline", inner) == inner / "irdiff-accepted.toml"
    assert default_accepted(None, inner) == tmp_path / "irdiff-accepted.toml"
