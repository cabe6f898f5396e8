"""Which code made an answer: digests of packages by the names, sizes and times of their files, without reading them."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from irdiff import __version__
from irdiff.installed import Installed, folders
from irdiff.model.specs import StageSpec

SUFFIXES = (".py", ".so", ".pyd")
OURS = "irdiff"
"""Packages whose names begin so and that lie beside a plugin's are its helpers, as far as anybody can tell."""


def code_of(stage: StageSpec) -> str | None:
    """The folder that the package of a stage lies in and its name, as a path; None where it has none on disk."""
    for function in (stage.summarize, stage.canonical):
        module = getattr(function, "__module__", None) or type(function).__module__
        top = sys.modules.get(module.partition(".")[0])
        file = getattr(top, "__file__", None)
        if isinstance(file, str):
            name = os.path.basename(file)  # noqa: PTH119
            return os.path.dirname(file) if name.startswith("__init__.") else file  # noqa: PTH120
    return None


def packages_beside(paths: Iterable[str]) -> tuple[str, ...]:
    """The packages, and those beside them that are irdiff's or helpers of its plugins."""
    found = set(paths)
    for parent in {os.path.dirname(path) for path in found}:  # noqa: PTH120
        try:
            with os.scandir(parent) as entries:
                found.update(
                    entry.path
                    for entry in entries
                    if entry.name.startswith(OURS) and not entry.name.endswith("-info") and entry.is_dir()
                )
        except OSError:
            continue
    return tuple(sorted(found))


def digest_of(packages: Sequence[str], path: Sequence[str]) -> str:
    """Digest of the packages' files, of this Python and of everything installed that irdiff and they require."""
    made = hashlib.sha256(f"{__version__} {sys.version_info[:2]} {sys.implementation.name}\n".encode())
    for line in required(path):
        made.update(f"{line}\n".encode("utf-8", "backslashreplace"))
    for package in packages:
        for line in _files(package):
            made.update(f"{line}\n".encode("utf-8", "backslashreplace"))
    return made.hexdigest()


def required(path: Sequence[str]) -> list[str]:
    """Names and versions of installed distributions that one with plugins requires, and of those with plugins."""
    by_name: dict[str, str] = {}
    plugins: list[Installed] = []
    for folder in folders(path):
        name, _, version = os.path.basename(folder).rpartition(".")[0].partition("-")  # noqa: PTH119
        by_name.setdefault(_normal(name), f"{name} {version}")
        if f"[{OURS}]" in (_text(folder) or ""):
            plugins.append(Installed(folder))
    wanted = set()
    for plugin in plugins:
        wanted.add(_normal(plugin.header("Name")))
        wanted.update(_normal(_name(line)) for line in plugin.headers("Requires-Dist"))
    return sorted(line for name, line in by_name.items() if name in wanted)


def _text(folder: str) -> str | None:
    try:
        return Installed(folder).read_text("entry_points.txt")
    except (OSError, UnicodeDecodeError):
        return None


def _name(requirement: str) -> str:
    for at, letter in enumerate(requirement):
        if not (letter.isalnum() or letter in "-_."):
            return requirement[:at]
    return requirement


def _normal(name: str) -> str:
    return name.replace("_", "-").replace(".", "-").lower()


def _files(package: str) -> Iterator[str]:
    """A line for each file of a package, in one order."""
    if os.path.isfile(package):  # noqa: PTH113
        yield _line(package, os.stat(package))  # noqa: PTH116
        return
    lines = []
    waiting = [package]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIXES):
                        lines.append(_line(entry.path, entry.stat()))
                    elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                        waiting.append(entry.path)
        except OSError:
            lines.append(f"{folder} cannot be read")
    yield from sorted(lines)


def _line(path: str, status: os.stat_result) -> str:
    return f"{path} {status.st_size} {status.st_mtime_ns}"
