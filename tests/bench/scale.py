"""Ratios of whole comparisons, each measured in this one run: cold, warm, pairs, ten times as much, and memory.

Run with ``python tests/bench/scale.py [all|cold|warm|pair|start|tenfold|memory]``. The recorded H200 cache is read
where IRDIFF_TEST_DATA names it, else the fixtures are. "Recompiled" kernels are given the files of another kernel, of
the same name where there is one. Every figure is a median with the least and the most; CPU time counts the processes
started too, and says more than wall time on a machine that does other things as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import corpus
from irdiff.plugins import load_plugins
from irdiff.tools.toolbox import LocalToolbox

RUNS = 5
PYTHON = sys.executable
COMMENTS = {".ptx": "//", ".llir": ";", ".ttir": "//", ".ttgir": "//", ".source": "//"}
STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "cubin")


class Figure:
    """Seconds of several runs of one thing: wall, CPU of all its processes, and the largest of them in memory."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self.memory = 0
        """Bytes."""

    def line(self) -> str:
        """One row."""
        wall, cpu = statistics.median(self.wall), statistics.median(self.cpu)
        spread = f"({min(self.wall):.3f} .. {max(self.wall):.3f})"
        return (
            f"{self.name:<46}{wall:9.3f} s {spread:<20} CPU {cpu:8.3f} s  {self.memory / 1e6:6.0f} MB  "
            f"n={len(self.wall)}"
        )


def ratio(words: str, one: Figure, other: float | Figure, limit: float, *, cpu: bool = False) -> str:
    """A row that compares two medians with what is asked for."""
    mine = statistics.median(one.cpu if cpu else one.wall)
    theirs = (
        statistics.median(other.cpu if cpu else other.wall) if isinstance(other, Figure) else float(other)
    )
    kind = "CPU" if cpu else "wall"
    return f"  {words:<60} {kind:<4} {mine / theirs:8.3f}   asked for: {limit:g}"


def once(command: Sequence[object], figure: Figure, **environment: str) -> None:
    """Run a process to its end and take its times."""
    given = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("IRDIFF_")
    }
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**given, **environment},
    )
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    figure.wall.append(time.perf_counter() - start)
    figure.cpu.append(used.ru_utime + used.ru_stime)
    scale = 1 if sys.platform == "darwin" else 1024
    figure.memory = max(figure.memory, used.ru_maxrss * scale)


def together(calls: dict[str, Callable[[Figure], None]], runs: int = RUNS) -> dict[str, Figure]:
    """Several things in turn, so that what else the machine does falls on all of them; one round to warm up."""
    figures = {name: Figure(name) for name in calls}
    for turn in range(runs + 1):
        for name, call in calls.items():
            call(figures[name] if turn else Figure(name))
    for figure in figures.values():
        print(figure.line())
    return figures


def compare(before: Path, after: Path, *more: str) -> list[object]:
    """The command line of a comparison."""
    return [PYTHON, "-m", "irdiff", "compare", before, after, *more]


def cold(before: Path, after: Path, *more: str) -> Callable[[Figure], None]:
    """A comparison with an empty store."""

    def call(figure: Figure) -> None:
        with tempfile.TemporaryDirectory() as folder:
            once(compare(before, after, *more), figure, IRDIFF_STORE=f"{folder}/store.db")

    return call


@contextlib.contextmanager
def trees() -> Iterator[tuple[Path, Path]]:
    """The data, and a copy of which every tenth kernel was recompiled differently."""
    with tempfile.TemporaryDirectory() as folder:
        tree = corpus.unpack_h200(Path(folder)) if corpus.test_data() else _copied(Path(folder))
        after = Path(folder) / "after"
        recompiled(tree, after, 10)
        yield tree, after


def _copied(folder: Path) -> Path:
    tree = folder / "fixtures"
    for entry in sorted((corpus.BUNDLES / "triton-3.6.0" / "sm_90").iterdir()):
        if entry.is_dir():
            shutil.copytree(entry, tree / entry.name)
    return tree


def recompiled(tree: Path, into: Path, every: int) -> None:
    """A copy of a tree in which every so-many-th kernel has the files of another one."""
    shutil.copytree(tree, into)
    entries = sorted(path for path in tree.iterdir() if path.is_dir())
    by_name: dict[str, list[Path]] = {}
    for entry in entries:
        by_name.setdefault(_name(entry), []).append(entry)
    for number in range(0, len(entries), every):
        entry = entries[number]
        name = _name(entry)
        alike = [other for other in by_name[name] if other != entry]
        other = alike[number % len(alike)] if alike else entries[(number + 1) % len(entries)]
        for stage in STAGES:
            source = other / f"{_name(other)}.{stage}"
            if source.exists():
                (into / entry.name / f"{name}.{stage}").write_bytes(source.read_bytes())
        mine = json.loads((entry / f"{name}.json").read_text())
        theirs = json.loads((other / f"{_name(other)}.json").read_text())
        theirs |= {key: mine[key] for key in ("hash", "name") if key in mine}
        (into / entry.name / f"{name}.json").write_text(json.dumps(theirs))


def _name(entry: Path) -> str:
    return next(path.name[7:-5] for path in entry.iterdir() if path.name.startswith("__grp__"))


def replicated(tree: Path, into: Path, copies: int) -> None:
    """So many copies of a tree side by side, no file of one equal to a file of another."""
    for number in range(copies):
        for entry in sorted(path for path in tree.iterdir() if path.is_dir()):
            folder = into / f"{entry.name[:-4]}{_base32(number)}"
            folder.mkdir(parents=True)
            for file in entry.iterdir():
                data = file.read_bytes()
                if file.suffix in COMMENTS:
                    data += f"{COMMENTS[file.suffix]} {number}\n".encode()
                elif file.suffix == ".json" and not file.name.startswith("__grp__"):
                    said = json.loads(data)
                    said["hash"] = hashlib.sha256(f"{said.get('hash')} {number}".encode()).hexdigest()
                    data = json.dumps(said).encode()
                elif file.suffix == ".cubin":
                    data += number.to_bytes(16, "little")
                (folder / file.name).write_bytes(data)


def _base32(number: int) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    return "".join(letters[number >> shift & 31] for shift in (15, 10, 5, 0))


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
            }
        )
        each, two, one = found.values()
        for cpu in (False, True):
            print(ratio("cold comparison / nvdisasm on each cubin", two, each, 0.1, cpu=cpu))
        print(ratio("one worker / two workers, 10 % recompiled", one, two, 1.7))
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
