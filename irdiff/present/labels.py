"""What kernels and places are called in every format."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath

import msgspec

from irdiff.model.gate import Judgement
from irdiff.model.report import Report


class Labels:
    """Names of kernels, with the target or the beginning of the entry where several are called the same."""

    def __init__(self, report: Report) -> None:
        everything = [(kernel.name, kernel.target) for kernel in report.kernels]
        everything += [(kernel.name, kernel.target) for kernel in (*report.added, *report.removed)]
        self._counts = Counter(name for name, _ in everything)
        self._for_target = Counter(everything)
        self._targets = {kernel.path: kernel.target for kernel in (*report.added, *report.removed)}
        for kernel in report.kernels:
            self._targets |= {kernel.path_before: kernel.target, kernel.path_after: kernel.target}

    def of(self, name: str, path: str | None) -> str:
        """``matmul_kernel``, ``matmul_kernel cuda:90``, or ``matmul_kernel::ABCDEFGH``."""
        if not path or self._counts[name] < 2:
            return name
        target = self._targets.get(path)
        if target is not None and self._for_target[name, target] == 1:
            return f"{name} {target}"
        return f"{name}::{PurePath(path).name[:8]}"


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
