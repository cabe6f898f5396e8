"""False alarms: assertions on the device name the file they stand in, by its whole path."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from command import irdiff

KERNEL = Path(__file__).with_name("asserting.py")


@pytest.fixture(scope="module", autouse=True)
def triton() -> None:
    """Triton is here. On Linux it is in the test dependencies, so that its absence is an error in CI."""
    if importlib.util.find_spec("triton") is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("triton is not installed, though it is in the test dependencies")
        pytest.skip("triton is not installed (there are wheels for Linux alone)")


def compiled(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / KERNEL.name).write_bytes(KERNEL.read_bytes())
    asked = f"{folder / KERNEL.name}::asserting_kernel"
    done = irdiff(
        "compile",
        asked,
        "-s",
        "*i32, *i32, i32, 128",
        "-t",
        "cuda:90",
        "--option",
        "debug=true",
        "-o",
        folder / "tree",
    )
    assert done.code == 0, done.err
    return folder / "tree"


def test_a_kernel_with_assertions_compiled_in_another_folder_differs_in_paths_alone(tmp_path: Path) -> None:
    trees = compiled(tmp_path / "here"), compiled(tmp_path / "quite" / "another" / "folder")
    texts = [next(tree.rglob(f"*.{stage}")).read_text() for tree in trees for stage in ("llir", "ptx")]
    assert all("assertFile_" in text for text in texts), "the assertions are there"
    (kernel,) = json.loads(irdiff("compare", *trees, "--format", "json").out)["kernels"]
    assert kernel["changes"] == []
    assert {
        name: stage["sameness"] for name, stage in kernel["stages"].items() if stage["sameness"] == "changed"
    } == {}
    assert "source paths" in kernel["stages"]["llir"]["reasons"]
    assert "source paths" in kernel["stages"]["ptx"]["reasons"]
    assert "source paths" in kernel["stages"]["sass"]["reasons"]
