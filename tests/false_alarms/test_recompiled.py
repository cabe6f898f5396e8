"""False alarms: the core suite, and what it leaves out, compiled again with nothing changed that means anything."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from command import irdiff
from compiling import run_jobs
from irdiff.cli.compile import suite_tables
from irdiff.compile.plan import expand
from irdiff.compile.tables import read_tables
from irdiff.compile.targets import parse_target

TARGETS = (parse_target("cuda:90"),)
STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "sass")
ALWAYS = {"what irdiff recorded beside it", "debug sections"}
"""What differs from one run to the next: ``irdiff.json`` holds the times that stages took, and the assembler notes
when its input, a temporary file, was written."""
CORE = suite_tables("core")
FEATURES = Path(__file__).parent / "features" / "features.toml"
KERNELS = {CORE: 17, FEATURES: 15}
"""Kernels and specializations of each suite, at least."""


@pytest.fixture(scope="module", autouse=True)
def triton() -> None:
    """Triton is here. On Linux it is in the test dependencies, so that its absence is an error in CI."""
    if importlib.util.find_spec("triton") is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("triton is not installed, though it is in the test dependencies")
        pytest.skip("triton is not installed (there are wheels for Linux alone)")


def compiled(sources: Path, output: Path, *, backwards: bool = False, **environment: str) -> Path:
    """The suite in a folder, compiled by one worker process."""
    (tables,) = sources.glob("*.toml")
    requests = [msgspec.structs.replace(each, targets=TARGETS) for each in read_tables(tables)]
    jobs = expand(requests[::-1] if backwards else requests)
    results = run_jobs(jobs, output, workers=1, **environment)
    assert {each.status for each in results.results} == {"compiled"}
    assert len(results.results) == count_of(tables.name)
    return output


def count_of(name: str) -> int:
    return next(count for suite, count in KERNELS.items() if suite.name == name)


def copied(suite: Path, into: Path) -> Path:
    """The files of a suite in another folder."""
    into.mkdir(parents=True)
    for path in sorted(suite.iterdir()):
        if path.suffix in (".py", ".toml"):
            shutil.copy(path, into)
    return into


def with_comment(text: str) -> str:
    """A comment line before the first kernel and one inside of each kernel."""
    lines = []
    for line in text.split("\n"):
        lines.append(line)
        if line == "@triton.jit":
            lines.insert(-1, "# A comment that moves the kernel down.")
    return "\n".join(lines)


def moved_down(text: str) -> str:
    """50 lines before everything."""
    return "\n" * 50 + text


def touched(folder: Path) -> Path:
    """The same files with another modification time."""
    for path in folder.glob("*.py"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return folder


@pytest.fixture(scope="module", params=[CORE, FEATURES], ids=lambda path: path.stem)
def sources(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(request.param.parent, tmp_path_factory.mktemp("sources") / "here")


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory, sources: Path) -> Path:
    return compiled(sources, tmp_path_factory.mktemp("before") / "tree", PYTHONHASHSEED="0")


def compared(before: Path, after: Path) -> list[dict[str, Any]]:
    """The kernels of the comparison, which passes; each of one side has its counterpart."""
    done = irdiff("check", before, after, "--format", "json")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["judgement"]["findings"] == report["judgement"]["unjudged"] == []
    assert report["added"] == report["removed"] == []
    assert [each for each in report["issues"] if each["severity"] == "error"] == []
    assert len(report["kernels"]) in KERNELS.values()
    assert report["verdict"] in ("identical", "equivalent")
    return report["kernels"]  # type: ignore[no-any-return]  # JSON


def reasons(kernels: list[dict[str, Any]]) -> set[str]:
    """Why bytes differ, over all kernels; asserts that nothing means anything else, at any stage."""
    found: set[str] = set()
    for kernel in kernels:
        assert set(STAGES) <= set(kernel["stages"]), kernel["name"]
        assert kernel["changes"] == [], kernel["name"]
        assert kernel["first_divergence"] is None
        assert kernel["machine_code"] in ("identical", "equivalent")
        for name, stage in kernel["stages"].items():
            assert stage["sameness"] in ("identical", "equivalent"), (kernel["name"], name)
            assert (stage["sameness"] == "equivalent") == bool(stage["reasons"]), (kernel["name"], name)
            found |= set(stage["reasons"])
    return found


def test_a_suite_compiled_in_another_folder_differs_in_paths_alone(
    before: Path, sources: Path, tmp_path: Path
) -> None:
    after = compiled(copied(sources, tmp_path / "quite" / "another" / "folder"), tmp_path / "tree")
    assert reasons(compared(before, after)) - ALWAYS == {"source paths"}


def test_a_suite_whose_files_were_touched_has_the_same_text_at_every_stage(
    before: Path, sources: Path, tmp_path: Path
) -> None:
    assert reasons(compared(before, compiled(touched(sources), tmp_path / "tree"))) - ALWAYS == set()


@pytest.mark.parametrize("edit", [with_comment, moved_down])
def test_a_comment_line_and_50_more_lines_differ_in_line_numbers_alone(
    before: Path, sources: Path, tmp_path: Path, edit: Callable[[str], str]
) -> None:
    originals = {path: path.read_text() for path in sources.glob("*.py")}
    try:
        for path, text in originals.items():
            assert edit(text) != text
            path.write_text(edit(text))
        after = compiled(sources, tmp_path / "tree")
    finally:
        for path, text in originals.items():
            path.write_text(text)
    assert reasons(compared(before, after)) - ALWAYS == {"line numbers", "cache hash"}


@pytest.mark.parametrize("seed", ["1", "12345"])
def test_another_hash_seed_and_the_other_order_change_nothing(
    before: Path, sources: Path, tmp_path: Path, seed: str
) -> None:
    after = compiled(sources, tmp_path / "tree", backwards=seed == "1", PYTHONHASHSEED=seed)
    assert reasons(compared(before, after)) - ALWAYS == set()
