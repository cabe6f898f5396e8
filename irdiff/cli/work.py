"""How reading is done: processes, store and cluster, as the command line and the environment say."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from irdiff.errors import UsageError

if TYPE_CHECKING:
    from irdiff.store.database import Database

JOBS = "IRDIFF_JOBS"
"""Environment variable: how many processes read."""
MOST_JOBS = 1024


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """How reading is done; none of it changes what is said."""

    jobs: int | None = None
    """Processes that read; None for one on each processor."""
    store: bool = True
    """Whether what was read is kept for the next run."""
    cluster: str | None = None
    """Address of a Dask scheduler whose workers read."""


@contextmanager
def closing_store(work: Work) -> Iterator[Database | None]:
    """The store, let go of at the end."""
    database = open_store(work)
    try:
        yield database
    finally:
        if database is not None:
            database.close()


def open_store(work: Work) -> Database | None:
    """The store as the user and the environment want it. Raises UsageError for a size that is none."""
    if not work.store:
        return None
    from irdiff.store.database import Database
    from irdiff.store.location import cap, place

    path = place(os.environ)
    return Database(path, cap=cap(os.environ), warn=complain) if path is not None else None


def default_jobs() -> int:
    """As the environment says, else one for each processor. Raises UsageError for what is no number."""
    named = os.environ.get(JOBS, "")
    if not named:
        from irdiff.pool.local import cores

        return cores()
    if not named.isdecimal() or not 1 <= int(named) <= MOST_JOBS:
        raise UsageError(f"{named!r} is no number of processes", where=JOBS, hint=f"1 to {MOST_JOBS}")
    return int(named)


def complain(text: str) -> None:
    """Say something about how the work went; what was found is not touched by it."""
    sys.stderr.write(f"note: {text}\n")
