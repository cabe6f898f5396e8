"""What a process that is to start quickly does first."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def import_msgspec() -> None:
    """Import msgspec without typing_extensions, which is a third of it: msgspec takes it for an old Python's sake."""
    loaded: dict[str, object] = sys.modules  # type: ignore[assignment]  # None reads as not installed
    if "msgspec" in loaded:
        return
    is_spare = sys.hexversion >= 0x030B0000 and "typing_extensions" not in loaded
    if is_spare:
        loaded["typing_extensions"] = None
    try:
        with _no_signals():
            import msgspec  # noqa: F401  # for those who import it later
    finally:
        if is_spare:
            del loaded["typing_extensions"]


@contextmanager
def _no_signals() -> Iterator[None]:
    """Let Ctrl-C and an end that is asked for wait: what they raise while msgspec is imported makes it crash later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
