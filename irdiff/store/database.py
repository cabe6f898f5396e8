"""A table of bytes by key in one SQLite file: shared by processes, capped in size, recreated where it is damaged.

Losing it costs time and nothing else. So no caller sees an error: what cannot be read is not there, what cannot be
written is not kept, and the first trouble is told once. Values are bytes that the caller checks when unpacking them.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

FORMAT = 1
"""Of the tables; a file of another format is emptied."""
MARK = 0x69726466
"""``irdf``: SQLite's application id, so that a file of another program is left alone."""
WAIT = 5.0
"""Seconds to wait for another process that is writing."""
TRIES, PAUSE = 40, 0.05
"""How often, and after how many seconds, to try again where another process is making the file."""
VARIABLES = 500
"""Keys asked for in one query; SQLite's least limit is 999."""
STALE = 3600
"""Seconds after which using an entry is noted again: which are the oldest matters by the hour."""
KEEP = 0.8
"""Share of the cap that is left when the oldest entries are removed."""

SCHEMA = """
CREATE TABLE entry (
  key TEXT PRIMARY KEY, digest TEXT NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE INDEX by_use ON entry (used, size, key);
"""


class Contents:
    """How much a store holds."""

    def __init__(self, entries: int, size: int) -> None:
        self.entries = entries
        self.size = size
        """Bytes of the file."""


