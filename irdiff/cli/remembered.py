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
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from irdiff.cli.trees import Sizes, Trees, Watch, scans_of, trees
from irdiff.config.find import configs_above
from irdiff.installed import Installed, Point, folders, is_plain, points
from irdiff.model.bundle import Bundle
from irdiff.model.report import Report
from irdiff.model.tools import ToolSpec
from irdiff.sources.tree import Scan
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


def remembered(
    database: Database, paths: Sequence[str | None], options: object, begin: Callable[[int], None]
) -> Remembered | None:
    """What is known of a comparison of these folders; None where they are no folders or nothing can be kept.

    ``begin`` is told how many bytes will be read, about, as soon as it is certain that no report is remembered.
    """
    if not is_plain(sys.path):
        return None
    watch = Watch()
    scans = scans_of(paths, watch.read)
    if scans is None:
        return None
    sizes = Sizes(scans)
    is_new = checked(sizes.key, database.get(sizes.key)) is None
    if is_new:
        begin(sizes.different)
    return Remembered(database, paths, options, scans, sizes.key, watch, is_new=is_new)


class Remembered:
    """The reports in one store, for one way of asking. Files are hashed when that is needed first."""

    def __init__(
        self,
        database: Database,
        paths: Sequence[str | None],
        options: object,
        scans: Sequence[Scan],
        sizes: str,
        watch: Watch,
        *,
        is_new: bool,
    ) -> None:
        """``sizes`` is the key of a row that is there wherever a report of files of such sizes is."""
        settings = sorted(
            (name, value)
            for name, value in os.environ.items()
            if name.startswith(SETTINGS) and name not in NO_SETTINGS
        )
        self._rest = (_code(), options, settings, os.environ.get("HOME", ""), _configs())
        """What a report follows from beside the files, as it is before anything else is looked at."""
        self._database = database
        self._paths = paths
        self._watch = watch
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
        """Keep a report that another run would make again, unless a file held something else before it was hashed."""
        if not self._key or self._watch.changed:
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
        self._watch.rest()
        self._trees = found = trees(self._paths, self._scans)
        if found is not None:
            parts = ("report", found.digest, *self._rest)
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
