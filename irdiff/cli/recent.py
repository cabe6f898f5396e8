"""``irdiff recent``: the newest compilations, to compare the last two after an edit."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from irdiff.cli.exit_codes import Exit
from irdiff.cli.session import Session, session
from irdiff.errors import InputError, UsageError
from irdiff.sources import Loaded
from irdiff.sources.recent import recent


def load_recent(run: Session, path: str | None) -> Loaded:
    """The kernels of a path, or of the user's own caches. Raises InputError where there are none."""
    return run.load(path) if path is not None else run.load_defaults()


def run_recent(kernel: str | None, path: str | None, *, limit: int, external: bool) -> Exit:
    """Print the newest compilations, the newest first."""
    from irdiff.present.terminal import console_for, grid

    with session(external=external) as run:
        try:
            loaded = load_recent(run, path)
        except InputError:
            if path is None and kernel is not None and Path(kernel).is_dir():
                raise UsageError("is a folder", where=kernel, hint=f"irdiff recent --in {kernel}") from None
            raise
    console = console_for(sys.stdout)
    now = time.time()
    rows = [
        [_age(now - bundle.modified), bundle.name, str(bundle.target or "?"), bundle.path]
        for bundle in recent(loaded.bundles, kernel, limit=limit)
    ]
    grid(rows, console, header=["age", "kernel", "target", "entry"])
    return Exit.OK


def _age(seconds: float) -> str:
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {word}"
    return f"{max(seconds, 0):.0f} s"
