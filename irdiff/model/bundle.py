"""Bundle: one compiled kernel with all its artifacts, wherever it was found."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from irdiff.model.facts import Scalar
from irdiff.model.issues import Issue

Layout: TypeAlias = Literal["cache", "binary-only", "dump", "failed", "file", "log"]
"""How an entry was written, and so which stages it is expected to hold: a Triton cache entry, one stored
with ``TRITON_STORE_BINARY_ONLY``, a dump folder (no JSON), a compilation that ended early, a file named by
the user, a recorded compile log."""


class Artifact:
    """The bytes of one stage of one kernel, read when asked for.

    ``stage`` is the id of the stage that claims ``suffix``, or the bare suffix where none does;
    ``location`` names the file for people (a path, or ``archive.tar!member``).
    """

    __slots__ = ("_read", "_sha256", "_size", "location", "stage", "suffix")

    def __init__(
        self, *, stage: str, suffix: str, location: str, read: Callable[[], bytes], size: int | None = None
    ) -> None:
        self.stage = stage
        self.suffix = suffix
        self.location = location
        self._read = read
        self._size = size
        self._sha256: str | None = None

    @staticmethod
    def of_bytes(data: bytes, *, stage: str = "", suffix: str = "", location: str = "<memory>") -> Artifact:
        """An artifact that is already in memory (tests, archives)."""
        return Artifact(stage=stage, suffix=suffix, location=location, read=lambda: data, size=len(data))

    def read(self) -> bytes:
        """The content. Raises OSError where the file cannot be read."""
        data = self._read()
        self._size = len(data)
        if self._sha256 is None:
            self._sha256 = hashlib.sha256(data).hexdigest()
        return data

    @property
    def sha256(self) -> str:
        """SHA-256 of the content in hex; reads the file the first time."""
        if self._sha256 is None:
            self.read()
        assert self._sha256 is not None
        return self._sha256

    def recall(self, sha256: str) -> None:
        """Take over the digest of a file that was read a moment ago; the reader of the content checks it."""
        if self._sha256 is None:
            self._sha256 = sha256

    @property
    def size(self) -> int:
        """Bytes."""
        if self._size is None:
            self.read()
        assert self._size is not None
        return self._size

    def __repr__(self) -> str:
        return f"Artifact({self.stage!r}, {self.location!r})"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel was compiled for."""

    backend: str
    """Triton's backend name: ``cuda``, ``hip``."""
    arch: str
    """``90``, ``gfx942``: as Triton's GPUTarget spells it."""

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """One compiled kernel, all its stages."""

    name: str
    """Name of the kernel function."""
    path: str
    """Folder of the entry (or the file), as the user would find it."""
    entry: str = ""
    """Name of the entry folder: the cache key, where there is one."""
    layout: Layout = "cache"
    target: Target | None = None
    """``None`` where no file records it."""
    release: str | None = None
    """Triton release that wrote it, where recorded."""
    hash: str | None = None
    """Triton's own hash of the compilation, where recorded."""
    begins: str | None = None
    """Id of the stage whose file was given to the compiler, where that was no Python: earlier ones are not missing."""
    artifacts: dict[str, Artifact] = {}
    """Stage id to artifact."""
    metadata: dict[str, Scalar] = {}
    """Scalar fields of the entry's JSON."""
    modified: float = 0.0
    """Newest modification time of its files, seconds since the epoch; only for ordering ``recent``."""
    issues: tuple[Issue, ...] = ()
    """What was wrong with the entry's files before any stage was read."""
