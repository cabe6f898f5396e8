"""What the Triton of an interpreter says of itself, as ``irdiff compile`` asks it."""

from __future__ import annotations

import selectors
import time
from collections.abc import Mapping
from pathlib import Path

from irdiff.capture.entries import Compiler
from irdiff.compile.process import WorkerProcess
from irdiff.compile.protocol import Hello, ProtocolError, Unavailable
from irdiff.errors import ToolError

LIMIT = 120.0
"""Seconds."""


def ask_compiler(python: str, log: Path, environment: Mapping[str, str]) -> Compiler:
    """Release, build and LLVM of its Triton; empty where it has none: then the program has its own way to one."""
    try:
        worker = WorkerProcess(python, log, environment)
    except ToolError:
        return Compiler()
    try:
        deadline = time.monotonic() + LIMIT
        with selectors.DefaultSelector() as selector:
            selector.register(worker, selectors.EVENT_READ)
            while selector.select(max(0.0, deadline - time.monotonic())):
                for event in worker.events():
                    if isinstance(event, Hello):
                        return Compiler(
                            triton=event.triton,
                            build=event.build,
                            llvm=event.llvm,
                            python=event.python,
                            platform=event.platform,
                        )
                    if event is None or isinstance(event, Unavailable):
                        return Compiler()
    except ProtocolError:
        pass
    finally:
        worker.kill()
    return Compiler()
