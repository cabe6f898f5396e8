"""What is pretended to be there where no GPU is, and how what needs a real one is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .recorder import Recorder

# fmt: off
PROCESSORS = {
    "75": 40, "80": 108, "86": 84, "87": 16, "89": 142, "90": 132, "100": 148, "110": 20, "120": 188, "121": 48,
    "gfx90a": 110, "gfx942": 304, "gfx950": 256, "gfx1100": 96,
}
"""Multiprocessors, or compute units, of one product each (A100, H100 SXM, B200, MI300X, ...)."""
SHARED = {
    "75": 65536, "80": 166912, "86": 101376, "87": 166912, "89": 101376, "90": 232448, "100": 232448,
    "103": 232448, "110": 232448, "120": 101376, "121": 101376, "gfx950": 163840,
}
"""Bytes of shared memory that one CTA may have, where it is not 64 KiB."""
# fmt: on


class NeedsGpuError(RuntimeError):
    """Something that has no meaning where nothing is executed."""


class Stand:
    """What is pretended to be there."""

    def __init__(self, recorder: Recorder) -> None:
        target = recorder.settings["target"]
        self.recorder = recorder
        self.backend, self.arch, self.warp_size = target["backend"], target["arch"], target["warp_size"]
        self.name = f"{self.backend}:{self.arch}"
        self.told = False

    @property
    def capability(self) -> tuple[int, int]:
        """As torch gives it; for AMD gfx942 is (9, 4)."""
        digits = self.arch[3:] if self.backend == "hip" else self.arch
        digits = digits if self.backend == "cuda" else digits[:-1]
        return int(digits[:-1]), int(digits[-1], 16)

    def processors(self) -> int:
        """How many the device has: differs between products of one architecture, so said when a program asks."""
        value = PROCESSORS.get(self.arch)
        if value is None:
            raise NeedsGpuError(f"the number of multiprocessors of {self.name} is not known without a GPU")
        if not self.told:
            self.told = True
            self.recorder.tell("assumed", what="multi_processor_count", value=value)
            sys.stderr.write(
                f"irdiff: the program asks for multi_processor_count: {value} assumed for {self.name}\n"
            )
        return value

    @property
    def shared(self) -> int:
        """Bytes of shared memory that one CTA may have."""
        return SHARED.get(self.arch, 65536)


def refuse(what: str, why: str) -> Callable[..., Any]:
    """A function that cannot work here."""

    def refused(*arguments: Any, **named: Any) -> Any:
        raise NeedsGpuError(f"{what} {why}")

    return refused
