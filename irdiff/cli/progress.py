"""A progress bar for whoever watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from irdiff.engine.summarize import Progress, no_progress


@contextmanager
def progress_bar(words: str) -> Iterator[Progress]:
    """A progress bar on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from irdiff.present.terminal import ProgressBar

    bar = ProgressBar(sys.stderr, words)
    try:
        yield bar
    finally:
        bar.close()
