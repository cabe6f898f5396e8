"""The GitHub action without GitHub: its script with a stand-in for ``gh``, and what its declaration promises."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import corpus

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "integrations" / "github" / "check.sh"
FAILING = corpus.PAIRS / "mma_fallback"
PASSING = corpus.PAIRS / "moved"
FAKE_GH = """#!/usr/bin/env python3
import json, os, sys
with open(os.environ["GH_LOG"], "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
if "--paginate" in sys.argv:
    print(os.environ.get("GH_OURS", ""))
sys.exit(int(os.environ.get("GH_EXIT", "0")))
"""


class Run:
    """One run of the script as GitHub would start it."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        tools = folder / "tools"
        tools.mkdir()
        (tools / "gh").write_text(FAKE_GH)
        (tools / "gh").chmod(0o755)
        environment = {
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "IRDIFF": str(Path(sys.executable).parent / "irdiff"),
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_REPOSITORY": "owner/name",
            "GH_LOG": str(folder / "gh.log"),
            **variables,
        }
        done = subprocess.run(
            [str(SCRIPT)], env=environment, cwd=folder, capture_output=True, timeout=120, check=False
        )
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.error = done.stderr.decode()

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())

    def calls(self) -> list[list[str]]:
        log = self.folder / "gh.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def sides(pair: Path) -> dict[str, str]:
    return {"BEFORE": str(pair / "before"), "AFTER": str(pair / "after")}


def test_a_failed_rule_fails_the_step_and_every_report_is_there(tmp_path: Path) -> None:
    run = Run(tmp_path, **sides(FAILING))
    assert run.code == 1, run.error
    outputs = run.outputs()
    assert outputs["exit-code"] == "1"
    assert json.loads(Path(outputs["report"]).read_text())["judgement"]["failed"] is True
    assert json.loads(Path(outputs["sarif"]).read_text())["version"] == "2.1.0"
    assert "MMA101" in (tmp_path / "summary").read_text()
    assert Path(outputs["markdown"]).read_text() == (tmp_path / "summary").read_text()
    assert re.search(r"^::error .*MMA101", run.out, re.MULTILINE)
    assert run.calls() == []


def test_a_pass_passes(tmp_path: Path) -> None:
    run = Run(tmp_path, **sides(PASSING))
    assert (run.code, run.outputs()["exit-code"]) == (0, "0")


def test_a_pull_request_gets_one_comment_that_is_kept_up_to_date(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    asked = {"COMMENT": "true", "PULL_REQUEST": "7"}
    written = Run(first, **sides(FAILING), **asked).calls()[-1]
    assert written[:5] == ["api", "--silent", "--method", "POST", "repos/owner/name/issues/7/comments"]
    assert (first / "irdiff" / "comment.md").read_text().startswith("<!-- irdiff -->\n")
    updated = Run(second, **sides(FAILING), **asked, GH_OURS="11\n12").calls()[-1]
    assert updated[:5] == ["api", "--silent", "--method", "PATCH", "repos/owner/name/issues/comments/12"]


def test_a_token_that_may_not_write_changes_nothing(tmp_path: Path) -> None:
    run = Run(tmp_path, **sides(PASSING), COMMENT="true", PULL_REQUEST="7", GH_EXIT="1")
    assert run.code == 0
    assert "::warning::the comment could not be written" in run.out


def test_arguments_are_never_read_as_shell(tmp_path: Path) -> None:
    run = Run(tmp_path, **sides(FAILING), ARGUMENTS="--rule\nMMA101=off\n--rule\nRES101=off\n")
    assert run.code == 0
    evil = tmp_path / "evil"
    evil.mkdir()
    run = Run(evil, **sides(PASSING), ARGUMENTS="$(touch done)\n`touch done`; touch done")
    assert run.code == 64
    assert not (evil / "done").exists()


def test_what_could_not_be_judged_passes_only_where_that_is_allowed(tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    shutil.copytree(PASSING / "after", cut)
    (cubin,) = cut.rglob("*.cubin")
    cubin.write_bytes(cubin.read_bytes()[:700])
    for name, allowed, code in (("strict", "false", 2), ("lenient", "true", 0)):
        (tmp_path / name).mkdir()
        run = Run(tmp_path / name, BEFORE=str(PASSING / "before"), AFTER=str(cut), ALLOW_UNSURE=allowed)
        assert (run.code, run.outputs()["exit-code"]) == (code, "2")


@pytest.mark.parametrize(
    ("variables", "code"),
    [({}, 1), ({"AGAINST": "HEAD", "BEFORE": "x"}, 64), ({"BASELINE": "x"}, 1)],
)
def test_what_cannot_mean_anything_fails(tmp_path: Path, variables: dict[str, str], code: int) -> None:
    assert Run(tmp_path, **variables).code == code


def test_the_declaration_hands_every_input_over_as_a_variable() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    steps = action["runs"]["steps"]
    used = {
        name
        for step in steps
        for value in step.get("env", {}).values()
        for name in re.findall(r"inputs\.([\w-]+)", value)
    }
    assert used == set(action["inputs"])
    for step in steps:
        assert "${{" not in step["run"], "an expression in a script is read as shell"
        assert step["shell"] == "bash"
    variables = {name for step in steps for name in step.get("env", {})}
    for name in re.findall(r"\$\{?([A-Z_]+)", SCRIPT.read_text()):
        assert name in variables or name in {
            "RUNNER_TEMP", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_REPOSITORY",
        }  # fmt: skip
    for output in action["outputs"].values():
        name = re.search(r"outputs\.([\w-]+)", output["value"])
        assert name is not None
        assert f"{name[1]}=" in SCRIPT.read_text()


def test_the_gitlab_job_and_the_pre_commit_hook_call_what_there_is() -> None:
    job = yaml.safe_load((ROOT / "integrations" / "gitlab" / "irdiff.gitlab-ci.yml").read_text())
    script = " ".join(job[".irdiff-check"]["script"])
    assert job[".irdiff-check"]["artifacts"]["reports"]["junit"] in script
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    shown = subprocess.run(
        [str(Path(sys.executable).parent / "irdiff"), "check", "--help"],
        capture_output=True,
        check=True,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    ).stdout.decode()
    for flag in re.findall(r"(?<=\s)--[a-z-]+", f"{script} {hook['entry']}"):
        assert flag in shown, flag
