"""The workers of a Dask cluster as an executor: the one module that imports distributed.

A worker needs irdiff installed with the same plugins; it is sent bytes and sends bytes back, the same as a worker of
this machine. Which irdiff a worker has is asked once: one of another version would give other answers.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from irdiff import __version__
from irdiff.engine.shares import Shares
from irdiff.engine.unit import Answer, Batch, Line, Meanwhile
from irdiff.engine.workshop import Workshop, lost
from irdiff.errors import InputError, UsageError
from irdiff.pool.frames import answer_bytes, answers_of, batch_bytes, batch_of, settings_bytes, settings_of

AHEAD = 3
"""Batches on their way for each thread of a worker."""
TIMEOUT = 10.0
"""Seconds to reach the scheduler."""
INSTALL = "pip install 'irdiff[dask]'"


class DaskCluster:
    """An Executor. Raises InputError where the scheduler cannot be reached or has no worker with this irdiff."""

    def __init__(self, address: str, *, complain: Callable[[str], None] = lambda text: None) -> None:
        try:
            import distributed
        except ImportError:
            raise UsageError("distributed is not installed", where="--cluster", hint=INSTALL) from None
        try:
            self._client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(
                f"cannot be reached: {error}", where=address, hint="is a scheduler listening there?"
            ) from None
        self._complain = complain
        threads = self._client.nthreads()
        self.workers = sum(threads.values())
        if not self.workers:
            self.close()
            raise InputError("has no workers", where=address, hint="start some: dask worker ADDRESS")
        versions = set(self._client.run(_version).values())
        if versions != {__version__}:
            self.close()
            found = ", ".join(sorted(map(str, versions)))
            raise InputError(
                f"its workers have irdiff {found}, this is {__version__}", where=address, hint=INSTALL
            )

    def run(
        self,
        lines: Sequence[Line],
        *,
        most: int | None = None,  # noqa: ARG002  # nothing is started here
        meanwhile: Meanwhile | None = None,
    ) -> Iterator[tuple[Batch, Sequence[Answer]]]:
        """Each batch with its answers, as they are done; few batches are on their way at once."""
        shares = Shares(lines)
        waiting: dict[str, Batch] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()  # Any: futures of a library without types
        while True:
            while len(waiting) < AHEAD * self.workers and (batch := shares.next(0)) is not None:
                future = self._client.submit(_work, batch_bytes(batch), pure=False)
                waiting[future.key] = batch
                future.add_done_callback(done.put)
            if not waiting:
                return
            while meanwhile is not None and done.empty() and meanwhile():
                pass
            future = done.get()
            batch = waiting.pop(future.key)
            error = future.exception()
            if error is None:
                yield batch, answers_of(future.result(), batch.due)
            else:
                yield batch, self._again(batch, error)
            future.release()

    @property
    def ready(self) -> bool:
        """Its workers run."""
        return True

    def begin(self, batch: Batch) -> bool:  # noqa: ARG002  # its workers may be busy with others' work
        """Nothing is sent before it is asked for."""
        return False

    def close(self) -> None:
        """Let go of the scheduler; what is still being done there is forgotten."""
        self._client.close()

    def _again(self, batch: Batch, error: BaseException) -> list[Answer]:
        """Everything in a batch on which a worker ended, on its own."""
        said = f"{type(error).__name__}: {error}"
        self._complain(
            f"a worker of the cluster failed ({said}) on {batch.described()}; that is done once more"
        )
        answers: list[Answer] = []
        for single in batch.singles():
            future = self._client.submit(_work, batch_bytes(single), pure=False)
            again = future.exception()
            if again is None:
                answers += answers_of(future.result(), 1)
            else:
                message = f"the worker of the cluster that read it failed, twice: {type(again).__name__}"
                answers.append(lost(single, message, "read it without --cluster"))
        return answers


def _version() -> str:
    """On a worker: its irdiff."""
    from irdiff import __version__ as version

    return version


def _work(data: bytes) -> bytes:
    """On a worker: read one batch."""
    batch = batch_of(data)
    return answer_bytes(_workshop(settings_bytes(batch.settings)).answers(batch))


@lru_cache(maxsize=4)
def _workshop(settings: bytes) -> Workshop:
    """The plugins and tools of a worker, loaded once for each way of asking."""
    from irdiff.pool.worker import workshop_of

    return workshop_of(settings_of(settings))[0]
