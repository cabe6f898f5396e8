"""What kernels and places are called in every format."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath

import msgspec

from irdiff.model.gate import Judgement
from irdiff.model.report import Report


class Labels:
    """Names of kernels, with the beginning of the entry where several in the report are called the same."""

    def __init__(self, report: Report) -> None:
        self._counts = Counter(kernel.name for kernel in report.kernels)
        self._counts.update(kernel.name for kernel in (*report.added, *report.removed))

    def of(self, name: str, path: str | None) -> str:
        """``matmul_kernel``, or ``matmul_kernel::ABCDEFGH``."""
        return f"{name}::{PurePath(path).name[:8]}" if path and self._counts[name] > 1 else name


def others(count: int) -> str:
    """`` (and 5 more)``."""
    return f" (and {count:,} more)" if count else ""


def judged(report: Report) -> Judgement | None:
    """What the gate decided; None for a comparison without one."""
    return None if isinstance(report.judgement, msgspec.UnsetType) else report.judgement


def place_of(source: str) -> tuple[str, int | None]:
    """``attn.py:88`` as file and line; None for a line that is none."""
    path, _, line = source.rpartition(":")
    return (path, int(line)) if path and line.isdecimal() and int(line) > 0 else (source, None)
