"""Comparisons that were made before: found again by the digests of both trees and of everything else they rest on.

What a comparison of two folders says follows from the files in them, the options, the environment's settings, the
code of irdiff and of its plugins, and the tools that were found. Where all of that is as it was, the report is, and
neither plugins nor readers are loaded.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from irdiff.config.find import configs_above
from irdiff.engine.hashing import each
from irdiff.installed import Installed, Point, folders, is_plain, points
from irdiff.model.bundle import Bundle
from irdiff.model.report import Report
from irdiff.model.tools import ToolSpec
from irdiff.sources.files import FoundFile
from irdiff.sources.tree import Scan, scan
from irdiff.store.answers import checked, marked
from irdiff.store.code import digest_of, packages_beside
from irdiff.store.database import Database
from irdiff.tools.toolbox import LocalToolbox

GROUP = "irdiff"
LARGEST = 64 << 20
"""Bytes of a report that is kept."""
SETTINGS = ("IRDIFF_", "TRITON_")
"""Beginnings of the names of environment variables that decide what is read of a tree, but for these:"""
NO_SETTINGS = ("IRDIFF_STORE", "IRDIFF_STORE_SIZE", "IRDIFF_JOBS", "IRDIFF_DEBUG")


class Kept(msgspec.Struct, frozen=True):
    """A report with the tools that were looked for when it was made."""

    tools: tuple[ToolSpec, ...]
    identities: tuple[str, ...]
    report: bytes


class Trees:
    """Both inputs as they lie on disk, every file of theirs hashed once."""

    def __init__(self, digest: str, files: Mapping[str, str], different: int) -> None:
        self.digest = digest
        self.files = files
        """Location to SHA-256."""
        self.different = different
        """Bytes of files whose content is on one side only."""


def trees(paths: Sequence[str | None]) -> Trees | None:
    """The digest of two folders; None where one of the paths is anything else."""
    if not all(path is not None and os.path.isdir(path) for path in paths):  # noqa: PTH112
        return None
    try:
        scans = [scan(path) for path in paths if path is not None]
    except OSError:
        return None
    files = _hashed(scans)
    if files is None:
        return None
    made = hashlib.sha256()
    for path, found in zip(paths, scans, strict=True):
        made.update(repr((path, os.path.abspath(str(path)))).encode("utf-8", "backslashreplace"))  # noqa: PTH100
        for folder in found.folders:
            made.update(repr((folder.path, folder.name, folder.bare)).encode())
            for file in folder.files:
                said = (file.name, file.location, files.get(file.location), file.issue)
                made.update(repr(said).encode("utf-8", "backslashreplace"))
        made.update(repr(found.issues).encode())
    return Trees(made.hexdigest(), files, _different(scans, files))


def _different(scans: Sequence[Scan], files: Mapping[str, str]) -> int:
    sides = [
        {files.get(file.location, ""): file.size for folder in found.folders for file in folder.files}
        for found in scans
    ]
    return sum(size for side in sides for sha256, size in side.items() if any(sha256 not in s for s in sides))


def _hashed(scans: Sequence[Scan]) -> dict[str, str] | None:
    """Location to SHA-256 of every file that can be read; None where two go by one location.

    A file that has a namesake of its size on the other side is held against it first: where they are equal, which
    most are, one of them is hashed, for comparing bytes takes a fraction of the time.
    """
    known: set[str] = set()
    namesakes: dict[tuple[str, str, int], list[FoundFile]] = {}
    for found in scans:
        mine = [(folder, file) for folder in found.folders for file in folder.files if file.read is not None]
        locations = {file.location for _, file in mine}
        if len(locations) < len(mine):
            return None
        for folder, file in mine:
            if file.location not in known:
                namesakes.setdefault((folder.name, file.name, file.size), []).append(file)
        known |= locations
    made: dict[str, str] = {}

    def digest(files: Sequence[FoundFile]) -> None:
        last, sha256 = None, ""
        for file in files:
            assert file.read is not None
            with suppress(OSError):
                data = file.read()
                if data != last:
                    last, sha256 = data, hashlib.sha256(data).hexdigest()
                made[file.location] = sha256

    each(digest, namesakes.values())
    return made


def remembered(database: Database, paths: Sequence[str | None], options: object) -> Remembered | None:
    """What is known of a comparison of these folders; None where they are no folders or nothing can be kept."""
    if not is_plain(sys.path):
        return None
    found = trees(paths)
    return Remembered(database, found, options) if found is not None else None


class Remembered:
    """The reports in one store, for one way of asking."""

    def __init__(self, database: Database, found: Trees, options: object) -> None:
        settings = sorted(
            (name, value)
            for name, value in os.environ.items()
            if name.startswith(SETTINGS) and name not in NO_SETTINGS
        )
        self._files = found.files
        self.different = found.different
        parts = ("report", _code(), found.digest, options, settings, os.environ.get("HOME", ""), _configs())
        self._key = hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:40]
        self._database = database

    def report(self) -> Report | None:
        """The report that was made; None where there is none, or tools were found that were not there then."""
        data = checked(self._key, self._database.get(self._key))
        if data is None:
            return None
        try:
            kept = msgspec.msgpack.decode(zlib.decompress(data), type=Kept)
            if kept.identities != _identities(kept.tools):
                return None
            return msgspec.msgpack.decode(kept.report, type=Report)
        except (zlib.error, msgspec.DecodeError, RecursionError):
            return None

    def recall(self, bundles: Sequence[Bundle]) -> None:
        """Tell artifacts that are a file as it lies there its digest; JSON may be put together from several."""
        for bundle in bundles:
            for artifact in bundle.artifacts.values():
                sha256 = self._files.get(artifact.location)
                whole = artifact.suffix != ".json" and artifact.location.lower().endswith(artifact.suffix)
                if sha256 and whole:
                    artifact.recall(sha256)
        self._files = {}  # with very many kernels it is a good part of all that is in memory

    def keep(self, report: Report, tools: tuple[ToolSpec, ...]) -> None:
        """Keep a report that another run would make again."""
        made = msgspec.msgpack.encode(report)
        if len(made) <= LARGEST:
            kept = Kept(tools, _identities(tools), made)
            data = zlib.compress(msgspec.msgpack.encode(kept), 1)
            self._database.put([(self._key, "", marked(self._key, data))])


def _configs() -> tuple[tuple[str, bytes], ...]:
    try:
        return configs_above(Path.cwd())
    except FileNotFoundError:  # the working directory was deleted
        return ()


def _identities(tools: Sequence[ToolSpec]) -> tuple[str, ...]:
    toolbox = LocalToolbox({tool.id: tool for tool in tools}, os.environ)
    return tuple(toolbox.identity(tool.id) for tool in tools)


def _code() -> str:
    """Digest of the code of irdiff and of every installed plugin, without importing one."""
    import irdiff

    packages = [irdiff.__path__[0]]
    for folder in folders(sys.path):
        installed = Installed(folder)
        try:
            text = installed.read_text("entry_points.txt") or ""
            if f"[{GROUP}]" not in text:
                continue
            found = [Point(name, value) for name, value in points(text, GROUP)]
        except (OSError, ValueError):
            continue
        for point in found:
            package = _package(point.value.partition(":")[0].partition(".")[0].strip())
            packages += [package] if package else []
    return digest_of(packages_beside(packages), sys.path)


def _package(name: str) -> str:
    for entry in sys.path:
        for path in (os.path.join(entry, name), os.path.join(entry, f"{name}.py")):  # noqa: PTH118
            if os.path.exists(path):  # noqa: PTH110
                return path
    return ""
