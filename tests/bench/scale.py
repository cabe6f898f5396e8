"""Ratios of whole comparisons, each measured in this one run: cold, warm, pairs, ten times as much, and memory.

Run with ``python tests/bench/scale.py [all|cold|warm|pair|start|tenfold|memory]``. The recorded H200 cache is read
where IRDIFF_TEST_DATA names it, else the fixtures are. "Recompiled" kernels are given the files of another kernel, of
the same name where there is one. Every figure is a median with the least and the most; CPU time counts the processes
started too, and says more than wall time on a machine that does other things as well.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from timing import PYTHON, RUNS, Figure, once, ratio, together
from trees import recompiled, replicated, trees

import corpus
from irdiff.plugins import load_plugins
from irdiff.tools.toolbox import LocalToolbox


def compare(before: Path, after: Path, *more: str) -> list[object]:
    """The command line of a comparison."""
    return [PYTHON, "-m", "irdiff", "compare", before, after, *more]


def cold(before: Path, after: Path, *more: str) -> Callable[[Figure], None]:
    """A comparison with an empty store."""

    def call(figure: Figure) -> None:
        with tempfile.TemporaryDirectory() as folder:
            once(compare(before, after, *more), figure, IRDIFF_STORE=f"{folder}/store.db")

    return call


def at_once(call: Callable[[Figure], None]) -> Callable[[Figure], None]:
    """Two of it at the same time: how much more than one this machine does then."""

    def both(figure: Figure) -> None:
        inner = Figure("one of two")
        start = time.perf_counter()
        with ThreadPoolExecutor(2) as two:
            list(two.map(call, (inner, inner)))
        figure.wall.append(time.perf_counter() - start)
        figure.cpu.append(sum(inner.cpu))
        figure.memory = inner.memory

    return both


def bench_start() -> None:
    """Starting, and a pair of text files."""
    one, other = (next((corpus.PAIRS / "divisibility" / side).rglob("*.ptx")) for side in ("before", "after"))
    found = together(
        {
            "python -c pass": lambda figure: once([PYTHON, "-c", "pass"], figure),
            "irdiff --help": lambda figure: once([PYTHON, "-m", "irdiff", "--help"], figure),
            "irdiff compare, two PTX files, cold": cold(one, other),
        },
        runs=11,
    )
    bare, overview, pair = found.values()
    for cpu in (False, True):
        print(ratio("irdiff --help / bare Python start", overview, bare, 8, cpu=cpu))
        print(ratio("text-only pair / bare Python start", pair, bare, 12, cpu=cpu))


def bench_pair() -> None:
    """One kernel, all stages."""
    sides = [corpus.PAIRS / "divisibility" / side for side in ("before", "after")]
    (cubin,) = sides[0].rglob("*.cubin")
    tool = disassembler()
    found = together(
        {
            "nvdisasm -c, one cubin": lambda figure: once([tool, "-c", cubin], figure),
            "irdiff compare, one pair, cold": cold(sides[0], sides[1]),
        }
    )
    single, pair = found.values()
    for kind in ("wall", "cpu"):
        over = statistics.median(getattr(pair, kind)) - statistics.median(getattr(single, kind))
        print(
            f"  {'single pair over one nvdisasm process, seconds':<60} {kind:<4} {over:8.3f}   asked for: 0.5"
        )


def bench_cold() -> None:
    """An empty store, every tenth kernel recompiled; against a disassembler once for each cubin."""
    with trees() as (before, after):
        cubins = [*sorted(before.rglob("*.cubin")), *sorted(after.rglob("*.cubin"))]
        tool = disassembler()
        parts = iter(range(RUNS + 1))

        def disassemble(figure: Figure) -> None:
            """A fifth of the cubins in each round, two at a time, counted five times."""
            mine = cubins[next(parts) % RUNS :: RUNS]
            inner = Figure("one")
            start = time.perf_counter()
            with ThreadPoolExecutor(2) as two:
                list(two.map(lambda cubin: once([tool, "-c", cubin], inner), mine))
            share = len(cubins) / len(mine)
            figure.wall.append((time.perf_counter() - start) * share)
            figure.cpu.append(sum(inner.cpu) * share)

        found = together(
            {
                f"nvdisasm -c, {len(cubins)} cubins, 2 at a time": disassemble,
                "irdiff compare, 10 % recompiled, cold": cold(before, after, "--jobs", "2"),
                "the same with one worker": cold(before, after, "--jobs", "1"),
                "two of these at once": at_once(cold(before, after, "--jobs", "1")),
            }
        )
        each, two, one, both = found.values()
        for cpu in (False, True):
            print(ratio("cold comparison / nvdisasm on each cubin", two, each, 0.1, cpu=cpu))
        print(ratio("one worker / two workers, 10 % recompiled", one, two, 1.7))
        most = 2 * statistics.median(one.wall) / statistics.median(both.wall)
        print(f"  {'two at once / one after the other: what two processors are':<60} wall {most:8.3f}   of 2")
        every = after.parent / "every"
        recompiled(before, every, 1)
        found = together(
            {
                "irdiff compare, every kernel recompiled, cold": cold(before, every, "--jobs", "2"),
                "the same with one worker ": cold(before, every, "--jobs", "1"),
            },
            runs=3,
        )
        two, one = found.values()
        print(ratio("one worker / two workers, every kernel recompiled", one, two, 1.7))


def bench_warm() -> None:
    """A comparison that was made before; against hashing the same files."""
    with trees() as (before, after), tempfile.TemporaryDirectory() as folder:
        files = sorted(path for tree in (before, after) for path in tree.rglob("*") if path.is_file())
        store = {"IRDIFF_STORE": f"{folder}/store.db"}
        found = together(
            {
                "python -c pass": lambda figure: once([PYTHON, "-c", "pass"], figure),
                f"sha256sum, {len(files)} files": lambda figure: once(["sha256sum", *files], figure),
                "irdiff compare, warm": lambda figure: once(compare(before, after), figure, **store),
            }
        )
        bare, hashing, warm = found.values()
        for cpu in (False, True):
            base = sum(statistics.median(each.cpu if cpu else each.wall) for each in (bare, hashing))
            print(ratio("warm comparison / (sha256sum + bare Python start)", warm, base, 4, cpu=cpu))


def bench_tenfold(runs: int = RUNS) -> None:
    """Ten times the kernels."""
    with trees() as (before, after):
        more = [before.parent / f"{side}-10" for side in ("before", "after")]
        for tree, into in zip((before, after), more, strict=True):
            replicated(tree, into, 10)
        found = together(
            {
                "irdiff compare, 10 % recompiled, cold": cold(before, after),
                "ten times the kernels": cold(more[0], more[1]),
            },
            runs=runs,
        )
        one, ten = found.values()
        for cpu in (False, True):
            print(ratio("ten times the kernels / once", ten, one, 10.5, cpu=cpu))


def bench_memory(kernels: int = 5000) -> None:
    """Five thousand kernels a side, every tenth recompiled: 1 GB a side with the recorded cache."""
    with trees() as (before, after):
        count = len([path for path in before.iterdir() if path.is_dir()])
        copies = -(-kernels // count)
        more = [before.parent / f"{side}-many" for side in ("before", "after")]
        for tree, into in zip((before, after), more, strict=True):
            replicated(tree, into, copies)
        figure = Figure(f"irdiff compare, {copies * count:,} kernels, cold")
        cold(more[0], more[1])(figure)
        print(figure.line())
        print(f"  {'largest process, MB':<65} {figure.memory / 1e6:8.0f}   asked for: 400")


def disassembler() -> str:
    """The nvdisasm that irdiff uses."""
    registry = load_plugins(external=False)
    with contextlib.closing(LocalToolbox({tool.id: tool for tool in registry.tools}, os.environ)) as tools:
        return tools.find("nvdisasm")[0].path


BENCHES: dict[str, Callable[[], None]] = {
    "start": bench_start,
    "pair": bench_pair,
    "warm": bench_warm,
    "cold": bench_cold,
    "tenfold": bench_tenfold,
    "memory": bench_memory,
}


if __name__ == "__main__":
    asked = sys.argv[1:] or ["all"]
    for name, bench in BENCHES.items():
        if name in asked or "all" in asked:
            bench()
