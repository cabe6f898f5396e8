"""``irdiff plugins new``: the project works and passes its own tests, and nothing is ever overwritten."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import corpus
from irdiff.cli.main import main_with
from irdiff.cli.new_plugin import FILES, check_name, project, write_project
from irdiff.errors import IrdiffError, UsageError
from irdiff.plugins import load_plugins

TEMPLATES = corpus.ROOT / "irdiff/templates/plugin"


def run(*command: str | Path, cwd: Path, site: Path, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("IRDIFF_", "COLUMNS"))}
    environment = {**kept, "PYTHONPATH": str(site), **more}
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(project as the command writes it, folder it is installed in)"""
    folder = tmp_path_factory.mktemp("new")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main_with(["plugins", "new", "my-stage"]) == 0
    site = folder / "site"
    install = ("pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", site, ".")
    done = run(*install, cwd=folder / "irdiff-my-stage", site=site)
    assert done.returncode == 0, done.stderr
    return folder / "irdiff-my-stage", site


def test_a_new_plugin_passes_its_own_tests(made: tuple[Path, Path]) -> None:
    folder, site = made
    done = run("pytest", "-q", "-p", "no:cacheprovider", cwd=folder, site=site)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d\d passed", done.stdout, re.MULTILINE), done.stdout


def test_its_tests_can_fail(made: tuple[Path, Path]) -> None:
    """The reader that knows no opcode, and the golden that says otherwise."""
    folder, site = made
    reader = folder / "irdiff_my_stage/reader.py"
    kept = reader.read_text()
    try:
        reader.write_text(kept.replace('"mul", ', ""))
        chosen = "understood or recorded"
        done = run("pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, cwd=folder, site=site)
    finally:
        reader.write_text(kept)
    assert done.returncode == 1
    for promise in ("test_samples_are_understood", "test_summaries_are_as_recorded"):
        assert promise in done.stdout


def test_its_stage_is_listed_compared_and_shown(made: tuple[Path, Path]) -> None:
    folder, site = made
    listed = run("irdiff", "plugins", cwd=folder, site=site).stdout
    assert re.search(r"my-stage\s+irdiff-my-stage 0\.1\.0\s+loaded", listed), listed
    pair = ("tests/samples/saxpy.my-stage", "tests/samples/saxpy-barrier.my-stage")
    done = run("irdiff", "compare", *pair, "--ir", "my-stage", "--exit-code", cwd=folder, site=site)
    assert done.returncode == 1
    for words in ("registers named rose 4 → 5", "+   barrier", "    load r2, [x + r1]"):
        assert words in done.stdout, done.stdout


def test_a_plugin_imports_the_api_alone() -> None:
    for path in TEMPLATES.glob("*.py.txt"):
        imported = set(re.findall(r"^from (irdiff[\w.@]*)", path.read_text(), re.MULTILINE))
        allowed = {"irdiff.api", "irdiff.testing"} if path.name == "test.py.txt" else {"irdiff.api"}
        assert {name for name in imported if "@" not in name} <= allowed, path.name


def test_every_template_is_used_and_none_can_be_imported() -> None:
    assert {path.name for path in TEMPLATES.iterdir()} == {template for template, _ in FILES}
    assert not list(TEMPLATES.parent.rglob("*.py"))
    for path, text in project("a-b").items():
        assert not re.search(r"@[A-Z]+@", path + text), path


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("My-Stage", "a plugin's name is lower-case letters, digits and single hyphens"),
        ("../x", "a plugin's name is lower-case"),
        ("a_b", "a plugin's name is lower-case"),
        ("1st", "a plugin's name is lower-case"),
        ("a--b", "a plugin's name is lower-case"),
        ("", "a plugin's name is lower-case"),
        ("x" * 31, "at most 30"),
        ("irdiff-foo", "irdiff- is put before the name for you (irdiff plugins new foo)"),
        ("ptx", "the name is taken (there is the stage ptx)"),
        ("ptxas", "there is the stage ptxas"),
        ("cubin", "there is the suffix .cubin of the stage sass"),
        ("json", "there is the suffix .json of the stage meta"),
        ("mlir", "there is an importable package irdiff_mlir"),
    ],
)
def test_a_name_that_cannot_be_or_is_taken_is_refused(name: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_name(name, load_plugins(external=False))
    assert says in str(caught.value)


def test_nothing_that_is_there_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("full", "file", "link"):
        assert main_with(["plugins", "new", "mine", "-o", name]) == 64
        assert f"{name}: is already there; nothing was written" in capsys.readouterr().err
    assert (tmp_path / "full/file").read_text() == (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert main_with(["plugins", "new", "mine", "-o", "empty"]) == 0
    assert main_with(["plugins", "new", "mine", "-o", "deep/er"]) == 0
    assert (tmp_path / "deep/er/irdiff_mine/plugin.py").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "empty", "file", "full", "link"]


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "there"
    target.mkdir()
    (target / "came-meanwhile").write_text("x")
    with pytest.raises(IrdiffError, match="cannot be written"):
        write_project("mine", target)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
