"""A report that was saved and loaded gives the same bytes in every format, whatever it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import corpus
from command import irdiff
from formats.hostile import reports
from formats.judged import REPORTS
from irdiff.api import Report
from irdiff.cli.main import main_with
from irdiff.model.codec import decode_report, encode
from irdiff.present.formats import RENDERERS
from irdiff.present.gate import gate_view
from irdiff.present.labels import judged
from irdiff.present.terminal import render, render_gate
from irdiff.present.view import view

FORMS = ("terminal", "json", *(each.id for each in RENDERERS))
PAIR = (corpus.PAIRS / "spills/before", corpus.PAIRS / "spills/after")


def everything_of(report: Report) -> dict[str, str]:
    screen = render_gate(gate_view(report)) if judged(report) else render(view(report))
    return {"terminal": screen, **{each.id: each.render(report) for each in RENDERERS}}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_every_format_is_the_same_bytes_from_a_saved_report(report: Report) -> None:
    saved = encode(report)
    loaded = decode_report(saved, where="saved")
    fresh = everything_of(report)
    assert everything_of(loaded) == fresh
    assert encode(loaded) == saved
    assert all(text.encode() for text in fresh.values())


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_the_reviewed_reports_are_the_same_too(name: str) -> None:
    report = REPORTS[name]()
    assert everything_of(decode_report(encode(report), where="saved")) == everything_of(report)


def test_render_prints_what_compare_printed_in_every_format(tmp_path: Path) -> None:
    fresh = [tmp_path / f"fresh.{form}" for form in FORMS]
    again = [tmp_path / f"again.{form}" for form in FORMS]
    saved = tmp_path / "saved.json"

    def asked(files: list[Path]) -> list[str | Path]:
        return [word for form, file in zip(FORMS, files, strict=True) for word in ("-f", form, "-o", file)]

    done = irdiff("compare", *PAIR, *asked(fresh), "-f", "json")
    assert (done.code, done.err) == (0, "")
    saved.write_text(done.out)
    done = irdiff("render", saved, *asked(again))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert [file.read_bytes() for file in again] == [file.read_bytes() for file in fresh]
    assert irdiff("render", saved).out == (tmp_path / "fresh.terminal").read_text()


def test_what_is_no_report_is_refused_with_a_next_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"schema": "something else"}')
    for path, said in (
        (other, "not a report of irdiff"),
        (tmp_path / "none.json", "cannot be read"),
        (tmp_path, "cannot"),
    ):
        assert main_with(["render", str(path)]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert "--format json" in told


def test_a_rule_is_explained_from_a_saved_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "saved.json"
    saved.write_bytes(encode(REPORTS["everything"]()))
    golden = Path(__file__).parent / "golden"
    for code, asked in (("RES101", ["RES101"]), ("all", [])):
        assert main_with(["render", str(saved), "--explain", *asked]) == 0
        assert capsys.readouterr().out == (golden / f"explain-{code}.txt").read_text()
    assert main_with(["render", str(saved), "--explain", "RES1"]) == 64
    assert "RES101" in capsys.readouterr().err
