"""Read archives of trees without unpacking them: what would escape is refused, and what would explode is cut short."""

from __future__ import annotations

import bz2
import calendar
import gzip
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, Protocol

import msgspec

from irdiff.errors import InputError
from irdiff.model.issues import Issue, Severity
from irdiff.sources.files import MAX_FILE, Folder, FoundFile, in_memory, lost
from irdiff.sources.names import UNSUPPORTED_SUFFIXES, classify, is_skipped_folder, shown

MAX_MEMBER = 1 << 28
"""Bytes (256 MiB) of one member."""

MAX_TOTAL = 1 << 30
"""Bytes (1 GiB) of all members that are kept; they are held in memory."""

MAX_STREAM = 1 << 31
"""Bytes (2 GiB) that come out of the decompression of a tar archive, with members that are not kept."""

MAX_MEMBERS = 300_000
MAX_HEADER = 1 << 20
"""Bytes (1 MiB) of a header that carries a long name or extended attributes."""

_DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError,
    ValueError, ArithmeticError, LookupError, RuntimeError, TypeError, AttributeError,
)  # fmt: skip
"""What the readers of the standard library raise for damaged archives (RuntimeError: encrypted, nested too
deeply or of a method they lack; the last three: fields they did not expect to be damaged)."""


class Unpacked(msgspec.Struct, frozen=True, kw_only=True):
    """The files of an archive, by folder."""

    folders: tuple[Folder, ...]
    issues: tuple[Issue, ...]


def read_archive(path: str, described: str, opened: Callable[[], IO[bytes]] | None = None) -> Unpacked:
    """The folders of an archive, sorted; ``described`` is its name for people, a folder is ``described!a/b``.

    Links, devices and paths that leave the archive are not followed, and said. Only files whose names may belong to
    a kernel are kept. ``opened`` opens one that is not on disk, and ``path`` is then only its name. Raises InputError
    where it is not an archive at all, OSError where it cannot be opened.
    """
    if path.lower().endswith(UNSUPPORTED_SUFFIXES):
        raise InputError(
            "is compressed in a way that irdiff does not read",
            where=described,
            hint="unpack it and name the folder",
        )
    members = _Members(described)
    reader = _zip_members if path.lower().endswith(".zip") else _tar_members
    with opened() if opened is not None else open(path, "rb") as file:  # noqa: PTH123
        try:
            reader(file, members)
        except _DAMAGE as error:
            if not members.count:
                raise InputError(
                    f"is not a readable archive: {error}", where=described, hint="is it complete?"
                ) from None
            message = f"is damaged behind member {members.count}: {error}; what came before was read"
            members.complain("error", "damaged-archive", message)
    return members.result()


class _FullError(tarfile.TarError):
    """A limit was reached."""


