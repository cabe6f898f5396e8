"""Running one program: no shell, no input, a time limit for its whole process group, an output limit."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING

from irdiff.errors import ToolError
from irdiff.model.tools import ToolResult

if TYPE_CHECKING:
    import subprocess

OUTPUT_LIMIT = 512 * 1024 * 1024
"""Bytes of output (stdout and stderr together) after which a program is stopped."""

CHUNK = 1 << 20


def run_limited(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    timeout: float,
    output_limit: int = OUTPUT_LIMIT,
) -> ToolResult:
    """Run ``arguments[0]`` with the rest as its arguments.

    Raises ToolError when it cannot be started, runs longer than ``timeout`` seconds or writes more than
    ``output_limit`` bytes. In each of these cases its process group is killed.
    """
    import subprocess  # a run that needs no program imports nothing for it

    name = arguments[0]
    try:
        process = subprocess.Popen(  # noqa: S603  # an argument list, never a shell
            list(arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"cannot be started: {error}", where=name) from error
    assert process.stdout is not None
    assert process.stderr is not None
    deadline = time.monotonic() + timeout
    try:
        with process.stdout, process.stderr:
            stdout, stderr = _collect(process.stdout, process.stderr, deadline, output_limit, name)
        returncode = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise _too_long(name, timeout) from error
    except _DeadlineError as error:
        raise _too_long(name, timeout) from error
    finally:
        _end(process)
    return ToolResult(returncode=returncode, stdout=stdout, stderr=stderr)


class _DeadlineError(Exception):
    """The time limit passed while output was awaited."""


def _too_long(name: str, timeout: float) -> ToolError:
    return ToolError(f"did not end within {timeout:g} s", where=name)


def _collect(
    stdout: IO[bytes], stderr: IO[bytes], deadline: float, limit: int, name: str
) -> tuple[bytes, bytes]:
    import selectors

    parts: dict[int, list[bytes]] = {stdout.fileno(): [], stderr.fileno(): []}
    size = 0
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        selector.register(stderr, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise _DeadlineError
            for key, _ in selector.select(left):
                data = os.read(key.fd, CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                size += len(data)
                if size > limit:
                    raise ToolError(f"wrote more than {limit:,} bytes", where=name)
                parts[key.fd].append(data)
    return b"".join(parts[stdout.fileno()]), b"".join(parts[stderr.fileno()])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group and reap it, unless it ended well.

    A process that was waited for is left alone: its number, and so its group's, may be another's by now.
    """
    import subprocess

    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
