"""Times of kernels as a profiler exports them: a CSV file with a column of names and one of times.

Read are ``nsys stats --report cuda_gpu_kern_sum --format csv`` (columns ``Name`` and ``Total Time (ns)``, a row for
each kernel), ``cuda_gpu_trace`` (``Name`` and ``Duration (ns)``, a row for each launch), tables of the PyTorch
profiler's ``key_averages()`` (``Name`` or ``key``, and ``Self CUDA`` or ``self_device_time_total``), and two columns
without a header: kernel, time. Only shares matter, so the unit does not; rows of one kernel are added up.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from irdiff.errors import InputError

NAMES = ("kernel", "name", "kernel name", "key", "kernel_name")
"""Headings of the column of names, in lower case."""
TIMES = (
    "time", "total time (ns)", "total time", "duration (ns)", "duration", "dur", "time (ns)", "time (us)", "time (ms)",
    "time_ns", "time_us", "time_ms", "self cuda", "self_device_time_total", "self_cuda_time_total", "device_time_total",
    "cuda_time_total", "cuda total",
)  # fmt: skip
"""Headings of the column of times, the best first: time in the kernel itself before time with what it calls."""
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
"""Units that a time may carry, as the PyTorch profiler prints them; a number without one stays as it is."""
LARGEST = 64 * 1024 * 1024
"""Bytes; a longer file is none that a profiler's summary writes."""


def read_times(data: bytes, where: str) -> dict[str, float]:
    """Kernel name to time. Raises InputError with the line of what cannot be read."""
    if len(data) > LARGEST:
        raise InputError("too large for a table of kernels", where=where, hint="export a summary by kernel")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8 text", where=f"{where}:{line}", hint="export it as CSV") from None
    rows = csv.reader(io.StringIO(text, newline=""))
    columns: tuple[int, int] | None = None
    times: dict[str, float] = {}
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if columns is None:
                columns = _header(row)
                if columns is not None:
                    continue
                columns = _without_header(row, f"{where}:{rows.line_num}")
            name, time = _row(row, columns, f"{where}:{rows.line_num}")
            times[name] = times.get(name, 0.0) + time
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", where=f"{where}:{rows.line_num}") from None
    total = sum(times.values())
    if not total or not math.isfinite(total):
        raise InputError("no kernel with a time", where=where, hint="two columns are needed: kernel and time")
    return times


def _header(row: Sequence[str]) -> tuple[int, int] | None:
    """The columns of name and time where the row names them."""
    headings = [cell.strip().lower() for cell in row]
    name = next((headings.index(word) for word in NAMES if word in headings), None)
    time = next((headings.index(word) for word in TIMES if word in headings), None)
    return (name, time) if name is not None and time is not None else None


def _without_header(row: Sequence[str], where: str) -> tuple[int, int]:
    if len(row) == 2:
        return 0, 1
    raise InputError(
        f"no column of kernels and one of times among {len(row)}: {', '.join(row)[:80]}",
        where=where,
        hint="name them in a header: kernel,time (or write just these two columns)",
    )


def _row(row: Sequence[str], columns: tuple[int, int], where: str) -> tuple[str, float]:
    if len(row) <= max(columns):
        raise InputError(
            f"{len(row)} columns, and the time is in column {columns[1] + 1}", where=where, hint="kernel,time"
        )
    name, text = row[columns[0]].strip(), row[columns[1]].strip()
    if not name:
        raise InputError("no kernel name", where=where, hint="kernel,time")
    unit = next(
        (unit for unit in UNITS if text.endswith(unit) and text[: -len(unit)].strip()[-1:].isdigit()), ""
    )
    digits = text.removesuffix(unit).strip().replace(",", "")
    try:
        time = float(digits) * UNITS.get(unit, 1.0)
    except ValueError:
        time = math.nan
    if not math.isfinite(time) or time < 0:
        raise InputError(f"no time: {text[:40]!r}", where=where, hint="a number that is not negative")
    return name, time