class Database:
    """One store. Opened when it is first used; not to be shared by threads."""

    def __init__(
        self,
        path: Path,
        *,
        cap: int,
        warn: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``cap`` is in bytes; ``warn`` is told at most once what is wrong."""
        self.path = path
        self._cap = cap
        self._warn = warn
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._off = False
        self._told = False
        self._used: set[str] = set()
        self._writes = 0

    def known(self, keys: Sequence[str]) -> dict[str, str]:
        """Those keys that are there, with their digests."""
        found: dict[str, str] = {}
        for start in range(0, len(keys), VARIABLES):
            part = keys[start : start + VARIABLES]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, digest, used FROM entry WHERE key IN ({marks})"  # noqa: S608  # marks alone
            now = int(self._clock())
            for key, digest, used in self._ask(query, part):
                if not (isinstance(key, str) and isinstance(digest, str)):
                    continue  # a damaged row
                found[key] = digest
                if now - _number(used) > STALE:
                    self._used.add(key)
        return found

    def get(self, key: str) -> bytes | None:
        """The bytes of one entry; None where it is not there."""
        rows = self._ask("SELECT data, used FROM entry WHERE key = ?", (key,))
        if not rows or not isinstance(rows[0][0], bytes):
            return None
        if int(self._clock()) - _number(rows[0][1]) > STALE:
            self._used.add(key)
        return rows[0][0]

    def put(self, rows: Sequence[tuple[str, str, bytes]]) -> bool:
        """Keep (key, digest, bytes), all or none; False where they are not kept."""
        now = int(self._clock())
        values = [(key, digest, len(data), now, data) for key, digest, data in rows]
        return self._do(
            lambda connection: connection.executemany(
                "INSERT OR REPLACE INTO entry (key, digest, size, used, data) VALUES (?, ?, ?, ?, ?)", values
            )
        )

    def contents(self) -> Contents:
        """How many entries there are, and how large the file is."""
        rows = self._ask("SELECT count(*) FROM entry", ())
        return Contents(_number(rows[0][0]) if rows else 0, _size(self.path))

    def clear(self) -> None:
        """Remove every entry, and give the room back."""
        self._do(lambda connection: connection.execute("DELETE FROM entry"))
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.execute("VACUUM")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Note what was used, remove the oldest entries where there is too much, and let go of the file."""
        if self._connection is None:
            return
        if self._used and not self._off:
            now = int(self._clock())
            self._do(
                lambda connection: connection.executemany(
                    "UPDATE entry SET used = ? WHERE key = ?", [(now, key) for key in sorted(self._used)]
                )
            )
        if self._writes and not self._off:
            self._do(self._shrink)
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _shrink(self, connection: sqlite3.Connection) -> None:
        """Remove what was not used for longest until there is less than the cap."""
        (total,) = connection.execute("SELECT coalesce(sum(CAST(size AS INTEGER)), 0) FROM entry").fetchone()
        if total <= self._cap:
            return
        surplus = total - int(self._cap * KEEP)
        doomed: list[tuple[str]] = []
        for key, size in connection.execute("SELECT key, size FROM entry ORDER BY used, key"):
            if surplus <= 0:
                break
            doomed.append((key,))
            surplus -= _number(size)
        connection.executemany("DELETE FROM entry WHERE key = ?", doomed)
        connection.execute("PRAGMA incremental_vacuum")

    def _ask(self, query: str, values: Sequence[object]) -> list[Any]:  # Any: rows of SQLite
        for attempt in range(2):
            connection = self._opened()
            if connection is None:
                return []
            try:
                return connection.execute(query, tuple(values)).fetchall()
            except sqlite3.OperationalError as error:
                if not _is_damage(error):
                    self._tell(f"cannot be read: {error}")
                    return []
                self._recreate(str(error), last=attempt > 0)
            except (sqlite3.Error, OverflowError) as error:
                self._recreate(str(error), last=attempt > 0)
        return []

    def _do(self, change: Callable[[sqlite3.Connection], object]) -> bool:
        """One transaction."""
        for attempt in range(2):
            connection = self._opened()
            if connection is None:
                return False
            try:
                with connection:
                    change(connection)
            except sqlite3.OperationalError as error:
                if not _is_damage(error):  # locked, full, read-only: it stays as it is
                    self._tell(f"cannot be written: {error}")
                    return False
                self._recreate(str(error), last=attempt > 0)
            except sqlite3.Error as error:
                self._recreate(str(error), last=attempt > 0)
            else:
                self._writes += 1
                return True
        return False

    def _opened(self) -> sqlite3.Connection | None:
        for attempt in range(TRIES):
            if self._connection is not None or self._off:
                break
            try:
                self._connection = self._open()
            except (sqlite3.OperationalError, OSError) as error:
                if "locked" in str(error) and attempt < TRIES - 1:
                    time.sleep(PAUSE)  # another process is making it
                    continue
                self._off = True
                self._tell(f"cannot be opened: {error}")
            except sqlite3.Error as error:
                self._recreate(str(error), last=attempt > 0)
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(self.path, timeout=WAIT)
        try:
            connection.execute("PRAGMA synchronous=OFF")
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if (mark, version) != (MARK, FORMAT):
                _prepare(connection, mark)
        except BaseException:
            connection.close()
            raise
        return connection

    def _recreate(self, why: str, *, last: bool) -> None:
        """Put a damaged file aside and begin a new one."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        self._tell(f"is damaged ({why}) and was begun anew")
        if last:
            self._off = True
            return
        with suppress(OSError):
            self.path.replace(self.path.with_name(self.path.name + ".damaged"))
        for beside in ("-wal", "-shm", "-journal"):
            with suppress(OSError):
                self.path.with_name(self.path.name + beside).unlink()
        if self.path.exists():
            self._off = True

    def _tell(self, what: str) -> None:
        if not self._told:
            self._told = True
            self._warn(f"the store {self.path} {what}; that costs time and nothing else")


def _is_damage(error: sqlite3.OperationalError) -> bool:
    """Whether a file lacks what its own mark says it has."""
    return str(error).startswith(("no such", "Could not decode"))


class NotOursError(sqlite3.OperationalError):
    """The file is another program's."""


def _prepare(connection: sqlite3.Connection, mark: int) -> None:
    """Make the tables of an empty file, or of one of another format; several processes may try at once."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("BEGIN IMMEDIATE")
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    (now,) = connection.execute("PRAGMA application_id").fetchone()
    if tables and MARK not in (mark, now):
        raise NotOursError("it is another program's file")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (now, version) != (MARK, FORMAT):
        connection.execute("DROP TABLE IF EXISTS entry")
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={MARK}")
        connection.execute(f"PRAGMA user_version={FORMAT}")
    connection.commit()


def _number(value: object) -> int:
    """A column of numbers; a damaged row may hold anything."""
    return value if isinstance(value, int) else 0


def _size(path: Path) -> int:
    size = 0
    for beside in ("", "-wal"):
        with suppress(OSError):
            size += os.stat(f"{path}{beside}").st_size  # noqa: PTH116  # three names of one file
    return size
