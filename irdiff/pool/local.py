"""Workers on this machine: processes of their own, spawned, each with one batch in work and one waiting.

A worker that ends on a batch is replaced and the batch done again, artifact by artifact; an artifact on which a
worker ends once more is an issue, and everything else is still read. Nothing of a worker is shared: no file, no lock,
no store. See docs/adr/0010-store-and-pool.md for why they are spawned.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import msgspec

from irdiff.engine.unit import Answer, Batch
from irdiff.engine.work import lost
from irdiff.pool.frames import answers_of, batch_bytes, read_frame, write_frame

START = "import sys; sys.path[:] = sys.argv[1:]; from irdiff.pool.worker import main; main()"
"""Not ``-m``, which would look for modules in the folder that irdiff is called in."""
GRACE = 2.0
"""Seconds that a worker has to end the programs it started."""


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


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

    def run(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch, Sequence[Answer]]]:
        """Each batch with its answers, as they are done; two batches for each worker are in memory."""
        done: queue.SimpleQueue[tuple[Batch, Sequence[Answer]] | BaseException | None] = queue.SimpleQueue()
        source = _Source(batches)
        threads = [
            threading.Thread(target=self._serve, args=(source, done), daemon=True)
            for _ in range(self.workers)
        ]
        for thread in threads:
            thread.start()
        running = len(threads)
        try:
            while running:
                found = done.get()
                if found is None:
                    running -= 1
                elif isinstance(found, BaseException):
                    raise found
                else:
                    yield found
        except BaseException:
            self.close()
            raise
        finally:
            source.end()

    def close(self) -> None:
        """End every worker, with the programs it started."""
        with self._lock:
            self._closed = True
            workers, self._all, self._idle = list(self._all), set(), []
        for worker in workers:
            worker.ask_to_end()
        for worker in workers:
            worker.end()

    def _serve(
        self, source: _Source, done: queue.SimpleQueue[tuple[Batch, Sequence[Answer]] | BaseException | None]
    ) -> None:
        """Hand batches to one worker until there are no more."""
        try:
            batch = source.next()
            while batch is not None:
                worker = self._worker()
                following: Batch | None = None
                try:
                    worker.send(batch)
                    following = source.next()
                    answers: Sequence[Answer] = worker.answers(len(batch.items))
                    self._give_back(worker)
                except WorkerEndedError as error:
                    self._lost(worker, str(error), batch)
                    answers = self._again(batch)
                    following = following or source.next()
                done.put((batch, answers))
                batch = following
        except BaseException as error:  # noqa: BLE001  # raised again where the results are awaited
            done.put(error)
        else:
            done.put(None)

    def _again(self, batch: Batch) -> list[Answer]:
        """Each artifact of a batch on its own; one on which a worker ends again is an issue."""
        answers: list[Answer] = []
        for item in batch.items:
            if self._closed:
                raise WorkerEndedError("closed")
            worker = self._worker()
            try:
                worker.send(msgspec.structs.replace(batch, items=(item,)))
                answers += worker.answers(1)
                self._give_back(worker)
            except WorkerEndedError as error:
                self._lost(worker, "", batch)
                message = f"the process that read it {error}, twice"
                answers.append(
                    Answer.of(lost(item, message, "report it with this file; --jobs 1 shows more of it"))
                )
        return answers

    def _worker(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise WorkerEndedError("closed")
            if self._idle:
                return self._idle.pop()
            worker = _Worker()
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
            what = batch.items[0].location if len(batch.items) == 1 else f"{len(batch.items)} artifacts"
            self._complain(f"a worker process {how} while it read {what}; they are read once more")


class _Source:
    """An iterator that several threads take from."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches
        self._lock = threading.Lock()
        self._ended = False

    def next(self) -> Batch | None:
        """The next batch, or None."""
        with self._lock:
            if self._ended:
                return None
            found = next(self._batches, None)
            self._ended = found is None
            return found

    def end(self) -> None:
        """Give out nothing more."""
        self._ended = True


class _Worker:
    """One process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter, an argument list
            [sys.executable, "-c", START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def send(self, batch: Batch) -> None:
        """Hand it a batch. Raises WorkerEndedError."""
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, batch_bytes(batch))
        except OSError:
            raise self._ended() from None

    def answers(self, count: int) -> list[Answer]:
        """Wait for its answers. Raises WorkerEndedError."""
        assert self._process.stdout is not None
        try:
            return answers_of(read_frame(self._process.stdout), count)
        except (OSError, ValueError, EOFError):
            raise self._ended() from None

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
