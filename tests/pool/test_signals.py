"""Ctrl-C and SIGTERM end a comparison at once: no process is left, and the store is whole."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import corpus

CUDA = corpus.BUNDLES / "triton-3.6.0" / "sm_90"
COPIES = 12


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two trees that take several seconds to compare."""
    made = tmp_path_factory.mktemp("many")
    for side in ("before", "after"):
        for number in range(COPIES):
            for entry in sorted(path for path in CUDA.iterdir() if path.is_dir()):
                into = made / side / f"{entry.name[:-2]}{number:02d}"
                shutil.copytree(entry, into)
                for file in into.glob("*.ttir"):
                    file.write_text(f"// {side} {number}\n{file.read_text()}")
    return made / "before", made / "after"


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text().split()]
    return found


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_everything_and_the_store_is_whole(
    number: int, code: int, many: tuple[Path, Path], tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    running = subprocess.Popen(
        [sys.executable, "-m", "irdiff", "compare", *many, "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "IRDIFF_STORE": str(store)},
        cwd=corpus.ROOT,
    )
    workers: list[int] = []
    deadline = time.monotonic() + 60
    while len(workers) < 2 and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.05)
        workers = children(running.pid)
    time.sleep(0.5)
    running.send_signal(number)
    out, err = running.communicate(timeout=30)
    assert len(workers) == 2
    assert running.returncode == code, err
    assert out == b""
    assert b"Traceback" not in err
    assert not [pid for pid in workers if is_alive(pid)]
    if store.exists():
        with sqlite3.connect(store) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
