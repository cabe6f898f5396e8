"""Where copies of an external program are: setting, PyPI packages, homes, PATH, modules, in that order."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import msgspec

from irdiff.installed import Installed, folders, is_plain
from irdiff.model.tools import ToolSpec


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """One file that should be the program."""

    path: str
    origin: str
    """Where it was found, in words."""


def copies(
    spec: ToolSpec, environment: Mapping[str, str], python_path: Sequence[str] | None = None
) -> tuple[Copy, ...]:
    """Every copy of a program, in the order in which they should be tried; a file found twice counts once.

    ``python_path`` is where packages and modules are looked for; ``None`` means this interpreter's own path.
    """
    found: dict[str, Copy] = {}
    for copy in _candidates(spec, environment, python_path):
        # Not Path.is_file, which raises for a folder that may not be entered or a name that is too long.
        if os.path.isfile(copy.path):  # noqa: PTH113
            found.setdefault(os.path.realpath(copy.path), copy)
    return tuple(found.values())


def _candidates(
    spec: ToolSpec, environment: Mapping[str, str], python_path: Sequence[str] | None
) -> Iterator[Copy]:
    named = environment.get(spec.variable, "")
    if named:
        yield Copy(path=str(Path(named).expanduser().absolute()), origin=spec.variable)
    for distribution, name in spec.packages:
        for path in _packaged(distribution, name, python_path):
            yield Copy(path=path, origin=f"PyPI package {distribution}")
    for variable, below in spec.homes:
        home = environment.get(variable, "")
        if home:
            yield Copy(path=str(Path(home).absolute() / below), origin=variable)
    for folder in environment.get("PATH", "").split(os.pathsep):
        if folder:
            yield Copy(path=str(Path(folder).absolute() / spec.id), origin="PATH")
    for module, below in spec.modules:
        for folder in _module_folders(module, python_path):
            yield Copy(path=str(Path(folder) / below), origin=f"Python package {module}")


def _packaged(distribution: str, name: str, python_path: Sequence[str] | None) -> Iterator[str]:
    """Files of that name which an installed distribution says it holds."""
    if python_path is None and is_plain(sys.path):
        yield from _recorded(distribution, name)
        return
    import importlib.metadata

    if python_path is None:
        context = importlib.metadata.DistributionFinder.Context(name=distribution)
    else:
        context = importlib.metadata.DistributionFinder.Context(name=distribution, path=list(python_path))
    for installed in importlib.metadata.distributions(context=context):
        for file in installed.files or ():
            if file.name == name:
                yield str(Path(str(installed.locate_file(file))).absolute())


def _recorded(distribution: str, name: str) -> Iterator[str]:
    """The same by the distribution's RECORD (PyPA, "Recording installed projects"): paths below where it lies."""
    import csv

    wanted = re.sub(r"[-_.]+", "-", distribution).lower()
    for folder in folders(sys.path):
        base = Path(folder)
        if re.sub(r"[-_.]+", "-", base.stem.partition("-")[0]).lower() != wanted:
            continue
        try:
            record = Installed(folder).read_text("RECORD") or ""
        except (OSError, UnicodeDecodeError):
            continue
        for row in csv.reader(record.splitlines()):
            if row and row[0].rpartition("/")[2] == name:
                yield str((base.parent / row[0]).absolute())


def _module_folders(module: str, python_path: Sequence[str] | None) -> Iterator[str]:
    """The folders of a package, found without importing it; a name with a dot would import its parent."""
    import importlib.util

    spec: ModuleSpec | None
    try:
        if python_path is None:
            spec = importlib.util.find_spec(module)
        else:
            spec = PathFinder.find_spec(module, list(python_path))
    except (ImportError, ValueError):  # a module already loaded, and without a spec
        spec = None
    if spec is not None:
        yield from spec.submodule_search_locations or ()
