"""The guide's recipes print what they show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import corpus
from command import irdiff
from repository import commit, git

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "recipes.md"


def shown(command: str) -> str:
    """What the guide shows below a command."""
    after = GUIDE.read_text().split(f"$ {command}\n", 1)[1]
    return after.partition("\n```")[0].partition("\n$ ")[0]


def test_the_edit_of_the_first_recipe_is_judged_as_shown(tmp_path: Path) -> None:
    text = GUIDE.read_text()
    table = text.split("```toml\n", 1)[1].partition("```")[0]
    old, new = (part for part in text.split("`")[1::2] if part.startswith("acc = tl.dot"))
    kernel = (corpus.FIXTURES / "kernels" / "matmul.py").read_text()
    assert old in kernel
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, kernels__py=kernel, irdiff__toml=table)
    commit(tmp_path, kernels__py=kernel.replace(old, new, 1))
    found = irdiff("check", "--against", "HEAD~1", cwd=tmp_path)
    assert (found.code, found.out.rstrip()) == (1, shown("irdiff check --against HEAD~1"))


@pytest.mark.parametrize(("after", "code"), [("run2", 0), ("run3", 1)])
def test_the_caches_of_the_third_recipe_are_judged_as_shown(tmp_path: Path, after: str, code: int) -> None:
    corpus.unpack(corpus.GPU / "inductor-runs.tar.xz", tmp_path)
    found = irdiff("check", "run1", after, cwd=tmp_path)
    assert (found.code, found.out.rstrip()) == (code, shown(f"irdiff check run1 {after}"))


def test_the_script_that_made_the_caches_is_there() -> None:
    assert (corpus.GPU / "train.py").is_file()
    assert shutil.which("git")


def test_two_equal_runs_give_equal_reports(tmp_path: Path) -> None:
    kernel = (corpus.FIXTURES / "kernels" / "vector_add.py").read_text()
    table = '[[kernel]]\nfile = "kernels.py"\nname = "vector_add_kernel"\n'
    table += 'signature = "*fp32:16, *fp32:16, *fp32:16, i32, 1024"\ntargets = ["cuda:90"]\n'
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, kernels__py=kernel, irdiff__toml=table)
    commit(tmp_path, kernels__py=kernel.replace("tl.store(", "tl.store(", 1) + "\n# a comment\n")
    found = [irdiff("check", "--against", "HEAD~1", "-f", "json", cwd=tmp_path) for _ in range(2)]
    assert [each.code for each in found] == [0, 0], found[0].err
    assert found[0].out == found[1].out
    assert "irdiff-against" not in found[0].out
