"""A worker: does batches from its standard input and answers on its standard output until the input ends.

It is started with the module path of the process that started it, loads the same plugins and finds the same tools.
Ctrl-C is for that process alone; what a plugin prints goes to standard error.
"""

from __future__ import annotations

import os
import signal
import sys

from irdiff.engine.unit import Settings
from irdiff.engine.workshop import Workshop
from irdiff.plugins import load_plugins
from irdiff.pool.frames import answer_bytes, batch_of, read_frame, settings_of, write_frame
from irdiff.tools.toolbox import LocalToolbox
from irdiff.user_facts import with_user_facts


def main() -> None:
    """Work until there is no more, and be gone at once: an interpreter that takes itself apart is waited for."""
    try:
        _work()
    except SystemExit:
        os._exit(1)
    os._exit(0)


def _work() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    toolbox: LocalToolbox | None = None
    try:
        workshop, toolbox = workshop_of(settings_of(read_frame(sys.stdin.buffer)))
        while True:
            batch = batch_of(read_frame(sys.stdin.buffer))
            for part in workshop.parts(batch):
                write_frame(answers, answer_bytes(part))
    except (EOFError, BrokenPipeError):
        return
    finally:
        if toolbox is not None:
            toolbox.close()


def workshop_of(settings: Settings) -> tuple[Workshop, LocalToolbox]:
    """What does batches of these settings, and its tools, to be closed."""
    registry = load_plugins(external=settings.external, disabled=settings.disabled)
    registry = with_user_facts(registry, settings.declared, settings.declared_in)
    toolbox = LocalToolbox({tool.id: tool for tool in registry.tools}, os.environ)
    return Workshop(registry, toolbox, settings), toolbox


def _stop(number: int, frame: object) -> None:
    """End as by an exit, so that a program that was started is ended too."""
    raise SystemExit(128 + number)
