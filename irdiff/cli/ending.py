"""How the program ends on an exception: what is said, and the exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys

from irdiff.cli.exit_codes import Exit
from irdiff.errors import IrdiffError, UsageError


class Terminated(BaseException):  # as KeyboardInterrupt: an end that was asked for
    """SIGTERM came."""


def end_on_sigterm() -> None:
    """From now on SIGTERM ends the program as Ctrl-C does: processes are ended, and the store is left whole."""
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


def ending(error: BaseException) -> int:
    """Say what happened and return the exit code. Lets what is none of ours through where IRDIFF_DEBUG is set."""
    if isinstance(error, Terminated):
        return Exit.TERMINATED
    if isinstance(error, KeyboardInterrupt):
        sys.stderr.write("interrupted\n")
        return Exit.INTERRUPTED
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.CLOSED_PIPE
    if isinstance(error, IrdiffError):
        from irdiff.cli.output import complain

        complain(error)
        return Exit.USAGE if isinstance(error, UsageError) else Exit.UNSURE
    if isinstance(error, OSError) and error.filename is None and _is_output(error):
        from irdiff.cli.output import complain

        complain(IrdiffError(f"cannot be written: {error.strerror or error}", where="standard output"))
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered has no place to go
        return Exit.UNSURE
    if os.environ.get("IRDIFF_DEBUG") or not isinstance(error, Exception):
        raise error
    sys.stderr.write(
        f"error: a fault in irdiff: {type(error).__name__}: {error}\n"
        "  IRDIFF_DEBUG=1 shows where; please report it with that output\n"
    )
    return Exit.INTERNAL


def _is_output(error: OSError) -> bool:
    """Whether standard output could not take what was said: a full disk, a closed descriptor."""
    return error.errno in (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT)
