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
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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


def scans_of(paths: Sequence[str | None]) -> list[Scan] | None:
    """What lies in two folders; None where one of the paths is anything else."""
    if not all(path and path[0] != "~" and os.path.isdir(path) for path in paths):  # noqa: PTH112
        return None
    try:
        return [scan(path) for path in paths if path is not None]
    except OSError:
        return None


def trees(paths: Sequence[str | None], scans: Sequence[Scan]) -> Trees | None:
    """The digest of two folders; None where files of one go by one name."""
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


class Sizes:
    """Names and sizes of all files of both sides: what is known of them before any is read."""

    def __init__(self, scans: Sequence[Scan]) -> None:
        sides = [[file for folder in found.folders for file in folder.files] for found in scans]
        one, other = (Counter((file.name, file.size) for file in side) for side in sides)
        self.different = sum(
            size * count for more in (one - other, other - one) for (_, size), count in more.items()
        )
        """Bytes of files without a file of their name and size on the other side: about what will be read."""
        sizes = [[file.size for file in side] for side in sides]
        self.key = hashlib.sha256(repr(("sizes", sizes)).encode()).hexdigest()[:40]
        """Where a report was kept, it was kept with this; other trees may have the same."""


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


def remembered(
    database: Database, paths: Sequence[str | None], options: object, begin: Callable[[int], None]
) -> Remembered | None:
    """What is known of a comparison of these folders; None where they are no folders or nothing can be kept.

    ``begin`` is told how many bytes will be read, about, as soon as it is certain that no report is remembered.
    """
    if not is_plain(sys.path):
        return None
    scans = scans_of(paths)
    if scans is None:
        return None
    sizes = Sizes(scans)
    is_new = checked(sizes.key, database.get(sizes.key)) is None
    if is_new:
        begin(sizes.different)
    return Remembered(database, paths, options, scans, sizes.key, is_new=is_new)


class Remembered:
    """The reports in one store, for one way of asking. Files are hashed when that is needed first."""

    def __init__(
        self,
        database: Database,
        paths: Sequence[str | None],
        options: object,
        scans: Sequence[Scan],
        sizes: str,
        *,
        is_new: bool,
    ) -> None:
        """``sizes`` is the key of a row that is there wherever a report of files of such sizes is."""
        self._database = database
        self._paths = paths
        self._options = options
        self._scans = scans
        self._sizes = sizes
        self._is_new = is_new
        self._hashed = False
        self._trees: Trees | None = None
        self._key = ""

    def scan(self, path: str | None) -> Scan | None:
        """What was found in one of the folders."""
        return dict(zip(self._paths, self._scans, strict=False)).get(path)

    @property
    def different(self) -> int:
        """Bytes of files whose content is on one side only, once files are hashed."""
        return self._trees.different if self._trees is not None else 0

    def report(self) -> Report | None:
        """The report that was made; None where there is none, or tools were found that were not there then."""
        if self._is_new:
            return None
        self._hash()
        data = checked(self._key, self._database.get(self._key)) if self._key else None
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
        self._hash()
        files = self._trees.files if self._trees is not None else {}
        for bundle in bundles:
            for artifact in bundle.artifacts.values():
                sha256 = files.get(artifact.location)
                whole = artifact.suffix != ".json" and artifact.location.lower().endswith(artifact.suffix)
                if sha256 and whole:
                    artifact.recall(sha256)
        self._trees, self._scans = (
            None,
            (),
        )  # with very many kernels it is a good part of all that is in memory

    def keep(self, report: Report, tools: tuple[ToolSpec, ...]) -> None:
        """Keep a report that another run would make again."""
        if not self._key:
            return
        made = msgspec.msgpack.encode(report)
        if len(made) <= LARGEST:
            kept = Kept(tools, _identities(tools), made)
            data = zlib.compress(msgspec.msgpack.encode(kept), 1)
            rows = [(self._key, data), (self._sizes, b"")]
            self._database.put([(key, "", marked(key, row)) for key, row in rows])

    def _hash(self) -> None:
        """Hash every file, once."""
        if self._hashed:
            return
        self._hashed = True
        self._trees = found = trees(self._paths, self._scans)
        if found is None:
            return
        settings = sorted(
            (name, value)
            for name, value in os.environ.items()
            if name.startswith(SETTINGS) and name not in NO_SETTINGS
        )
        home = os.environ.get("HOME", "")
        parts = ("report", _code(), found.digest, self._options, settings, home, _configs())
        self._key = hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:40]


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
