"""Both revisions of a repository compiled: the right commit, its own modules, and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from irdiff.cli.against import compiled_against
from irdiff.cli.worktree import checked_out
from irdiff.errors import InputError, ToolError, UsageError
from repository import commit, git

KERNEL = """
import triton
import triton.language as tl
from scaling import FACTOR

@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * {factor}, mask=i < n)
"""
TABLE = """
[[kernel]]
file = "kernels.py"
name = "scale"
signature = "*fp32:16, i32, 128"
targets = ["cuda:90"]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(
        folder,
        kernels__py=KERNEL.format(factor="FACTOR"),
        scaling__py="import triton.language as tl\nFACTOR = tl.constexpr(2.0)\n",
        irdiff__toml=TABLE,
    )
    return folder


def constants(tree: Path) -> str:
    (ttir,) = tree.glob("*/scale.ttir")
    return ttir.read_text()


def test_each_side_is_compiled_with_its_own_modules(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, scaling__py="import triton.language as tl\nFACTOR = tl.constexpr(3.0)\n")
    monkeypatch.chdir(repository)
    with compiled_against("HEAD~1", jobs=1) as made:
        assert "2.000000e+00" in constants(made.before)
        assert "3.000000e+00" in constants(made.after)
        places = (made.before, made.after)
    assert not any(place.exists() for place in places)
    assert git(repository, "worktree", "list").count("\n") == 0
    assert git(repository, "status", "--porcelain") == ""


def test_what_is_not_committed_is_compiled(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "kernels.py").write_text(KERNEL.format(factor="5.0"))
    monkeypatch.chdir(repository)
    with compiled_against("HEAD", jobs=1) as made:
        assert "2.000000e+00" in constants(made.before)
        assert "5.000000e+00" in constants(made.after)


def test_where_the_revision_has_no_tables_those_of_the_working_tree_hold(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repository, "rm", "-q", "--cached", "irdiff.toml")
    git(repository, "commit", "-qm", "without tables")
    more = TABLE.replace("kernels.py", "new.py")
    (repository / "new.py").write_text(KERNEL.format(factor="7.0"))
    (repository / "irdiff.toml").write_text(TABLE + more)
    monkeypatch.chdir(repository)
    with compiled_against("HEAD", jobs=1) as made:
        assert [path.name for path in made.before.glob("*/*.ttir")] == ["scale.ttir"]
        assert len(list(made.after.glob("*/*.ttir"))) == 2
        assert [issue.where for issue in made.issues] == ["new.py"]


def test_the_merge_base_is_compared_with_not_what_others_changed_since(repository: Path) -> None:
    start = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-qb", "mine")
    commit(repository, mine__txt="mine")
    git(repository, "checkout", "-q", "main")
    theirs = commit(repository, theirs__txt="theirs")
    git(repository, "checkout", "-q", "mine")
    with checked_out("main", repository, os.environ) as (base, root):
        assert (base.commit, root) == (start, repository.resolve())
        assert base.described == f"{start[:10]} (merge base with main)"
        assert not (base.root / "theirs.txt").exists()
    git(repository, "checkout", "-q", "--orphan", "unrelated")
    git(repository, "commit", "-qm", "unrelated")
    with checked_out("main", repository, os.environ) as (base, _):
        assert (base.commit, base.described) == (theirs, theirs[:10])


def test_no_hook_of_the_repository_runs_and_a_hook_s_environment_does_no_harm(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    environment = {**os.environ, "GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index"}
    with checked_out("HEAD", repository, environment) as (base, _):
        assert not (base.root / "ran").exists()
    assert not (repository / "ran").exists()


@pytest.mark.parametrize("revision", ["no-such", "--help", "-x", ""])
def test_a_revision_that_is_not_there_says_so(repository: Path, revision: str) -> None:
    with (
        pytest.raises(InputError, match="no revision is called") as caught,
        checked_out(revision, repository, os.environ),
    ):
        pass
    assert "fetch-depth: 0" in (caught.value.hint or "")


def test_outside_a_repository_and_without_git_it_says_so(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="lies in no git repository"),
        checked_out("HEAD", tmp_path, {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}),
    ):
        pass
    with pytest.raises(ToolError, match="git was not found"), checked_out("HEAD", tmp_path, {"PATH": ""}):
        pass


@pytest.mark.parametrize(
    ("table", "message"),
    [("", "there are no"), (TABLE.replace("targets", "# targets"), "scale has no targets")],
)
def test_what_cannot_be_compiled_says_what_to_write(
    repository: Path, monkeypatch: pytest.MonkeyPatch, table: str, message: str
) -> None:
    (repository / "irdiff.toml").write_text(table)
    monkeypatch.chdir(repository)
    with pytest.raises(UsageError, match=message), compiled_against("HEAD", jobs=1):
        pass
