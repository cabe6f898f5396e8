"""SARIF: valid against the standard's own schema, whatever the report holds; fingerprints that stay."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

import corpus
from command import irdiff_json
from formats.hostile import reports
from formats.judged import REPORTS, everything_at_once, finding, pair, pull_request, report
from irdiff.api import Report
from irdiff.model.gate import Judgement
from irdiff.present.sarif import sarif

SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-schema-2.1.0.json").read_text())
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)
ADDRESS = re.compile(r"(?:file:///)?(?:[A-Za-z0-9._~/:()!$&'*+,;=@-]|%[0-9A-F]{2})+")
"""RFC 3986, appendix A: a relative reference or a file URI, percent-encoded."""


def run_of(made: Report) -> Any:
    log = json.loads(sarif(made))
    VALIDATOR.validate(log)
    return log["runs"][0]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_any_report_gives_a_log_that_the_standard_allows(made: Report) -> None:
    run = run_of(made)
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    suppressed = [result for result in run["results"] if "suppressions" in result]
    assert len(suppressed) in (0, len(run["results"])), "section 3.27.23: all of them or none"
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"]:
            address = location["physicalLocation"]["artifactLocation"]
            assert ADDRESS.fullmatch(address["uri"])
            assert ("uriBaseId" in address) != address["uri"].startswith("file:///")


def test_the_schema_refuses_what_is_no_log() -> None:
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({"version": "2.1.0", "runs": [{"tool": {}}]})


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_every_finding_is_one_result_with_its_level(name: str) -> None:
    made = REPORTS[name]()
    assert isinstance(made.judgement, Judgement)
    run = run_of(made)
    levels = {"error": "error", "warn": "warning"}
    assert sorted((result["ruleId"], result["level"]) for result in run["results"]) == sorted(
        (each.rule, levels[each.level]) for each in made.judgement.findings
    )
    assert run["invocations"][0]["executionSuccessful"] is not made.judgement.unsure


def test_a_finding_stands_at_the_line_of_the_users_python() -> None:
    found = [result for result in run_of(pull_request())["results"] if result["ruleId"] == "RES101"]
    (location,) = found[0]["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "attn.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 88},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "cuda:90/attn_fwd/loop0"


def test_fingerprints_stay_when_lines_and_numbers_move() -> None:
    def prints(line: int, after: int) -> list[Any]:
        moved = finding(
            "RES101", "k", f"0 → {after} B", fingerprint="abc", source=f"k.py:{line}", after=after
        )
        plain = finding(
            "RES101", "k", f"0 → {after} B", fingerprint="", fact="sass.stack", source=f"k.py:{line}"
        )
        made = report([pair("k")], Judgement(failed=True, unsure=False, findings=(moved, plain)))
        return sorted(result["partialFingerprints"]["irdiff/v2"] for result in run_of(made)["results"])

    assert prints(1, 8) == prints(70, 512)
    assert len(set(prints(1, 8))) == 2


def test_what_was_not_judged_is_a_notification_and_what_was_accepted_a_suppression() -> None:
    run = run_of(everything_at_once())
    (invocation,) = run["invocations"]
    notified = [
        (each["level"], each["descriptor"]["id"]) for each in invocation["toolExecutionNotifications"]
    ]
    assert notified == [("error", "plugin-skipped")] + [("error", "missing-stage")] * 2 + [
        ("warning", "low-coverage")
    ]
    assert invocation["exitCode"] == 3
    (accepted,) = (result for result in run["results"] if result["suppressions"])
    assert accepted["suppressions"][0]["justification"] == "needed for fp8, ann, until 2026-12-31"
    (stale,) = invocation["toolConfigurationNotifications"]
    assert "expired 2026-01-31" in stale["message"]["text"]


def test_compare_gives_its_changes_as_notes() -> None:
    made = irdiff_json("compare", corpus.PAIRS / "spills/before", corpus.PAIRS / "spills/after")
    run = run_of(msgspec.convert(made, Report))
    assert {result["level"] for result in run["results"]} == {"note"}
    assert "sass.spill_load_bytes" in {result["ruleId"] for result in run["results"]}
