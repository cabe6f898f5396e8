"""One worker process: start it, feed it, read its events, end it with everything it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from irdiff.compile.protocol import MAX_LINE, Event, ProtocolError, Unavailable, decode_event
from irdiff.errors import ToolError

SCRIPT = Path(__file__).with_name("worker.py")
CHUNK = 1 << 16
START_LIMIT = 300.0
"""Seconds in which a worker must say hello: importing Triton may read a cold disk."""
DROPPED = frozenset(
    {"TRITON_INTERPRET", "TRITON_CACHE_MANAGER", "TRITON_CACHE_DIR", "TRITON_REMOTE_CACHE_BACKEND"}
)
"""Variables of the user that a worker must not see: there kernels are interpreted, or entries go elsewhere."""
ADDED = {
    "PYTHONDONTWRITEBYTECODE": "1",  # leaves nothing beside the user's files
    "PYTHONUNBUFFERED": "1",
    "PYTHONIOENCODING": "utf-8",
    "TRITON_DUMP_PTXAS_LOG": "1",  # Triton 3.4 and newer print the log of ptxas -v; no part of the cache key
}


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a worker. The order of sets is fixed, unless the user fixed it."""
    kept = {name: value for name, value in environment.items() if name not in DROPPED}
    return {"PYTHONHASHSEED": "0", **kept, **ADDED}


class NoTritonError(ToolError):
    """The interpreter has no Triton that can be used."""


class WorkerProcess:
    """A running worker. Its log holds all that was printed in it; its temporary files lie beside the log."""

    def __init__(self, python: str, log: Path, environment: Mapping[str, str]) -> None:
        """Start it. Raises ToolError where that is impossible."""
        self.log = log
        try:
            temporary = log.with_suffix(".tmp")  # Triton removes its files there, unless it is killed
            temporary.mkdir(exist_ok=True)
            with log.open("wb") as file:
                self._process = subprocess.Popen(  # noqa: S603  # an argument list, never a shell
                    [python, str(SCRIPT)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=file,
                    env={**worker_environment(environment), "TMPDIR": str(temporary)},
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise ToolError(
                f"cannot be started: {reason}", where=python, hint="--python names a Python interpreter"
            ) from None
        assert self._process.stdout is not None
        self._pending = b""
        self._job_start = 0
        os.set_blocking(self._process.stdout.fileno(), False)

    def fileno(self) -> int:
        """For a selector: readable when there are events or it ended."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, line: bytes) -> None:
        """Give it a job. Where it is gone already, reading finds that out."""
        self._job_start = self.log.stat().st_size
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def events(self) -> Iterator[Event | None]:
        """What it said since; ``None`` at the end of its output. Raises ProtocolError."""
        while True:
            try:
                data = os.read(self.fileno(), CHUNK)
            except BlockingIOError:
                return
            if not data:
                if self._pending:
                    raise ProtocolError("ended in the middle of a message")
                yield None
                return
            *lines, self._pending = (self._pending + data).split(b"\n")
            if len(self._pending) > MAX_LINE:
                raise ProtocolError(f"wrote a message of more than {MAX_LINE:,} bytes")
            for line in lines:
                yield decode_event(line)

    def printed(self, *, most: int = 1 << 20) -> str:
        """The last bytes of what was printed since the job began."""
        try:
            with self.log.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(self._job_start, size - most))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def died(self) -> str:
        """How it ended, in words; it is waited for at most ten seconds."""
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if code >= 0:
            return f"ended with exit code {code}"
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"

    def kill(self) -> None:
        """End it and all it started, and reap it."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def no_triton(event: Unavailable, python: str) -> NoTritonError:
    """The error that says how to get one."""
    if event.missing and event.platform.startswith("linux"):
        hint = "pip install 'irdiff[compile]', or name an interpreter that has it with --python"
        return NoTritonError("Triton is not installed", where=python, hint=hint)
    if event.missing:
        hint = "Triton has wheels for Linux alone: compile there, and compare here"
        return NoTritonError("there is no Triton", where=python, hint=hint)
    return NoTritonError(f"Triton cannot be imported: {event.reason}", where=python, hint="reinstall it")
