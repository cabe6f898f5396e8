"""Every figure of docs/performance.md, measured in this one run on this machine.

``make bench`` prints the table; ``python tests/bench/run.py --record`` also adds it to docs/performance.md, with the
commit. The recorded H200 cache is read where IRDIFF_TEST_DATA names it, else the fixtures are. IRDIFF_BENCH_CUXRAY
names the ``cuxray`` of an environment of its own (for which CUXRAY_TOOLCHAIN names a folder with nvdisasm of CUDA 12):
its times stand beside irdiff's.
"""

from __future__ import annotations

import contextlib
import io
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import readers_lines
import readers_mlir
import scale
import timing
import trees

import corpus

HISTORY = corpus.ROOT / "docs" / "performance.md"
PEER = "IRDIFF_BENCH_CUXRAY"
READERS = {"source": 4, "ttir": 4, "ttgir": 4}
"""MB a second that are asked for."""


class Tee(io.TextIOBase):
    """Writes to two places."""

    def __init__(self, *places: io.TextIOBase) -> None:
        self._places = places

    def write(self, text: str) -> int:
        for place in self._places:
            place.write(text)
            place.flush()
        return len(text)


def bench_readers() -> None:
    """How fast each stage is read, in MB a second of CPU time."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = corpus.unpack_h200(Path(scratch)) if corpus.test_data() else corpus.BUNDLES
        for stage, turns in readers_mlir.rates(tree).items():
            told = f"(cold {turns[0]:.1f}, {min(turns):.1f} .. {max(turns):.1f}, asked for: {READERS[stage]})"
            print(f"{stage:<6}facts and canonical form  {statistics.median(turns):7.1f} MB/s  {told}")
        readers_lines.main(tree)


def bench_peer() -> None:
    """Two cubins compared by a peer and by irdiff; and every seventh kernel of the tree read by both."""
    peer = os.environ.get(PEER)
    if not peer:
        print(f"cuxray: not measured ({PEER} does not name it)")
        return
    before, after = (next((corpus.PAIRS / "spills" / side).rglob("*.cubin")) for side in ("before", "after"))
    tried = subprocess.run(
        [peer, "diff", "--no-cache", before, after], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        print(f"cuxray: not measured (it failed: {' '.join(tried.stdout.split())[-200:]})")
        return
    found = timing.together(
        {
            "cuxray diff, two cubins": lambda figure: timing.once(
                [peer, "diff", "--no-cache", before, after], figure
            ),
            "irdiff compare, the same two, cold": scale.cold(before, after),
        }
    )
    theirs, ours = found.values()
    print(timing.ratio("irdiff / cuxray", ours, theirs, 1))
    with trees.trees() as (tree, _):
        few = tree.parent / "few"
        entries = sorted(path for path in tree.iterdir() if path.is_dir())[::7]
        for entry in entries:
            shutil.copytree(entry, few / entry.name)
        table = tree.parent / "facts.jsonl"
        reading = [timing.PYTHON, "-m", "irdiff", "facts", few, "-o", table, "--no-store"]
        found = timing.together(
            {
                f"cuxray triton, {len(entries)} kernels": lambda figure: timing.once(
                    [peer, "triton", "--no-cache", "--json", few], figure
                ),
                "irdiff facts, the same, every stage": lambda figure: timing.once(reading, figure),
            },
            runs=3,
        )
        theirs, ours = found.values()
        print(timing.ratio("irdiff / cuxray, which reads the cubins alone", ours, theirs, 1))


BENCHES: dict[str, Callable[[], None]] = {**scale.BENCHES, "readers": bench_readers, "peer": bench_peer}


def main(arguments: list[str]) -> None:
    """Measure what is named, or all; with ``--record`` the table is kept."""
    asked = [name for name in arguments if name != "--record"]
    unknown = sorted(set(asked) - BENCHES.keys())
    if unknown:
        sys.exit(f"no bench is called {unknown[0]}: there are {', '.join(BENCHES)}")
    table = io.StringIO()
    with contextlib.redirect_stdout(Tee(sys.stdout, table)):
        for name, bench in BENCHES.items():
            if name in asked or not asked:
                bench()
    if "--record" in arguments:
        record(table.getvalue())


def record(table: str) -> None:
    """Put the table on top of the history."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=10"],
        cwd=corpus.ROOT, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    day = datetime.now(timezone.utc).date().isoformat()
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    entry = f"## {day}, commit {commit}\n\n{where}\n\n```text\n{table.rstrip()}\n```\n\n"
    text = HISTORY.read_text(encoding="utf-8")
    head, mark, rest = text.partition("<!-- newest first -->\n")
    HISTORY.write_text(f"{head}{mark}\n{entry}{rest.lstrip()}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
