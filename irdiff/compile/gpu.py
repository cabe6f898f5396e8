"""The GPU that is here, as the Triton of a worker names it."""

from __future__ import annotations

import selectors
import time
from collections.abc import Mapping
from pathlib import Path

from irdiff.compile.process import START_LIMIT, WorkerProcess, no_triton
from irdiff.compile.protocol import ASK_GPU, Event, Gpu, ProtocolError, Unavailable
from irdiff.compile.targets import CHOICES
from irdiff.errors import ToolError, UsageError
from irdiff.model.bundle import Target


def find_gpu(python: str, log: Path, environment: Mapping[str, str]) -> Target:
    """The target of the GPU that is here, as its Triton names it. Raises UsageError where there is none."""
    worker = WorkerProcess(python, log, environment)
    try:
        hello = _wait(worker, python)
        if isinstance(hello, Unavailable):
            raise no_triton(hello, python)
        worker.send(ASK_GPU)
        answer = _wait(worker, python)
    except ProtocolError as error:
        raise ToolError(f"the worker {error}", where=python, hint="is this a Python interpreter?") from None
    finally:
        worker.kill()
    if isinstance(answer, Gpu) and answer.reason is None:
        return Target(backend=answer.backend, arch=answer.arch)
    reason = answer.reason if isinstance(answer, Gpu) else None
    raise UsageError(
        f"no target is named and Triton finds no GPU here ({reason})",
        where="--target",
        hint=f"compiling needs no GPU; name one of {CHOICES}",
    )


def _wait(worker: WorkerProcess, python: str) -> Event:
    """The next event of a worker."""
    deadline = time.monotonic() + START_LIMIT
    with selectors.DefaultSelector() as selector:
        selector.register(worker, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            for event in worker.events():
                if event is None:
                    raise ToolError(f"the worker {worker.died()}", where=python)
                return event
    raise ToolError(f"the worker said nothing for {START_LIMIT:g} s", where=python)
