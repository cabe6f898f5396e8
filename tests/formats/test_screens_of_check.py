"""What check shows and writes, word for word: goldens to be read line by line.

``IRDIFF_UPDATE_GOLDENS=1`` writes them anew; read the difference before committing it.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from formats.judged import (
    REPORTS,
    could_not_tell,
    everything_at_once,
    finding,
    pair,
    passed,
    pull_request,
    report,
)
from irdiff.errors import UsageError
from irdiff.model.gate import Judgement
from irdiff.present.formats import RENDERERS
from irdiff.present.gate import explain_view, gate_view
from irdiff.present.terminal import console_for, render_gate, write_explained

GOLDEN = Path(__file__).parent / "golden"
SUFFIXES = {"markdown": "md", "sarif": "sarif", "junit": "xml", "github": "github"}


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("IRDIFF_UPDATE_GOLDENS"):
        path.write_text(text)
    assert text == path.read_text()


def explained(code: str | None) -> str:
    stream = io.StringIO()
    write_explained(explain_view(everything_at_once(), code), console_for(stream, width=120))
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", sorted(REPORTS))
def test_the_screen_is_as_reviewed(name: str, width: int) -> None:
    text = render_gate(gate_view(REPORTS[name]()), width=width)
    golden(f"{name}-{width}.txt", text)
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("form", sorted(SUFFIXES))
@pytest.mark.parametrize("name", ["everything", "could-not-tell", "passed"])
def test_the_format_is_as_reviewed(name: str, form: str) -> None:
    renderer = next(each for each in RENDERERS if each.id == form)
    golden(f"{name}.{SUFFIXES[form]}", renderer.render(REPORTS[name]()))


def test_why_a_rule_decided_is_as_reviewed() -> None:
    golden("explain-RES101.txt", explained("RES101"))
    golden("explain-all.txt", explained(None))


def test_a_rule_is_found_in_any_case_and_one_that_is_not_there_lists_the_nearest() -> None:
    assert explain_view(passed(), "res101") == explain_view(passed(), "RES101")
    with pytest.raises(UsageError) as refused:
        explain_view(passed(), "res1o1")
    assert refused.value.hint == "did you mean RES101 or RES102?"


def test_the_headline_counts_rules_of_level_error_alone_that_were_not_accepted() -> None:
    assert gate_view(pull_request()).verdict == "FAILED  2 of 4 rules"
    assert gate_view(could_not_tell()).verdict == "INCOMPLETE"
    assert gate_view(passed()).verdict == "passed  4 rules"
    warned = report(
        [pair("k")], Judgement(failed=False, unsure=False, findings=(finding("LAY102", "k", "1 → 2"),))
    )
    assert gate_view(warned).verdict == "passed  0 rules · 1 warning"


def test_the_worst_kernel_is_the_example_a_loop_before_what_is_outside() -> None:
    found = (
        finding("RES101", "a", "100 → 900 B", before=100, after=900),
        finding("RES101", "b", "100 → 104 B", before=100, after=104),
        finding("RES101", "c", "8 → 16 B, in loop0", before=8, after=16, scope="loop0"),
    )
    made = report([pair(name) for name in "abc"], Judgement(failed=True, unsure=False, findings=found))
    (line,) = gate_view(made).rules
    assert line.example == "c"
    assert [detail.partition(":")[0] for detail in line.details[1:]] == ["a", "b"]
    timed = report(
        [pair(name) for name in "abc"],
        Judgement(failed=True, unsure=False, findings=found),
        times={"a": 0.1, "b": 0.7, "c": 0.2},
    )
    assert gate_view(timed).rules[0].example == "b"


def test_accepted_findings_are_told_and_are_among_no_rule() -> None:
    accepted = finding("RES101", "k", "0 → 4 B", accepted="needed, ann")
    made = report([pair("k")], Judgement(failed=False, unsure=False, findings=(accepted,)))
    told = gate_view(made)
    assert told.rules == ()
    assert told.notes[0] == "Accepted: 1 finding: RES101 k (needed, ann)."


def test_a_thousand_kernels_in_a_hundred_ways_fit_a_screen() -> None:
    found = tuple(
        finding(f"RULE{n % 100:03}", f"kernel_{n}", f"{n} → {n + 1}", level="error" if n % 2 else "warn")
        for n in range(1000)
    )
    made = report(
        [pair(f"kernel_{n}") for n in range(1000)], Judgement(failed=True, unsure=False, findings=found)
    )
    assert len(render_gate(gate_view(made)).splitlines()) <= 50
    lines = render_gate(gate_view(made, everything=True)).splitlines()
    assert sum("→" in line for line in lines) == 1000
