"""Walk a tree on disk: every folder once, whatever links there are, and nothing silently left out."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import msgspec

from irdiff.model.issues import Issue
from irdiff.sources.files import Folder, FoundFile, lost, on_disk, read_regular
from irdiff.sources.names import classify, is_skipped_folder, shown

MAX_FOLDERS = 500_000
"""Folders of one tree that are looked into; a large training run's cache has tens of thousands."""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """What lies in a tree."""

    folders: tuple[Folder, ...]
    """Those that hold files which may belong to a kernel, and those that are bare; sorted by path."""
    issues: tuple[Issue, ...]


class _Listing(msgspec.Struct):
    """One folder being read."""

    files: list[FoundFile] = []
    folders: list[str] = []
    links: list[str] = []
    others: bool = False


def scan(root: str, read: Callable[[str], bytes] = read_regular) -> Scan:
    """Every folder of a tree, in an order that does not depend on the file system's; ``read`` will read its files.

    Links to folders are followed after everything that is really there, so that a folder with several names goes
    by its own one; each folder (device and inode) is read once, and so a loop ends where it closes.
    Raises OSError where the root itself cannot be read.
    """
    walk = _Walk(read)
    walk.read(root, required=True)
    while walk.pending or walk.linked:
        if walk.count > MAX_FOLDERS:
            message = f"has more than {MAX_FOLDERS:,} folders; the rest was not looked at"
            walk.report("error", "too-many-folders", message, root, "name a folder further down")
            break
        if walk.pending:
            walk.read(walk.pending.pop())
        else:
            walk.linked.sort(reverse=True)
            walk.follow(walk.linked.pop())
    return Scan(
        folders=tuple(sorted(walk.folders, key=lambda folder: folder.path)),
        issues=tuple(sorted(walk.issues, key=lambda issue: (issue.where or "", issue.code))),
    )


class _Walk:
    """State of one scan."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self.pending: list[str] = []
        self.linked: list[str] = []
        self.folders: list[Folder] = []
        self.issues: list[Issue] = []
        self.count = 0
        self._seen: set[tuple[int, int]] = set()

    def report(self, severity: str, code: str, message: str, path: str, hint: str | None = None) -> None:
        issue = Issue(
            severity="error" if severity == "error" else "warning",
            code=code,
            message=message,
            where=shown(path),
            hint=hint,
        )
        self.issues.append(issue)

    def follow(self, path: str) -> None:
        """Read the folder a link leads to, unless it was read already or is one that the link lies in."""
        try:
            status = os.stat(path)  # noqa: PTH116  # strings throughout: a scan of 40,000 files makes no Path
        except OSError as error:
            self._broken_link(path, error)
            return
        target, parent = os.path.realpath(path), os.path.realpath(os.path.dirname(path))  # noqa: PTH120
        if parent == target or parent.startswith(target.rstrip(os.sep) + os.sep):
            # Also where that folder is above the root: nobody who names a tree means all that lies around it.
            self.report("warning", "symlink-loop", "is a link to a folder it lies in; not followed", path)
        elif (status.st_dev, status.st_ino) not in self._seen:
            self.read(path)

    def read(self, path: str, *, required: bool = False) -> None:
        """List one folder and queue those below it."""
        listing = _Listing()
        try:
            status = os.stat(path)  # noqa: PTH116
            if (status.st_dev, status.st_ino) in self._seen:
                return
            self._seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as entries:
                for entry in entries:
                    self._sort_in(entry, listing)
        except OSError as error:
            if required:
                raise
            listing.others = True
            hint = "check that you may read it; everything else was read"
            self.report("error", "unreadable-folder", f"cannot be read: {_reason(error)}", path, hint)
        self.count += 1
        self.pending.extend(listing.folders)
        self.linked.extend(listing.links)
        bare = not (listing.folders or listing.links or listing.others)
        if listing.files or bare:
            files = tuple(sorted(listing.files, key=lambda file: file.name))
            name = shown(os.path.basename(os.path.abspath(path)))  # noqa: PTH100, PTH119
            self.folders.append(Folder(path=shown(path), name=name, files=files, bare=bare))

    def _sort_in(self, entry: os.DirEntry[str], listing: _Listing) -> None:
        kind = classify(shown(entry.name))
        known = kind.role != "foreign"
        linked = False
        try:
            linked = entry.is_symlink()
            if entry.is_dir():
                skipped = is_skipped_folder(entry.name)
                listing.others = listing.others or skipped
                if not skipped:
                    (listing.links if linked else listing.folders).append(entry.path)
                return
            status = entry.stat() if known or linked else None
        except OSError as error:
            if known:
                code = _link_code(error) if linked else "unreadable-file"
                message = (
                    f"leads nowhere: {_reason(error)}" if linked else f"cannot be read: {_reason(error)}"
                )
                listing.files.append(lost(shown(entry.name), shown(entry.path), code, message))
            else:
                listing.others = True
                self._broken_link(entry.path, error)
            return
        if known and status is not None:
            listing.files.append(on_disk(entry.path, kind, status, self._read))
        else:
            listing.others = True

    def _broken_link(self, path: str, error: OSError) -> None:
        self.report("warning", _link_code(error), f"leads nowhere: {_reason(error)}", path)


def _link_code(error: OSError) -> str:
    return "symlink-loop" if error.errno == errno.ELOOP else "dangling-link"


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
