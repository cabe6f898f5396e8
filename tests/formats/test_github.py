"""Annotations of GitHub Actions, read back as its runner reads them."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings

from formats.hostile import reports
from formats.judged import REPORTS, everything_at_once, finding, pair, report
from irdiff.api import Report
from irdiff.model.gate import Judgement
from irdiff.present.github import github

KINDS = ("error", "warning", "notice")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """As ActionCommand.TryParseV2 of actions/runner does: kind, properties, message."""
    found = []
    for line in re.split(r"\r\n|\r|\n", text):
        if not line:
            continue
        assert line.startswith("::")
        end = line.index("::", 2)
        kind, _, fields = line[2:end].partition(" ")
        properties = dict(field.split("=", 1) for field in fields.split(",") if "=" in field)
        assert len(properties) == len(fields.split(","))
        unescaped = {name: unescape(value) for name, value in properties.items()}
        found.append((kind, unescaped, unescape(line[end + 2 :])))
    return found


def unescape(text: str) -> str:
    for code, letter in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, letter)
    return text


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_no_text_of_others_becomes_a_command(made: Report) -> None:
    text = github(made)
    found = commands(text)
    assert {kind for kind, _, _ in found} <= set(KINDS)
    assert all(set(properties) <= {"file", "line", "title"} for _, properties, _ in found)
    assert all(properties.get("line", "1").isdecimal() for _, properties, _ in found)
    assert "\n" not in "".join(message for _, _, message in found)
    assert text.count("\n") == len(found)


def test_errors_come_first_and_the_verdict_last() -> None:
    found = commands(github(everything_at_once()))
    kinds = [kind for kind, _, _ in found]
    assert kinds == sorted(kinds, key=KINDS.index)
    assert found[-1][2].startswith("FAILED  2 of 5 rules")


def test_no_kind_has_more_than_github_shows_and_the_last_says_how_many_are_left() -> None:
    found = tuple(
        finding("RES101" if n < 60 else "LAY102", f"k{n}", f"0 → {n} B", source=f"k.py:{n + 1}")
        for n in range(75)
    )
    made = report([pair(f"k{n}") for n in range(75)], Judgement(failed=True, unsure=False, findings=found))
    shown = commands(github(made))
    for kind, left in (("error", 51), ("warning", 6)):
        messages = [message for each, _, message in shown if each == kind]
        assert len(messages) == 10
        assert messages[-1].startswith(f"and {left} more {kind}s")


def test_kernels_of_one_line_and_one_message_are_one_annotation() -> None:
    found = commands(github(REPORTS["pull-request"]()))
    (loads,) = [each for each in found if each[1]["title"].startswith("PIPE101")]
    assert loads[1]["file"] == "mm.py"
    assert loads[1]["line"] == "40"
    assert loads[2].startswith("triton_mm_fused_add_0 (and 5 more) [cuda:90]: tt.load in loop0 0 → 1")


def test_a_finding_without_a_line_stands_at_the_file_that_others_of_its_kernel_name() -> None:
    found = (
        finding("RES101", "k", "0 → 4 B", source="kernels/k.py:7"),
        finding("SIZE101", "k", "1 → 9 B"),
        finding("SIZE101", "other", "1 → 8 B"),
    )
    made = report([pair("k"), pair("other")], Judgement(failed=True, unsure=False, findings=found))
    shown = {message: properties for _, properties, message in commands(github(made))}
    spills, size, other = (
        next(shown[text] for text in shown if part in text) for part in ("0 → 4", "1 → 9", "1 → 8")
    )
    assert (spills["file"], spills["line"]) == ("kernels/k.py", "7")
    assert size["file"] == "kernels/k.py"
    assert "line" not in size
    assert "file" not in other
