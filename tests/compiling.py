"""Running compilations in tests: jobs and tables over real or stand-in interpreters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import corpus
from irdiff.compile.output import OutputTree
from irdiff.compile.plan import Job, Request, expand
from irdiff.compile.pool import Pool
from irdiff.compile.results import Results
from irdiff.compile.tables import read_tables
from irdiff.compile.targets import parse_target

KERNELS = Path(__file__).parent / "compile" / "kernels"
"""Kernels that fail, each in its own way."""
FAKE = Path(__file__).parent / "compile" / "fake_python.py"


def run_jobs(
    jobs: list[Job],
    output: Path,
    python: str = sys.executable,
    *,
    workers: int = 2,
    timeout: float = 120,
    **environment: str,
) -> Results:
    """Compile into a folder; more variables by keyword."""
    with OutputTree(output) as tree:
        return Pool(jobs, tree, python, {**os.environ, **environment}, workers=workers, timeout=timeout).run()


def run_tables(text: str, folder: Path, output: Path, **options: object) -> Results:
    """Compile the tables of a TOML text whose files lie in a folder."""
    path = folder / "irdiff.toml"
    path.write_text(text)
    return run_jobs(expand(read_tables(path)), output, **options)


def fake_jobs(tmp_path: Path, *kernels: str, targets: tuple[str, ...] = ("cuda:90",)) -> list[Job]:
    """Jobs for the stand-in, which looks at names alone."""
    file = tmp_path / "kernels.py"
    file.write_text("")
    named = tuple(parse_target(target) for target in targets)
    return expand(
        [Request(file=file, shown="kernels.py", kernel=kernel, targets=named) for kernel in kernels]
    )


def program(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start ``irdiff compile`` in a folder, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "irdiff", "compile", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(corpus.ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
