"""Jobs over worker processes: a time limit each, a dead worker replaced, results in the order of the plan."""

from __future__ import annotations

import selectors
import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Literal

from irdiff.compile.output import OutputTree
from irdiff.compile.plan import Job, lacks_release, lacks_target
from irdiff.compile.process import START_LIMIT, WorkerProcess, no_triton
from irdiff.compile.protocol import (
    Event,
    Hello,
    Outcome,
    ProtocolError,
    StageBegan,
    Unavailable,
    ask_compile,
)
from irdiff.compile.record import Entry, Failure
from irdiff.compile.results import (
    Result,
    Results,
    entry_of,
    failure_of,
    lost,
    over_limits,
    read_metadata,
    result_of,
    skipped,
)
from irdiff.errors import ToolError

IDLE_DEATHS = 3
"""Workers that may end without a job before this is given up."""


class _Slot:
    """One worker and what it is doing."""

    def __init__(self, worker: WorkerProcess, deadline: float) -> None:
        self.worker = worker
        self.hello: Hello | None = None
        self.job: int | None = None
        self.stage: str | None = None
        self.began = time.monotonic()
        self.deadline: float | None = deadline


class Pool:
    """One run over a list of jobs."""

    def __init__(
        self,
        jobs: list[Job],
        tree: OutputTree,
        python: str,
        environment: Mapping[str, str],
        *,
        workers: int,
        timeout: float,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self._jobs = jobs
        self._tree = tree
        self._python = python
        self._environment = environment
        self._count = workers
        self._timeout = timeout
        self._progress = progress
        self._results: dict[int, Result] = {}
        self._pending: deque[int] = deque()
        self._slots: list[_Slot] = []
        self._started = 0
        self._idle_deaths = 0
        self._known: dict[str, Entry] = {}
        self._hello: Hello | None = None

    def run(self) -> Results:
        """Do all jobs. Raises ToolError where no worker can be started, NoTritonError where there is no Triton."""
        for number, job in enumerate(self._jobs):
            reason = lacks_target(job)
            if reason is None:
                self._pending.append(number)
            else:
                self._finish(number, skipped(job, reason))
        self._known = self._tree.known()
        with selectors.DefaultSelector() as selector:
            try:
                for _ in range(min(self._count, len(self._pending))):
                    self._start(selector)
                while self._slots:
                    self._step(selector)
            finally:
                for slot in self._slots:
                    slot.worker.kill()
        self._tree.tidy()
        return Results(
            output=str(self._tree.folder),
            triton=self._hello.triton if self._hello else None,
            results=tuple(self._results[number] for number in range(len(self._jobs))),
        )

    def _start(self, selector: selectors.BaseSelector) -> None:
        log = self._tree.work / f"worker-{self._started}.log"
        self._started += 1
        slot = _Slot(WorkerProcess(self._python, log, self._environment), time.monotonic() + START_LIMIT)
        self._slots.append(slot)
        selector.register(slot.worker, selectors.EVENT_READ, slot)

    def _step(self, selector: selectors.BaseSelector) -> None:
        """Wait for the next thing to happen and deal with it."""
        deadlines = [slot.deadline for slot in self._slots if slot.deadline is not None]
        wait = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        for key, _ in selector.select(wait):
            slot: _Slot = key.data
            try:
                for event in slot.worker.events():
                    if event is None:
                        self._ended(slot, selector)
                        break
                    self._heard(slot, event, selector)
                    if slot not in self._slots:
                        break
            except ProtocolError as error:
                self._gone(slot, "worker", f"the worker process {error}", selector)
        now = time.monotonic()
        for slot in [slot for slot in self._slots if slot.deadline is not None and slot.deadline <= now]:
            if slot.hello is None:
                raise ToolError(f"the worker said nothing for {START_LIMIT:g} s", where=self._python)
            self._gone(slot, "timeout", f"was stopped after {self._timeout:g} s", selector)

    def _heard(self, slot: _Slot, event: Event, selector: selectors.BaseSelector) -> None:
        if isinstance(event, Unavailable):
            raise no_triton(event, self._python)
        if isinstance(event, Hello) and slot.hello is None:
            slot.hello = event
            self._hello = self._hello or event
        elif isinstance(event, StageBegan) and event.job == slot.job:
            slot.stage = event.stage
            return
        elif isinstance(event, Outcome) and event.job == slot.job:
            self._done(slot, event)
        else:
            raise ProtocolError("said something that nobody asked for")
        self._next(slot, selector)

    def _next(self, slot: _Slot, selector: selectors.BaseSelector) -> None:
        """Give an idle worker its next job, or let it go."""
        assert slot.hello is not None
        slot.job, slot.stage, slot.deadline = None, None, None
        while self._pending:
            number = self._pending.popleft()
            job = self._jobs[number]
            reason = lacks_release(job, slot.hello.triton)
            if reason is not None:
                self._finish(number, skipped(job, reason))
                continue
            known = self._known.get(job.key(slot.hello.build or slot.hello.triton, slot.hello.environment))
            if known is not None and job.kind != "python":
                self._unchanged(number, known)
                continue
            slot.job, slot.began = number, time.monotonic()
            slot.deadline = slot.began + self._timeout
            cache = self._tree.cache(number)
            slot.worker.send(
                ask_compile(number, job, str(cache), known.source.dependencies if known else None)
            )
            return
        self._release(slot, selector)

    def _done(self, slot: _Slot, outcome: Outcome) -> None:
        number = outcome.job
        job, hello = self._jobs[number], slot.hello
        assert hello is not None
        cache = self._tree.work / f"job-{number}"
        if outcome.status == "unchanged":
            self._unchanged(number, self._known[job.key(hello.build or hello.triton, hello.environment)])
        elif outcome.status == "failed":
            self._failed(number, hello, outcome, failure_of(job, outcome, slot.worker.printed()))
        else:
            made = self._tree.made(cache)
            if made is None:
                message = "Triton reported success and left no entry"
                self._failed(number, hello, outcome, Failure(kind="worker", message=message))
            else:
                entry = entry_of(job, hello, outcome, made, over_limits(job, made))
                shared = read_metadata(made).number("shared")
                self._tree.place(made, entry)
                self._finish(number, result_of(job, entry, shared=shared))
        shutil.rmtree(cache, ignore_errors=True)

    def _unchanged(self, number: int, entry: Entry) -> None:
        assert entry.entry is not None
        shared = read_metadata(self._tree.folder / entry.entry).number("shared")
        self._finish(number, result_of(self._jobs[number], entry, shared=shared, unchanged=True))

    def _failed(self, number: int, hello: Hello, outcome: Outcome, failure: Failure | None) -> None:
        job = self._jobs[number]
        failure = failure or Failure(kind="worker", message="the worker gave no reason")
        entry = entry_of(job, hello, outcome, None, failure)
        self._tree.record_failure(entry)
        self._finish(number, result_of(job, entry, shared=None))

    def _finish(self, number: int, result: Result) -> None:
        self._results[number] = result
        self._progress(len(self._results), len(self._jobs))

    def _ended(self, slot: _Slot, selector: selectors.BaseSelector) -> None:
        """A worker's output came to its end."""
        how = slot.worker.died()
        if slot.hello is None:
            last = slot.worker.printed().strip().splitlines()[-1:] or ["it printed nothing"]
            raise ToolError(
                f"the worker {how} before it was ready: {last[0]}",
                where=self._python,
                hint="check that this interpreter can import triton",
            )
        if slot.job is None:
            self._idle_deaths += 1
            if self._idle_deaths > IDLE_DEATHS:
                raise ToolError(f"workers end for no reason: the last one {how}", where=self._python)
        self._gone(slot, "crash", f"the compiler's process {how}", selector)

    def _gone(
        self,
        slot: _Slot,
        kind: Literal["crash", "timeout", "worker"],
        message: str,
        selector: selectors.BaseSelector,
    ) -> None:
        """End a worker that cannot go on, note what became of its job, and start another where jobs are left."""
        if slot.hello is None:
            raise ToolError(message, where=self._python, hint="is this a Python interpreter?")
        slot.worker.kill()
        if slot.job is not None:
            job = self._jobs[slot.job]
            failure = lost(job, kind, slot.stage, message, slot.worker.printed())
            outcome = Outcome(
                job=slot.job, status="failed", stage=slot.stage, total=time.monotonic() - slot.began
            )
            self._failed(slot.job, slot.hello, outcome, failure)
            shutil.rmtree(self._tree.work / f"job-{slot.job}", ignore_errors=True)
        self._release(slot, selector)
        if self._pending:
            self._start(selector)

    def _release(self, slot: _Slot, selector: selectors.BaseSelector) -> None:
        selector.unregister(slot.worker)
        slot.worker.kill()
        self._slots.remove(slot)