class _Members:
    """The members taken so far."""

    def __init__(self, described: str) -> None:
        self.count = 0
        self._described = described
        self._total = 0
        self._files: dict[str, dict[str, FoundFile]] = {}
        self._issues: list[Issue] = []

    def complain(self, severity: Severity, code: str, message: str, member: str | None = None) -> None:
        where = self._described if member is None else f"{self._described}!{member}"
        self._issues.append(Issue(severity=severity, code=code, message=message, where=where))

    def place(self, name: str, *, kind: str) -> tuple[str, str] | None:
        """Folder and name of a member to be read, or None; ``kind`` is ``file``, ``folder``, or what it is."""
        self.count += 1
        if self.count > MAX_MEMBERS:
            raise _FullError(f"more than {MAX_MEMBERS:,} members")
        name = shown(name.replace("\\", "/"))
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if not parts or kind == "folder":
            return None
        known = classify(parts[-1]).role != "foreign"
        if name.startswith("/") or ".." in parts or parts[0][1:2] == ":":
            self.complain("warning", "path-escapes", "would lie outside the archive; not read", name)
            return None
        if kind != "file":
            severity: Severity = "error" if known else "warning"
            self.complain(severity, "not-a-file", f"is a {kind}; links and devices are not followed", name)
            return None
        if not known or any(is_skipped_folder(part) for part in parts[:-1]):
            return None
        return "/".join(parts[:-1]), parts[-1]

    def take(self, place: tuple[str, str], stream: IO[bytes] | None, size: int, modified: float) -> None:
        """Keep a member's content, as far as the limits allow; ``size`` is what the archive says of it."""
        name, location = place[1], self._location(place)
        allowed = min(MAX_MEMBER, MAX_FILE, MAX_TOTAL - self._total)
        # Not more than announced and one byte: asked for a size, the reader allocates it.
        data = stream.read(size + 1) if stream is not None and size <= allowed else b""
        if max(size, len(data)) > allowed:
            hint = "unpack the archive and name the folder"
            message = (
                f"is not read: more than {MAX_MEMBER >> 20} MiB, or {MAX_TOTAL >> 20} MiB for the archive"
            )
            file = lost(name, location, "too-large", message, hint)
        else:
            self._total += len(data)
            file = in_memory(name, location, data, modified)
        self._put(place, file)

    def lose(self, place: tuple[str, str], message: str) -> None:
        """Keep the name of a member whose content cannot be had."""
        self._put(place, lost(place[1], self._location(place), "damaged-member", message))

    def _location(self, place: tuple[str, str]) -> str:
        return f"{self._described}!{'/'.join(part for part in place if part)}"

    def _put(self, place: tuple[str, str], file: FoundFile) -> None:
        self._files.setdefault(place[0], {})[place[1]] = file  # of two members of one name the last counts

    def result(self) -> Unpacked:
        folders = tuple(
            Folder(
                path=f"{self._described}!{folder}" if folder else self._described,
                name=folder.rpartition("/")[2],
                files=tuple(file for _, file in sorted(files.items())),
            )
            for folder, files in sorted(self._files.items())
        )
        return Unpacked(folders=folders, issues=tuple(self._issues))


class _Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes: ...


class _Limited:
    """A decompressed stream that ends in an error before it fills the machine."""

    def __init__(self, stream: _Readable) -> None:
        self._stream = stream
        self._left = MAX_STREAM

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _FullError(f"more than {MAX_STREAM >> 20} MiB when decompressed")
        return data


class _Member(tarfile.TarInfo):
    """A member whose headers are of a sane size."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Member:
        member = super().frombuf(buf, encoding, errors)
        if member.size < 0 or (member.size > MAX_HEADER and member.type in _HEADERS):
            raise tarfile.ReadError("a header of an impossible size")
        return member


_HEADERS = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
)  # fmt: skip


def _tar_members(file: IO[bytes], members: _Members) -> None:
    # Read as a stream, forward only: seeking back would decompress everything again for each member.
    stream = _Limited(_decompressed(file))
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive:  # type: ignore[call-overload]
        while (member := archive.next()) is not None:
            place = members.place(member.name, kind=_tar_kind(member))
            if place is not None:
                members.take(place, archive.extractfile(member), member.size, float(member.mtime))


def _tar_kind(member: tarfile.TarInfo) -> str:
    if member.isdir():
        return "folder"
    if member.issym() or member.islnk():
        return "link"
    if member.issparse():
        return "sparse file"
    return "file" if member.isreg() else "device"


def _decompressed(file: IO[bytes]) -> _Readable:
    """The tar archive inside, whatever its name says of the compression."""
    head = file.read(6)
    file.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if head == b"\xfd7zXZ\0":
        return lzma.LZMAFile(file)
    if head.startswith(b"BZh"):
        return bz2.BZ2File(file)
    return file


def _zip_members(file: IO[bytes], members: _Members) -> None:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            place = members.place(info.filename, kind=_zip_kind(info))
            if place is None:
                continue
            try:
                with archive.open(info) as stream:
                    members.take(place, stream, info.file_size, _zip_time(info))
            except _DAMAGE as error:
                members.lose(place, f"cannot be read from the archive: {error}")


def _zip_kind(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "link"
    if info.is_dir():
        return "folder"
    return "file" if not stat.S_IFMT(mode) or stat.S_ISREG(mode) else "device"


def _zip_time(info: zipfile.ZipInfo) -> float:
    """Seconds since the epoch, taken as UTC: a zip archive does not say where it was written."""
    try:
        return float(calendar.timegm((*info.date_time, 0, 0, 0)))
    except (ValueError, OverflowError):
        return 0.0
