"""SIGTERM and Ctrl-C end ``check --against`` wherever it is, and nothing of it is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import corpus
from repository import commit, git

STAND_IN = corpus.ROOT / "tests" / "compile" / "fake_python.py"
TABLE = '[[kernel]]\nfile = "k.py"\nname = "hangs"\ntargets = "cuda:90"\n'
SLOW_GIT = """#!/bin/sh
case "$*" in *"worktree add"*)
    trap 'touch "{folder}/asked"; exit 143' TERM
    echo > "{folder}/begun"
    sleep 60 & wait
esac
exec {git} "$@"
"""
"""Stands in for a git that takes its time to check out, and removes what it made when it is asked to end."""


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, k__py="", irdiff__toml=TABLE)
    return folder


def ended(number: int, begun: Path, repository: Path, **environment: str) -> subprocess.Popen[str]:
    """The command, sent a signal once that file is there."""
    temporary = repository.parent / "tmp"
    temporary.mkdir()
    python = executable(repository.parent / "python", f"#!{sys.executable}\n{STAND_IN.read_text()}")
    process = subprocess.Popen(
        [sys.executable, "-m", "irdiff", "check", "--against", "HEAD", "--python", str(python)],
        cwd=repository,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(corpus.ROOT), os.environ.get("PYTHONPATH", "")]),
            "TMPDIR": str(temporary),
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (begun.is_file() and begun.read_text()) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    assert not list(temporary.iterdir())
    assert git(repository, "worktree", "list").count("\n") == 0
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_ended_while_it_compiles_nothing_is_left(repository: Path, number: int, code: int) -> None:
    log = repository.parent / "log"
    process = ended(number, log, repository, FAKE_LOG=str(log))
    assert process.returncode == code
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_ended_while_git_checks_out_git_is_asked_to_end(repository: Path) -> None:
    folder = repository.parent / "bin"
    folder.mkdir()
    executable(folder / "git", SLOW_GIT.format(folder=folder, git=shutil.which("git")))
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    process = ended(signal.SIGTERM, folder / "begun", repository, PATH=path)
    assert process.returncode == 143
    assert (folder / "asked").exists()


def test_ended_while_it_is_imported_it_says_nothing(tmp_path: Path) -> None:
    """The library that reads command lines takes a while to import."""
    code = (
        "import os, signal, sys\n"
        "from irdiff.cli import start\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.argv = ['irdiff', 'rules']\n"
        "start.run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=corpus.ROOT
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "")
