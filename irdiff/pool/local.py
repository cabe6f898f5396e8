"""Workers on this machine: processes of their own, spawned, each with one batch in work and one waiting.

A worker that ends on a batch is replaced and the batch done again, one by one; an artifact on which a worker ends
once more is an issue, a pair of kernels is left to whoever sent it, and everything else is still done. Nothing of a
worker is shared: no file, no lock,
no store. See docs/adr/0010-store-and-pool.md for why they are spawned.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain

from irdiff.engine.shares import Shares
from irdiff.engine.unit import Answer, Batch, Line, Meanwhile, Settings
from irdiff.engine.workshop import lost
from irdiff.pool.frames import batch_bytes, read_frame, settings_bytes, some_answers_of, write_frame
from irdiff.pool.running import Done, Running, Waiting

_PATH = "import sys; sys.path[:] = sys.argv[1:]; "
START = (
    f"{_PATH}from irdiff.lean import import_msgspec; import_msgspec(); "
    "from irdiff.pool.worker import main; main()"
)
"""Not ``-m``, which would look for modules in the folder that irdiff is called in."""
_FINDERS = frozenset({"_frozen_importlib", "_frozen_importlib_external", "_distutils_hack"})
"""Where the finders of modules are made that every Python has; that of setuptools finds distutils alone."""
AHEAD = 2
"""Batches taken for each worker: one that it does and one that waits."""
GRACE = 2.0
"""Seconds that a worker has to end the programs it started."""


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def started_with() -> list[str]:
    """Arguments of Python, before the module path.

    What sites set up at the start of Python takes a third of a worker's start, and is mostly that path. It is left out
    unless modules are found in another way too: an installation for editing may have a finder of its own.
    """
    if needs_site():
        return ["-c", START]
    own = [name for name in ("sitecustomize", "usercustomize") if name in sys.modules]
    return ["-S", "-c", START.replace(_PATH, _PATH + "".join(f"import {name}; " for name in own))]


def needs_site() -> bool:
    """Whether modules may be found by more than the module path, which workers are given."""
    finders = {getattr(each, "__module__", type(each).__module__) for each in sys.meta_path}
    return not finders <= _FINDERS


class WorkerEndedError(Exception):
    """A worker ended before it answered."""


class LocalPool:
    """An Executor of ``workers`` processes, started when there is something to read."""

    def __init__(self, workers: int, *, complain: Callable[[str], None] = lambda text: None) -> None:
        """``complain`` is told of every worker that ended on its own, from any thread."""
        self.workers = workers
        self._complain = complain
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._running: Running | None = None
        """What was begun for the next ``run``."""
        self._folder = ""
        """Of all files that workers make while they work: one that is killed leaves none."""

    @property
    def ready(self) -> bool:
        """Whether there are workers."""
        return bool(self._all)

    def start(self, settings: Settings, *, most: int | None = None) -> None:
        """Start workers now, as many as ``run`` would: they load plugins while this process does something else."""
        count = min(self.workers, most or self.workers)
        with self._lock:
            started = [_Worker(settings, self._place()) for _ in range(count - len(self._all))]
            self._all.update(started)
            self._idle += started

    def run(
        self, lines: Sequence[Line], *, most: int | None = None, meanwhile: Meanwhile | None = None
    ) -> Iterator[tuple[Batch, Sequence[Answer]]]:
        """Each batch with its answers, as they are done; few batches for each worker are in memory.

        Batches are taken in the thread of the caller, so what makes them may use what is bound to it; ``meanwhile`` is
        called there too.
        """
        running = self._running or Running(self._serve)
        self._running = None
        workers = min(self.workers, max(most or self.workers, len(self._all), 1))
        shares = Shares(lines)
        try:
            while True:
                for depth in range(AHEAD):
                    for number in range(workers):
                        batch = shares.next(number) if running.takes(number, depth) else None
                        if batch is not None:
                            running.give(number, batch)
                if not running.waits:
                    return
                yield running.next(meanwhile)
        except BaseException:
            self.close()
            raise
        finally:
            running.end()

    def begin(self, batch: Batch) -> bool:
        """Have a batch done by a worker that is there and has nothing to do; the next ``run`` answers it."""
        self._running = running = self._running or Running(self._serve)
        free = [number for number in range(len(self._all)) if running.takes(number, 0)]
        if free:
            running.give(free[0], batch)
        return bool(free)

    def close(self) -> None:
        """End every worker, with the programs it started."""
        with self._lock:
            self._closed = True
            workers, self._all, self._idle = list(self._all), set(), []
        running, self._running = self._running, None
        if running is not None:
            running.end()
        try:
            for worker in workers:
                worker.ask_to_end()
            for worker in workers:
                worker.end()
        finally:
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _place(self) -> str:
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="irdiff-workers-")
        return self._folder

    def _serve(self, number: int, waiting: Waiting, done: Done) -> None:
        """Hand batches to one worker until there are no more."""
        worker: _Worker | None = None
        try:
            while (batch := waiting.get()) is not None:
                worker = worker or self._worker(batch.settings)
                answered = 0
                try:
                    worker.send(batch)
                    for answers in worker.answers(batch.due):
                        part = batch.part(answered, len(answers))
                        answered += len(answers)
                        done.put((number, part, answers, answered == batch.due))
                except WorkerEndedError as error:
                    rest = batch.part(answered, batch.due)
                    self._lost(worker, str(error), rest)
                    worker = None
                    done.put((number, rest, self._again(rest), True))
        except BaseException as error:  # noqa: BLE001  # raised again where the results are awaited
            done.put(error)
        finally:
            if worker is not None:
                self._give_back(worker)

    def _again(self, batch: Batch) -> list[Answer]:
        """Everything in a batch on its own; what a worker ends on again is lost."""
        answers: list[Answer] = []
        for single in batch.singles():
            if self._closed:
                raise WorkerEndedError("closed")
            worker = self._worker(batch.settings)
            try:
                worker.send(single)
                answers += chain.from_iterable(worker.answers(1))
                self._give_back(worker)
            except WorkerEndedError as error:
                self._lost(worker, "", batch)
                message = f"the process that read it {error}, twice"
                answers.append(lost(single, message, "report it with this file; --jobs 1 shows more of it"))
        return answers

    def _worker(self, settings: Settings) -> _Worker:
        with self._lock:
            if self._closed:
                raise WorkerEndedError("closed")
            if self._idle:
                return self._idle.pop()
            worker = _Worker(settings, self._place())
            self._all.add(worker)
            return worker

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)

    def _lost(self, worker: _Worker, how: str, batch: Batch) -> None:
        with self._lock:
            self._all.discard(worker)
            closed = self._closed
        if how and not closed:
            self._complain(f"a worker process {how} on {batch.described()}; that is done once more")


class _Worker:
    """One process."""

    def __init__(self, settings: Settings, folder: str) -> None:
        """``folder`` is where it puts files that it needs for a while."""
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter, an argument list
            [sys.executable, *started_with(), *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "TMPDIR": folder},
        )
        assert self._process.stdin is not None
        with suppress(OSError):  # one that ended at once is told of when it is handed a batch
            write_frame(self._process.stdin, settings_bytes(settings))

    def send(self, batch: Batch) -> None:
        """Hand it a batch. Raises WorkerEndedError."""
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, batch_bytes(batch))
        except OSError:
            raise self._ended() from None

    def answers(self, count: int) -> Iterator[list[Answer]]:
        """So many answers, in their order and as they come. Raises WorkerEndedError."""
        assert self._process.stdout is not None
        while count:
            try:
                found = some_answers_of(read_frame(self._process.stdout), count)
            except (OSError, ValueError, EOFError):
                raise self._ended() from None
            count -= len(found)
            yield found

    def ask_to_end(self) -> None:
        """Say that it is not needed any more."""
        with suppress(OSError):
            self._process.terminate()

    def end(self) -> None:
        """See to it that it is gone."""
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _ended(self) -> WorkerEndedError:
        """How it ended, in words; whatever it still does is ended."""
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self.end()
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            return WorkerEndedError(f"was ended by {name}")
        return WorkerEndedError(f"ended with exit code {code}")
