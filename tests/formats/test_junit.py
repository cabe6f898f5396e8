"""JUnit XML: valid against the schema Jenkins checks with, whatever the report holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from lxml import etree

from formats.hostile import reports
from formats.judged import REPORTS, everything_at_once, finding, pair, passed, report
from irdiff.api import Report
from irdiff.model.gate import Judgement
from irdiff.present.junit import junit
from toy_stages import bundle, compare

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "schemas/junit-10.xsd"))


def tree(made: Report) -> etree._Element:
    root = etree.fromstring(junit(made).encode())
    SCHEMA.assertValid(root)
    return root


def names(root: etree._Element) -> list[str]:
    return [case.get("name") for case in root.iter("testcase")]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_any_report_gives_a_file_that_viewers_read(made: Report) -> None:
    root = tree(made)
    cases = list(root.iter("testcase"))
    assert cases, "a viewer fails on a file without a case"
    for element in (root, *root.iter("testsuite")):
        for kind, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(element.get(kind)) == sum(1 for _ in element.iter(tag))
    keys = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(set(keys)) == len(keys), "a viewer takes cases of one name for one case"
    assert all(sum(child.tag in ("failure", "error") for child in case) <= 1 for case in cases)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports(judged=True))
def test_what_fails_or_is_not_judged_is_never_a_passing_case(made: Report) -> None:
    assert isinstance(made.judgement, Judgement)
    root = tree(made)
    bad = any(each.level == "error" and each.accepted is None for each in made.judgement.findings)
    assert bool(list(root.iter("failure"))) == bad
    if made.judgement.unjudged:
        assert list(root.iter("failure", "error"))


def test_the_schema_refuses_what_is_no_report() -> None:
    assert not SCHEMA.validate(etree.fromstring("<testsuites><testcase/></testsuites>"))


def test_nothing_happened_is_a_passing_case_for_each_kernel() -> None:
    root = tree(passed())
    assert names(root) == ["matmul", "softmax"]
    assert not list(root.iter("failure", "error", "system-out"))


def test_no_kernel_at_all_is_still_a_case() -> None:
    assert names(tree(report([], None))) == ["no kernel to compare"]


def test_a_case_has_one_name_whether_it_passes_or_fails() -> None:
    failed = report(
        [pair("k"), pair("other")],
        Judgement(failed=True, unsure=False, findings=(finding("RES101", "k", "0 → 4 B"),)),
    )
    fine = report([pair("k", "identical"), pair("other")], Judgement(failed=False, unsure=False))
    assert names(tree(failed)) == names(tree(fine))


def test_a_failure_says_which_rules_with_their_numbers() -> None:
    root = tree(everything_at_once())
    (case,) = (case for case in root.iter("testcase") if case.get("name") == "attn_fwd")
    (failure,) = case.iter("failure")
    assert failure.get("type") == "RES101"
    assert failure.get("message") == "RES101 spills appear or grow: 0 → 288 B, in loop0 (and 1 more)"
    assert failure.text.count("RES101") == 2
    (gone,) = (case for case in root.iter("testcase") if case.get("name") == "gone")
    assert gone.find("failure").get("type") == "BUILD103"


def test_warnings_and_accepted_findings_pass_and_are_printed() -> None:
    root = tree(everything_at_once())
    (case,) = (case for case in root.iter("testcase") if case.get("name") == "moe")
    assert [child.tag for child in case] == ["system-out"]
    assert "accepted: needed for fp8" in case.find("system-out").text


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_suites_are_the_targets(name: str) -> None:
    made = REPORTS[name]()
    suites = [suite.get("name") for suite in tree(made).iter("testsuite")]
    targets = [f"irdiff {target}" for target in dict.fromkeys(kernel.target for kernel in made.kernels)]
    assert [suite for suite in suites if suite != "irdiff input"] == targets


def test_compare_passes_with_its_changes_printed_and_errs_where_it_could_not_tell() -> None:
    changed = tree(compare([bundle(one="add x", two="add x")], [bundle(one="add x", two="spill x")]))
    (case,) = changed.iter("testcase")
    assert [child.tag for child in case] == ["system-out"]
    assert "two spills" in case.find("system-out").text
    broken = tree(compare([bundle(one="BROKEN", two="")], [bundle(one="BROKEN ", two="")]))
    assert list(broken.iter("error"))
