"""A worker: reads batches from its standard input and answers on its standard output until the input ends.

It is started with the module path of the process that started it, loads the same plugins and finds the same tools.
Ctrl-C is for that process alone; what a plugin prints goes to standard error.
"""

from __future__ import annotations

import os
import signal
import sys

from irdiff.engine.unit import Settings
from irdiff.engine.work import Bench
from irdiff.plugins import load_plugins
from irdiff.pool.frames import answer_bytes, batch_of, read_frame, write_frame
from irdiff.tools.toolbox import LocalToolbox
from irdiff.user_facts import with_user_facts


def main() -> None:
    """Work until there is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    toolbox: LocalToolbox | None = None
    bench: Bench | None = None
    try:
        while True:
            try:
                batch = batch_of(read_frame(sys.stdin.buffer))
            except EOFError:
                return
            if bench is None:
                bench, toolbox = bench_of(batch.settings)
            write_frame(answers, answer_bytes(bench.read(batch.items)))
    except BrokenPipeError:
        return
    finally:
        if toolbox is not None:
            toolbox.close()


def bench_of(settings: Settings) -> tuple[Bench, LocalToolbox]:
    """What reads batches of these settings, and its tools, to be closed."""
    registry = load_plugins(external=settings.external, disabled=settings.disabled)
    registry = with_user_facts(registry, settings.declared, settings.declared_in)
    toolbox = LocalToolbox({tool.id: tool for tool in registry.tools}, os.environ)
    return Bench(registry, toolbox, settings), toolbox


def _stop(number: int, frame: object) -> None:
    """End as by an exit, so that a program that was started is ended too."""
    raise SystemExit(128 + number)
