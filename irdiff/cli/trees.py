"""Two folders as they lie on disk: what is known of them by names and sizes, and by the digests of their files."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from irdiff.engine.hashing import each
from irdiff.sources.files import FoundFile, read_regular
from irdiff.sources.tree import Scan, scan


class Trees:
    """Both inputs as they lie on disk, every file of theirs hashed once."""

    def __init__(self, digest: str, files: Mapping[str, str], different: int) -> None:
        self.digest = digest
        self.files = files
        """Location to SHA-256."""
        self.different = different
        """Bytes of files whose content is on one side only."""


class Watch:
    """Reads files, and remembers what each held that was read before all were hashed.

    A report is kept by the digests of files, so it must rest on what they held then.
    """

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._watches = True
        self.changed = False
        """Whether a file held something else later."""

    def read(self, path: str) -> bytes:
        """The content of a file. Raises OSError."""
        data = read_regular(path)
        if self._watches or path in self._digests:
            digest = hashlib.sha256(data).digest()
            self.changed = self.changed or self._digests.setdefault(path, digest) != digest
        return data

    def rest(self) -> None:
        """From now on every file is held against what it was, and no more are remembered."""
        self._watches = False


def scans_of(paths: Sequence[str | None], read: Callable[[str], bytes] = read_regular) -> list[Scan] | None:
    """What lies in two folders; None where one of the paths is anything else."""
    if not all(path and path[0] != "~" and os.path.isdir(path) for path in paths):  # noqa: PTH112
        return None
    try:
        return [scan(path, read) for path in paths if path is not None]
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
