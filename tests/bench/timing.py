"""Times of whole processes: taken in turns, as medians with the least and the most, and as ratios of them."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

RUNS = 5
PYTHON = sys.executable


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
