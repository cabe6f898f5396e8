"""Trees, archives and files behind a URL: the one module that imports fsspec.

A tree is listed at once and its files are read when asked for. Nothing is written, and nothing that a listing says
is trusted: names are looked at as those of an archive's members are, and the same limits hold for one file and for
the number of files. There is none for all of them together, as they are never held at once.
"""

from __future__ import annotations

import calendar
import errno
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import IO, Any

import msgspec

from irdiff.errors import InputError
from irdiff.model.issues import Issue, Severity
from irdiff.sources.archives import MAX_MEMBER, MAX_MEMBERS, read_archive
from irdiff.sources.files import Folder, FoundFile, elsewhere, lost
from irdiff.sources.names import JSON_SUFFIX, classify, is_archive, is_skipped_folder, shown
from irdiff.sources.urls import member, without_user

EXTRA = "irdiff[remote]"
HELD = 64 << 20
"""Bytes of contents that are held for the next reader of the same file."""


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """What lies behind a URL: a tree or an archive, or one file."""

    folders: tuple[Folder, ...] = ()
    """Sorted by path."""
    issues: tuple[Issue, ...] = ()
    file: FoundFile | None = None
    beside: FoundFile | None = None
    """The JSON beside the file."""


def read_url(url: str) -> Remote:
    """List what lies behind a URL. Raises InputError where that cannot be done."""
    described = shown(without_user(url))
    files, root = _file_system(url, described)
    try:
        about = files.info(root)
        if about.get("type") == "directory":
            return _tree(files, root, described)
        if is_archive(root):
            # The listing says how long it is; archives themselves are read with limits of their own.
            unpacked = read_archive(root, described, opened=lambda: _opened(files, root))
            return Remote(folders=unpacked.folders, issues=unpacked.issues)
        name = root.rstrip("/").rpartition("/")[2]
        return Remote(
            file=_Files(files).file(root, name, described, about), beside=_beside(files, root, described)
        )
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  # whatever the backend for this protocol raises: it has no common base
        raise _complaint(error, url, described) from None


def _opened(files: Any, path: str) -> IO[bytes]:  # Any: fsspec ships no types
    stream: IO[bytes] = files.open(path, "rb")
    return stream


