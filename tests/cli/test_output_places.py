"""Where output may go: links, devices, pipes, full disks and closed streams; and no name begins a line of its own."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import corpus
from command import irdiff

SIDES = (corpus.PAIRS / "spills" / "before", corpus.PAIRS / "spills" / "after")


def test_a_link_stays_a_link_to_the_file_that_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("before")
    link.symlink_to(real)
    assert irdiff("compare", *SIDES, "-f", "json", "-o", link).code == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["verdict"] == "changed"


def test_a_folder_and_a_link_to_one_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name in ("folder", "link"):
        found = irdiff("compare", *SIDES, "-o", tmp_path / name)
        assert found.code == 2
        assert "cannot be written" in found.err
    assert (tmp_path / "link").is_symlink()


def test_a_pipe_takes_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, taken = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: taken.append(pipe.read_bytes()))
    reader.start()
    assert irdiff("compare", *SIDES, "-f", "json", "-o", pipe).code == 0
    reader.join(60)
    assert json.loads(taken[0])["verdict"] == "changed"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("command", ["compare", "check"])
def test_a_full_disk_is_told_and_no_fault(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "irdiff", command, *SIDES],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert b"standard output: cannot be written" in done.stderr
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


@pytest.mark.parametrize("form", ["terminal", "json"])
def test_a_closed_standard_output_is_nobody_s(form: str) -> None:
    line = f'"{sys.executable}" -m irdiff check "$0" "$1" -f {form} >&-'
    done = subprocess.run(
        ["sh", "-c", line, *map(str, SIDES)], stderr=subprocess.PIPE, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("command", ["compare", "check", "show"])
def test_a_name_with_a_line_end_begins_no_line_of_its_own(tmp_path: Path, command: str) -> None:
    """In the log of a CI a line that begins with two colons is a command."""
    for side in SIDES:
        shutil.copytree(side, tmp_path / side.name)
    for file in tmp_path.rglob("*.json"):
        said = json.loads(file.read_text())
        if "name" in said:
            file.write_text(json.dumps(said | {"name": "x\n::error file=a::b"}))
    places = [tmp_path / "before", tmp_path / "after"][: 1 if command == "show" else 2]
    found = irdiff(command, *places)
    assert "::error file=a::b" in found.out
    assert not [line for line in found.out.splitlines() if line.lstrip().startswith("::")]


def test_a_path_that_is_no_utf8_is_in_the_report_all_the_same(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/caf\xe9"
    shutil.copytree(SIDES[0], os.fsdecode(odd))
    done = subprocess.run(
        [sys.executable, "-m", "irdiff", "compare", odd, odd, "-f", "json"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["before"].endswith("caf\\xe9")
