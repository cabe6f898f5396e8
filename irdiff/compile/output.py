"""The output tree: entries as Triton writes them, each moved in whole; failures in ``failed/``; resuming."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from irdiff.compile.record import Entry, decode_entry, encode_entry
from irdiff.errors import InputError, IrdiffError

if TYPE_CHECKING:
    from typing_extensions import Self

RECORD = "irdiff.json"
FAILED = "failed"
WORK_PREFIX = ".irdiff-work-"
NEW_PREFIX = ".irdiff-new-"
LOCK = "lock"


class OutputTree:
    """A folder that entries are moved into. Use as a context manager; at its end nothing half-made is left."""

    def __init__(self, folder: Path) -> None:
        """Make the folder and a place for unfinished work in it. Raises InputError where that is impossible."""
        self.folder = folder.resolve()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._remove_stale()
            made = Path(tempfile.mkdtemp(prefix=NEW_PREFIX, dir=self.folder))
            self._lock = os.open(made / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            # Locked before it has the name that another run looks for.
            self.work = made.rename(self.folder / made.name.replace(NEW_PREFIX, WORK_PREFIX, 1))
        except OSError as error:
            raise InputError(
                f"cannot be written to: {error.strerror or error}",
                where=str(folder),
                hint="name another one with -o",
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)
        shutil.rmtree(self.work, ignore_errors=True)

    def _remove_stale(self) -> None:
        """Remove the unfinished work of runs that were killed: those whose lock nobody holds."""
        for work in self.folder.glob(f"{WORK_PREFIX}*"):
            try:
                lock = os.open(work / LOCK, os.O_RDWR)
            except OSError:
                continue  # being made just now, or not ours
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(work, ignore_errors=True)
            except OSError:
                pass  # another run at work
            finally:
                os.close(lock)

    def known(self) -> dict[str, Entry]:
        """The compiled entries that lie here, by key."""
        found: dict[str, Entry] = {}
        for path in sorted(self.folder.glob(f"*/{RECORD}")):
            with contextlib.suppress(OSError):
                entry = decode_entry(path.read_bytes())
                if (
                    entry is not None
                    and entry.key
                    and entry.entry == path.parent.name
                    and _complete(path.parent)
                ):
                    found[entry.key] = entry
        return found

    def cache(self, number: int) -> Path:
        """An empty folder for the cache of one job."""
        folder = self.work / f"job-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def made(self, cache: Path) -> Path | None:
        """The entry in the cache of one job: the folder with Triton's list of its files."""
        entries = sorted(path.parent for path in cache.glob("*/__grp__*.json"))
        return entries[0] if entries else None

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise IrdiffError(f"cannot be written to: {reason}", where=str(self.folder)) from None

    def place(self, made: Path, entry: Entry) -> None:
        """Move a finished entry to its place, in one step. One of the same name there is replaced.

        Raises IrdiffError where the folder cannot be written to, as ``record_failure`` does.
        """
        with self._writing():
            self._place(made, entry)

    def _place(self, made: Path, entry: Entry) -> None:
        final = self.folder / made.name
        for group in made.glob("__grp__*.json"):
            _point_to(group, final)
        for leftover in [
            *made.glob("*.lock"),
            *made.glob("lock"),
            *made.glob("*.tmp.*"),
            *made.glob("tmp.pid_*"),
        ]:
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        (made / RECORD).write_bytes(encode_entry(entry))
        if final.exists():
            final.rename(self.work / f"replaced-{made.parent.name}-{made.name}")
        made.rename(final)
        self._failure_path(entry).unlink(missing_ok=True)

    def record_failure(self, entry: Entry) -> Path:
        """Write the record of a kernel that did not compile."""
        path = self._failure_path(entry)
        with self._writing():
            path.parent.mkdir(exist_ok=True)
            unfinished = self.work / path.name
            unfinished.write_bytes(encode_entry(entry))
            unfinished.replace(path)
        return path

    def _failure_path(self, entry: Entry) -> Path:
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", entry.kernel)[:100]
        return self.folder / FAILED / f"{name}-{entry.slot}.json"

    def tidy(self) -> None:
        """Remove ``failed/`` where it is empty."""
        with contextlib.suppress(OSError):
            (self.folder / FAILED).rmdir()


def _complete(folder: Path) -> bool:
    """Whether the files that Triton listed are there."""
    for group in folder.glob("__grp__*.json"):
        try:
            children = json.loads(group.read_bytes())["child_paths"]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return all((folder / os.path.basename(name)).is_file() for name in children)  # noqa: PTH119
    return False


def _point_to(group: Path, final: Path) -> None:
    """Make Triton's list of files name the place where they will lie."""
    try:
        listed = json.loads(group.read_bytes())
        children = listed["child_paths"]
        listed["child_paths"] = {name: str(final / Path(path).name) for name, path in children.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IrdiffError(f"is not the list of files that Triton writes: {error}", where=group.name) from None
    group.write_text(json.dumps(listed))
