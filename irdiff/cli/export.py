"""``irdiff facts PATH -o FILE``: the facts of many kernels as one table for DuckDB, pandas and dashboards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import emit, whole_file
from irdiff.cli.progress import progress_bar
from irdiff.cli.session import session
from irdiff.cli.work import Work, closing_store
from irdiff.engine.kernels import Kernel
from irdiff.engine.table import rows
from irdiff.errors import UsageError
from irdiff.model.table import FactRow
from irdiff.present.table import csv_header, csv_lines, json_lines

FORMATS = ("parquet", "csv", "jsonl")
PART = 256
"""Kernels that are read before their rows are written: what bounds the memory, and one row group of Parquet."""

Write: TypeAlias = Callable[[Sequence[FactRow]], None]


def export_format(form: str, output: Path | None) -> str:
    """``parquet``, ``csv`` or ``jsonl``, as ``--format`` or the ending of the file says. Raises UsageError."""
    ending = output.suffix[1:].lower() if output is not None else ""
    wanted = ending if form in ("terminal", "json") and ending else form
    if wanted not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        where = "--output" if output is not None else "facts"
        hint = f"-o with an ending of {endings}, or -f csv or -f jsonl for standard output"
        raise UsageError(
            f"cannot write facts as {wanted!r}" if output else "no file is named", where=where, hint=hint
        )
    if wanted == "parquet" and output is None:
        raise UsageError("Parquet is written to files only", where="--format", hint="name one with -o")
    return wanted


def run_export(
    path: str | None,
    *,
    form: str,
    output: Path | None,
    wanted: frozenset[str],
    work: Work,
    external: bool,
) -> Exit:
    """Read the kernels of ``path``, or of the user's own caches, and write every fact of theirs."""
    form = export_format(form, output)
    failed = 0
    with (
        closing_store(work) as database,
        session(external=external, work=work, database=database) as run,
    ):
        loaded = run.load(path) if path is not None else run.load_defaults()
        with progress_bar("reading") as progress, _table(form, output) as write:
            reader = run.reader(canonical=False, wanted=wanted)
            for start in range(0, len(loaded.bundles), PART):
                progress(start, len(loaded.bundles))
                kernels = reader.read(loaded.bundles[start : start + PART])
                failed += sum(map(_is_incomplete, kernels))
                write(tuple(rows(kernels, run.registry.facts)))
                reader.release()
        troubles = [issue for issue in (*run.issues(), *loaded.issues) if issue.severity == "error"]
    if failed or troubles:
        what = f"{failed} of {len(loaded.bundles)} kernels" if failed else troubles[0].message
        sys.stderr.write(f"note: not everything could be read: {what}; irdiff show says why\n")
        return Exit.UNSURE
    return Exit.OK


def _is_incomplete(kernel: Kernel) -> bool:
    issues = [issue for reading in kernel.readings.values() for issue in reading.issues]
    return any(issue.severity == "error" for issue in (*kernel.issues, *issues))


@contextmanager
def _table(form: str, output: Path | None) -> Iterator[Write]:
    """What takes the rows, part by part; the file is there when all are in it."""
    if output is None:
        lines = csv_lines if form == "csv" else json_lines
        if form == "csv":
            emit(csv_header(), None)
        yield lambda part: emit(lines(part), None)
        return
    with whole_file(output) as file:
        if form == "parquet":
            from irdiff.present.parquet import ParquetTable

            with ParquetTable(file) as table:
                yield table.write
            return
        if form == "csv":
            file.write(csv_header())
        lines = csv_lines if form == "csv" else json_lines

        def write(part: Sequence[FactRow]) -> None:
            file.write(lines(part))

        yield write
