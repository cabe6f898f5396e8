"""``-f`` and ``-o`` together: which format goes where, what is refused, and what is written where one fails."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

import corpus
from command import irdiff
from formats.judged import finding, pair, passed, report
from irdiff.api import RendererSpec, Report
from irdiff.cli.exit_codes import Exit
from irdiff.cli.formats import Destination, ViewOptions, destinations, formats, write_formats
from irdiff.cli.locate import located
from irdiff.cli.main import main_with
from irdiff.errors import UsageError
from irdiff.model.gate import Judgement
from irdiff.plugin_checks import FORMATS

PAIR = (corpus.PAIRS / "spills/before", corpus.PAIRS / "spills/after")


def fails(made: Report) -> str:
    raise KeyError("a plugin's own mistake")


BROKEN = RendererSpec(id="broken", title="fails", render=fails)
NUMBER = RendererSpec(id="number", title="no text", render=lambda made: 7)  # type: ignore[arg-type, return-value]
WORDS = RendererSpec(id="words", title="a plugin's", render=lambda made: made.verdict)


def placed(forms: Sequence[str], outputs: Sequence[str] = ()) -> list[tuple[str, str | None]]:
    found = destinations(forms, [Path(name) for name in outputs], [WORDS])
    return [(each.form, str(each.output) if each.output else None) for each in found]


def test_the_nth_file_takes_the_nth_format() -> None:
    assert placed([]) == [("terminal", None)]
    assert placed([], ["x"]) == [("terminal", "x")]
    assert placed(["json"]) == [("json", None)]
    assert placed(["json", "words"], ["a", "b"]) == [("json", "a"), ("words", "b")]
    assert placed(["json", "sarif", "terminal"], ["a", "b"]) == [
        ("json", "a"),
        ("sarif", "b"),
        ("terminal", None),
    ]


@pytest.mark.parametrize(
    ("forms", "outputs", "said"),
    [
        (["xml"], [], "one of terminal, json, markdown, sarif, junit, github, words"),
        (["json"], ["a", "b"], "2 files for 1 format"),
        ([], ["a", "b"], "2 files for 1 format"),
        (["json", "sarif"], [], "json and sarif cannot all go to standard output"),
        (["json", "sarif"], ["a", "./a"], "one file for two formats"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_any_work(
    forms: list[str], outputs: list[str], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        placed(forms, outputs)
    assert said in str(refused.value)


def test_a_failing_renderer_is_named_and_the_others_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = [
        Destination(form=form, output=tmp_path / form)
        for form in ("broken", "number", "words", "junit", "json")
    ]
    assert write_formats(passed(), wanted, None, [BROKEN, NUMBER, WORDS]) == Exit.UNSURE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["json", "junit", "words"]
    said = capsys.readouterr().err
    assert 'error: --format broken: the renderer failed: KeyError: "a plugin\'s own mistake"' in said
    assert "--format number: the renderer failed" in said
    assert "--format json needs no plugin" in said


def test_a_file_that_cannot_be_written_does_not_keep_the_others_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = [
        Destination(form="json", output=tmp_path / "no/such/folder/report"),
        Destination(form="github", output=tmp_path / "github"),
    ]
    assert write_formats(passed(), wanted) == Exit.UNSURE
    assert [path.name for path in tmp_path.iterdir()] == ["github"]
    assert "cannot be written" in capsys.readouterr().err


def test_a_rule_to_explain_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write_formats(
            passed(),
            [Destination(form="terminal", output=tmp_path / "x")],
            ViewOptions(explain="NO1"),
        )


def test_every_format_is_offered_by_its_name() -> None:
    assert formats([WORDS]) == ("terminal", "json", "markdown", "sarif", "junit", "github", "words")
    help_text = irdiff("compare", "--help", env={"COLUMNS": "200"}).out
    assert "terminal, json, markdown, sarif, junit, github" in " ".join(help_text.split())


def test_no_plugin_may_take_the_name_of_a_format_of_irdiff() -> None:
    assert set(formats([])) <= FORMATS


def test_compare_writes_several_at_once(tmp_path: Path) -> None:
    done = irdiff("compare", *PAIR, "-f", "json", "-o", tmp_path / "r.json", "-f", "github", "--exit-code")
    assert done.code == Exit.CHANGED
    assert done.out.startswith("::notice ")
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "changed"
    assert main_with(["compare", *map(str, PAIR), "-f", "json", "-f", "github"]) == Exit.USAGE


def tree(root: Path, *files: str) -> Path:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


def source_found(here: Path, source: str) -> str | None:
    made = report(
        [pair("k")],
        Judgement(failed=True, unsure=False, findings=(finding("RES101", "k", "0 → 1", source=source),)),
    )
    judgement = located(made, here).judgement
    assert isinstance(judgement, Judgement)
    return judgement.findings[0].source


def test_the_users_file_is_found_in_the_repository(tmp_path: Path) -> None:
    tree(
        tmp_path,
        ".git/HEAD",
        "kernels/attn.py",
        "ci/run.sh",
        ".cache/attn.py",
        "venv/pyvenv.cfg",
        "venv/attn.py",
    )
    assert source_found(tmp_path, "attn.py:88") == "kernels/attn.py:88"
    assert source_found(tmp_path / "ci", "attn.py:88") == "kernels/attn.py:88"
    assert source_found(tmp_path, "other.py:3") == "other.py:3"
    assert source_found(tmp_path, "x/attn.py:3") == "x/attn.py:3"


def test_a_name_that_several_files_have_stays_as_it_is(tmp_path: Path) -> None:
    tree(tmp_path, ".git/HEAD", "a/attn.py", "b/attn.py")
    assert source_found(tmp_path, "attn.py:88") == "attn.py:88"


def test_outside_of_a_repository_nothing_is_looked_for(tmp_path: Path) -> None:
    tree(tmp_path, "kernels/attn.py")
    assert source_found(tmp_path, "attn.py:88") == "attn.py:88"


def test_a_report_without_a_judgement_is_left_alone(tmp_path: Path) -> None:
    made = report([pair("k")], None)
    assert located(made, tmp_path) is made
    assert isinstance(made.judgement, msgspec.UnsetType)
