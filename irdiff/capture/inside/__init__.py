"""Runs inside a user's process: writes down each kernel that Triton compiles, with its specialization, as it happens.

Imports nothing of irdiff, and Triton and torch only when the program does: it wraps ``triton.compile`` (every Triton
from 3.0 on goes through it, and so does Inductor), what loads a kernel, and the autotuners, right after they were
imported. Python 3.8 and newer. Nothing here may disturb the program: what goes wrong becomes an event too.
Without a GPU (``target`` in ``capture.json``) Triton and torch get stand-ins for the device as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from .autotuning import watch_autotuner, watch_inductor
from .compiler import watch_compiler
from .imports import Imports, both
from .recorder import Recorder

INTERPRETED = ("1", "true", "on", "yes", "y")
"""What TRITON_INTERPRET may hold to be on: ``triton/knobs.py``, 3.6."""


def start(folder: str) -> None:
    """Begin: hooks that run around the code of the modules of interest."""
    recorder = Recorder(folder)

    def refuse() -> None:
        refuse_interpreter(recorder)

    # The second is imported by each kernel that is to be interpreted.
    before = {"triton": refuse, "triton.runtime.interpreter": refuse}
    hooks: dict[str, Callable[[Any], None]] = {
        "triton.compiler.compiler": lambda module: watch_compiler(recorder, module),
        "triton.runtime.autotuner": lambda module: watch_autotuner(recorder, module),
        "torch._inductor.runtime.triton_heuristics": lambda module: watch_inductor(recorder, module),
    }
    if recorder.settings.get("target"):
        from . import stand_in

        more = stand_in.hooks(recorder)
        # Those of the stand-in first: the recorder wraps what it finds.
        hooks = {name: both(more.get(name), hooks.get(name)) for name in {**hooks, **more}}
    sys.meta_path.insert(0, Imports(recorder, before, hooks))


def refuse_interpreter(recorder: Recorder) -> None:
    """Under TRITON_INTERPRET nothing is compiled. SystemExit, so that no ``except Exception`` goes on without."""
    if os.environ.get("TRITON_INTERPRET", "").lower() in INTERPRETED:
        recorder.tell("interpreted")
        text = "the program set TRITON_INTERPRET: kernels would be interpreted, not compiled"
        raise SystemExit(f"irdiff: {text}")
