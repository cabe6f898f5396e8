"""Time whole processes and print ratios, all measured in this one run on this machine.

Each figure is the median of several runs, with the least and the most; ratios are between medians. Run with
``make bench``; the recorded H200 cache is read where IRDIFF_TEST_DATA names it, else the fixtures are.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import corpus
from irdiff.plugins import load_plugins
from irdiff.tools.toolbox import LocalToolbox

RUNS = 5
PAIR = (corpus.PAIRS / "divisibility/before", corpus.PAIRS / "divisibility/after")


class Timing:
    """Seconds of several runs of one thing."""

    def __init__(self, name: str, seconds: Sequence[float]) -> None:
        self.name = name
        self.median = statistics.median(seconds)
        self.least = min(seconds)
        self.most = max(seconds)

    def line(self, base: Timing | None = None) -> str:
        """One row: the figure, its spread, and its ratio to another."""
        ratio = f"  {self.median / base.median:.1f} x {base.name}" if base else ""
        return f"{self.name:<44}{self.median:9.3f} s  ({self.least:.3f} .. {self.most:.3f}){ratio}"


def timed(name: str, command: Sequence[object], *, runs: int = RUNS) -> Timing:
    """Run a command once to warm up and ``runs`` times to measure."""
    seconds = []
    for turn in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        if turn:
            seconds.append(time.perf_counter() - start)
    return Timing(name, seconds)


def main() -> None:
    """Print the table."""
    python = sys.executable
    bare = timed("python -c pass", [python, "-c", "pass"])
    print(bare.line())
    print(timed("irdiff --help", [python, "-m", "irdiff", "--help"]).line(bare))
    print(
        timed("irdiff compare, one kernel, all stages", [python, "-m", "irdiff", "compare", *PAIR]).line(bare)
    )
    with tempfile.TemporaryDirectory() as folder:
        tree = corpus.unpack_h200(Path(folder)) if corpus.test_data() else corpus.BUNDLES
        cubins = sorted(tree.rglob("*.cubin"))
        compare = timed(
            f"irdiff compare, {len(cubins)} kernels with themselves",
            [python, "-m", "irdiff", "compare", tree, tree],
        )
        print(compare.line(bare))
        show = timed(
            f"irdiff show, {len(cubins)} kernels, every fact",
            [python, "-m", "irdiff", "show", tree, "-f", "json"],
        )
        print(show.line(bare))
        registry = load_plugins(external=False)
        with contextlib.closing(LocalToolbox({tool.id: tool for tool in registry.tools}, {})) as tools:
            found = tools.find("nvdisasm")
            if not found:
                print("nvdisasm was not found: no figure for disassembling one by one")
                return
            sample = cubins[:: max(1, len(cubins) // 15)]
            seconds = []
            for cubin in sample:
                start = time.perf_counter()
                tools.run(found[0], ["-c", str(cubin)], timeout=60)
                seconds.append(time.perf_counter() - start)
            single = Timing(f"nvdisasm -c, one cubin (of {len(sample)})", seconds)
            print(single.line(bare))
            share = show.median / (single.median * len(cubins))
            print(f"every fact of {len(cubins)} kernels takes {share:.2f} of {len(cubins)} nvdisasm calls")


if __name__ == "__main__":
    main()
