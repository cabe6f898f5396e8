"""Files and folders as a source found them, on disk or in an archive, before anybody asks what they mean."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from functools import partial

import msgspec

from irdiff.model.issues import Issue
from irdiff.sources.names import FileName, classify, shown

MAX_FILE = 1 << 29
"""Bytes (512 MiB) of one file that are read; the largest real stage seen is under 100 MB."""


_READ = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


class FoundFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file."""

    name: str
    """Within its folder."""
    kind: FileName
    """What its name says."""
    location: str
    """For people: a path, or ``archive.tar!member``."""
    read: Callable[[], bytes] | None
    """Its content, when asked for; None where it cannot be had, which ``issue`` explains."""
    size: int = 0
    """Bytes."""
    modified: float = 0.0
    """Seconds since the epoch."""
    issue: Issue | None = None
    """What is wrong with it, as far as that is known without reading it."""


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one folder, without those of the folders below it."""

    path: str
    """For people, as they would find it."""
    name: str
    """Last part of the path."""
    files: tuple[FoundFile, ...]
    """Sorted by name."""
    bare: bool = True
    """Whether nothing at all was in it besides ``files`` (no folders, no skipped files)."""


def read_regular(path: str) -> bytes:
    """The content of a file. Raises OSError, also for what is no regular file or larger than MAX_FILE.

    Links are followed, wherever they lead: whoever names a tree on disk may read what it points to (caches made of
    links into a store are common). Opened without blocking, so that a named pipe cannot hold the program up.
    """
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    )
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", path)
        if status.st_size > MAX_FILE:
            raise OSError(errno.EFBIG, f"is larger than {MAX_FILE >> 20} MiB", path)
        data = os.read(descriptor, status.st_size + 1)
        while len(data) != status.st_size and len(data) <= MAX_FILE:  # it is being written, or came in parts
            more = os.read(descriptor, 1 << 20)
            if not more:
                break
            data += more
        return data
    finally:
        os.close(descriptor)


def on_disk(
    path: str, kind: FileName, status: os.stat_result, read: Callable[[str], bytes] = read_regular
) -> FoundFile:
    """A file of a tree on disk, of which nothing was read yet; ``kind`` is what its name says."""
    location = shown(path)
    name = location.rpartition(os.sep)[2]
    if not stat.S_ISREG(status.st_mode):
        return lost(name, location, "not-a-file", "is not a regular file")
    if status.st_size > MAX_FILE:
        return lost(name, location, "too-large", f"is larger than {MAX_FILE >> 20} MiB and is not read")
    issue = None
    if not _for_all(status) and not os.access(path, os.R_OK):
        issue = Issue(
            severity="error",
            code="unreadable-file",
            message="cannot be read: permission denied",
            where=location,
            hint="check that the file is there and that you may read it",
        )
    return FoundFile(
        name=name,
        kind=kind,
        location=location,
        read=partial(read, path),
        size=status.st_size,
        modified=status.st_mtime,
        issue=issue or _empty(location, status.st_size),
    )


def _for_all(status: os.stat_result) -> bool:
    """Whether its mode lets everybody read it: then nobody has to ask."""
    return status.st_mode & _READ == _READ


def in_memory(name: str, location: str, data: bytes, modified: float = 0.0) -> FoundFile:
    """A file whose content is known already (a member of an archive, a field of a log)."""
    return FoundFile(
        name=name,
        kind=classify(name),
        location=location,
        read=lambda: data,
        size=len(data),
        modified=modified,
        issue=_empty(location, len(data)),
    )


def elsewhere(
    name: str, location: str, read: Callable[[], bytes], size: int, modified: float = 0.0
) -> FoundFile:
    """A file behind a URL, of which nothing was read yet; ``read`` raises OSError where that cannot be done."""
    return FoundFile(
        name=name,
        kind=classify(name),
        location=location,
        read=read,
        size=size,
        modified=modified,
        issue=_empty(location, size),
    )


def lost(name: str, location: str, code: str, message: str, hint: str | None = None) -> FoundFile:
    """A file that is there by its name and whose content cannot be had."""
    issue = Issue(severity="error", code=code, message=message, where=location, hint=hint)
    return FoundFile(name=name, kind=classify(name), location=location, read=None, issue=issue)


def _empty(location: str, size: int) -> Issue | None:
    if size:
        return None
    return Issue(
        severity="error",
        code="empty-file",
        message="is empty",
        where=location,
        hint="the compilation was interrupted or the disk was full; compile the kernel again",
    )