def _file_system(url: str, described: str) -> tuple[Any, str]:  # Any: fsspec ships no types
    """(the file system, where in it)."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InputError(
            "is a URL, and fsspec is not installed", where=described, hint=f"pip install '{EXTRA}'"
        ) from None
    try:
        files, root = url_to_fs(url)
    except ImportError as error:
        raise InputError(
            f"needs another package: {error}", where=described, hint="install it beside irdiff"
        ) from None
    except Exception as error:  # noqa: BLE001  # as above: making the file system may already connect
        raise _complaint(error, url, described) from None
    return files, root


def _tree(files: Any, root: str, described: str) -> Remote:
    """All folders below one. Raises what the backend raises."""
    found: dict[str, dict[str, FoundFile]] = {}
    issues: list[Issue] = []
    reader = _Files(files)

    def complain(severity: Severity, code: str, message: str, where: str) -> None:
        issues.append(Issue(severity=severity, code=code, message=message, where=where))

    listing = files.find(root, detail=True)
    for count, path in enumerate(sorted(listing)):
        if count >= MAX_MEMBERS:
            complain(
                "error",
                "too-many-files",
                f"has more than {MAX_MEMBERS:,} files; the rest was not read",
                described,
            )
            break
        name = shown(_below(path, root))
        parts = name.split("/")
        location = member(described, name)
        if name.startswith("/") or ".." in parts:
            complain("warning", "path-escapes", "would lie outside the folder; not read", location)
        elif classify(parts[-1]).role != "foreign" and not any(map(is_skipped_folder, parts[:-1])):
            file = reader.file(path, parts[-1], location, listing[path])
            found.setdefault("/".join(parts[:-1]), {})[parts[-1]] = file
    folders = tuple(
        Folder(
            path=member(described, folder),
            name=(folder or root.rstrip("/")).rpartition("/")[2],
            files=tuple(file for _, file in sorted(several.items())),
        )
        for folder, several in sorted(found.items())
    )
    return Remote(folders=folders, issues=tuple(issues))


def _below(path: str, root: str) -> str:
    """A path of a listing, without the folder that was listed."""
    root = root.strip("/")
    return path.strip("/")[len(root) :].removeprefix("/") if root else path.removeprefix("/")


class _Files:
    """Reads files of one file system, the last ones from memory."""

    def __init__(self, files: Any) -> None:
        self._files = files
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0

    def file(self, path: str, name: str, location: str, about: Mapping[str, Any]) -> FoundFile:
        """A file of which nothing was read yet; ``about`` is what the listing says."""
        size = about.get("size")
        if not isinstance(size, int) or size > MAX_MEMBER:
            reason = f"is larger than {MAX_MEMBER >> 20} MiB and is not read"
            return lost(
                name, location, "too-large", reason if size else "has no size", "copy it and name the copy"
            )
        return elsewhere(name, location, lambda: self._read(path, location), size, _modified(about))

    def _read(self, path: str, location: str) -> bytes:
        """The content. Raises OSError."""
        if path in self._held:
            self._held.move_to_end(path)
            return self._held[path]
        try:
            data = bytes(self._files.cat_file(path))
        except OSError as error:
            raise OSError(
                error.errno or errno.EIO, error.strerror or str(error) or "cannot be read", location
            ) from None
        except Exception as error:  # noqa: BLE001  # whatever the backend raises: it has no common base
            raise OSError(errno.EIO, f"cannot be read: {type(error).__name__}: {error}", location) from None
        if len(data) > MAX_MEMBER:
            raise OSError(errno.EFBIG, f"is larger than {MAX_MEMBER >> 20} MiB", location)
        if len(data) <= HELD:
            self._held[path] = data
            self._size += len(data)
            while self._size > HELD:
                self._size -= len(self._held.popitem(last=False)[1])
        return data


def _beside(files: Any, root: str, described: str) -> FoundFile | None:
    """The JSON beside a stage that is named alone."""
    folder, slash, name = root.rpartition("/")
    kind = classify(shown(name))
    if kind.role != "stage" or kind.suffix == JSON_SUFFIX:
        return None
    path = f"{folder}{slash}{kind.stem}{JSON_SUFFIX}"
    try:
        about = files.info(path)
    except Exception:  # noqa: BLE001  # whatever the backend says of a file that need not be there
        return None
    location = described[: len(described) - len(name)] + kind.stem + JSON_SUFFIX
    return _Files(files).file(path, kind.stem + JSON_SUFFIX, location, about)


def _modified(about: Mapping[str, Any]) -> float:
    """Seconds since the epoch, as far as the file system says; 0 where it does not."""
    said = next(
        (about[key] for key in ("LastModified", "mtime", "updated", "created") if about.get(key)), None
    )
    if said is None and isinstance(about.get("date_time"), tuple):
        return float(calendar.timegm((*about["date_time"], 0, 0, 0)))
    if isinstance(said, datetime):
        return said.timestamp()
    return float(said) if isinstance(said, (int, float)) else 0.0


def _complaint(error: Exception, url: str, described: str) -> InputError:
    """What went wrong, in words, and what to do."""
    protocol = url.partition("://")[0]
    if isinstance(error, FileNotFoundError):
        return InputError(
            "is not there", where=described, hint="check bucket and path, and that you may list them"
        )
    name = type(error).__name__
    if isinstance(error, PermissionError) or "Credential" in name or "Forbidden" in name:
        hint = (
            f"give fsspec the credentials for {protocol}: the environment or the configuration of its backend"
        )
        return InputError(f"may not be read: {str(error) or name}", where=described, hint=hint)
    reason = (getattr(error, "strerror", None) or str(error) or name).strip().split("\n")[0][:300]
    return InputError(
        f"cannot be read: {without_user(reason)}",
        where=described,
        hint=f"is the address right, and {protocol} set up?",
    )
