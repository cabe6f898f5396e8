"""Damages artifacts at random, and limits the time their reading may take: for tests of parsers."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


def damage(data: bytes, chance: random.Random) -> tuple[str, bytes]:
    """One random damage: what was done, and the result."""
    if not data:
        return "empty", data
    place = chance.randrange(len(data))
    how = chance.choice(("cut", "flipped", "zeros", "doubled", "swapped"))
    length = chance.randrange(1, 65)
    piece = data[place : place + length]
    if how == "cut":
        return f"cut to {place} bytes", data[:place]
    if how == "flipped":
        bit = 1 << chance.randrange(8)
        return f"bit {bit} of byte {place} flipped", data[:place] + bytes([data[place] ^ bit]) + data[
            place + 1 :
        ]
    if how == "zeros":
        return f"zeros from {place}", data[:place] + bytes(len(piece)) + data[place + length :]
    if how == "doubled":
        return f"{len(piece)} bytes at {place} doubled", data[:place] + piece + data[place:]
    other = chance.randrange(len(data))
    return f"{len(piece)} bytes of {place} put at {other}", data[:other] + piece + data[other + length :]


class _TooSlow(BaseException):
    """Not an Exception: a stage that catches those must not catch this."""


@contextmanager
def time_limit(seconds: float, label: str) -> Iterator[None]:
    """Fail where the body takes longer; it is interrupted where signals allow that (main thread, POSIX)."""
    interrupts = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()

    def stop(number: int, frame: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, stop) if interrupts else None
    started = time.monotonic()
    try:
        if interrupts:
            signal.setitimer(signal.ITIMER_REAL, 2 * seconds)
        yield
    except _TooSlow:
        raise AssertionError(f"{label}: still reading after {2 * seconds:g} s") from None
    finally:
        if interrupts:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    took = time.monotonic() - started
    assert took <= seconds, f"{label}: took {took:.1f} s, more than {seconds:g} s"
