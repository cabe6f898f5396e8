"""The compiled fixtures, read from their archives; ``make_fixtures.py`` makes them anew."""

from __future__ import annotations

import signal
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType

import msgspec
from irdiff.api import Artifact, Canonical, Context, Summary
from irdiff.testing import NoTools

from irdiff_amdgcn import canonical, facts

FOLDER = Path(__file__).parent / "fixtures"
RELEASES = ("3.3.1", "3.6.0", "3.7.1", "3.8.0", "3.9.0")
TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One compiled kernel."""

    release: str
    target: str
    name: str
    """``matmul_kernel-w4s2``."""
    files: dict[str, bytes]
    """Suffix to content."""

    @property
    def text(self) -> str:
        """The assembly."""
        return self.files[".amdgcn"].decode()

    @property
    def id(self) -> str:
        """For pytest."""
        return f"{self.release}-{self.target}-{self.name}"


@cache
def members(archive: str) -> dict[str, dict[str, bytes]]:
    """Folder to file name to content."""
    files: dict[str, dict[str, bytes]] = {}
    with tarfile.open(FOLDER / archive) as tar:
        for member in tar:
            content = tar.extractfile(member)
            assert content is not None
            folder, _, name = member.name.rpartition("/")
            files.setdefault(folder, {})[name] = content.read()
    return files


@cache
def corpus() -> tuple[Entry, ...]:
    """Every entry of ``corpus.tar.xz``, and those of the cases behind them, named ``case-...``."""
    found = []
    for folder, files in sorted(members("corpus.tar.xz").items()):
        release, target, name = folder.split("/")
        found.append(_entry(release, target, name, files))
    for folder, files in sorted(members("cases.tar.xz").items()):
        case, release, _ = folder.split("/")
        found.append(_entry(release, case.rpartition("-")[2], f"case-{case}", files))
    return tuple(found)


def _entry(release: str, target: str, name: str, files: dict[str, bytes]) -> Entry:
    stages = {
        Path(file).suffix: data for file, data in files.items() if not file.startswith(("__grp__", "irdiff."))
    }
    return Entry(release=release, target=target, name=name, files=stages)


def entry(release: str, target: str, name: str) -> Entry:
    """One entry, by the beginning of its name."""
    return next(
        each
        for each in corpus()
        if (each.release, each.target) == (release, target) and each.name.startswith(name)
    )


def unpack_cases(into: Path) -> Path:
    """The entries of ``cases.tar.xz``, below ``into``."""
    for folder, files in members("cases.tar.xz").items():
        (into / folder).mkdir(parents=True)
        for name, data in files.items():
            (into / folder / name).write_bytes(data)
    return into


def artifact(data: bytes | str, suffix: str = ".amdgcn") -> Artifact:
    """An artifact in memory."""
    content = data.encode() if isinstance(data, str) else data
    return Artifact.of_bytes(content, stage=suffix[1:], suffix=suffix)


def context(*, without: str = "") -> Context:
    """A context with every normalisation on, or all but one."""
    return Context(tools=NoTools(), switched_off=frozenset({without} - {""}))


@cache
def summary(data: bytes | str) -> Summary:
    """What the stage ``amdgcn`` says."""
    return facts.summarize(artifact(data), context())


def values(made: Summary, scope: str = "") -> dict[str, object]:
    """Fact id to value in one scope."""
    return {fact.id: fact.value for fact in made.facts if fact.scope == scope}


def form(data: bytes | str, *, without: str = "") -> Canonical:
    """The canonical form of assembly."""
    return canonical.canonical(artifact(data), context(without=without))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises TimeoutError where the block takes more processor time."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"not done in {seconds} s")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
