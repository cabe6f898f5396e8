"""Finding and reading the configuration file: TOML, never executed."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from irdiff.errors import InputError, UsageError

NAMES = ("irdiff.toml", "pyproject.toml")
"""In this order in each folder."""


def find_config(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """The nearest configuration, going up from a folder, and its content; None where there is none.

    A ``pyproject.toml`` counts only with a ``[tool.irdiff]``; one that never says irdiff is not even parsed, so that a
    broken file of somebody else's project stops nothing. Raises InputError where a file is no TOML.
    """
    for place in (folder, *folder.parents):
        for name in NAMES:
            path = place / name
            # Not Path.is_file, which raises for a folder that may not be entered.
            if os.path.isfile(path) and (name == NAMES[0] or _speaks_of_irdiff(path)):  # noqa: PTH113
                content = read_config(path)
                if content or name == NAMES[0]:
                    return path, content
    return None


def _speaks_of_irdiff(path: Path) -> bool:
    try:
        return b"irdiff" in path.read_bytes()
    except OSError:
        return False


def configs_above(folder: Path) -> tuple[tuple[str, bytes], ...]:
    """Every file that might be a configuration, going up from a folder, with its bytes: what a result may rest on."""
    found: list[tuple[str, bytes]] = []
    for place in (folder, *folder.parents):
        for name in NAMES:
            try:
                found.append((str(place / name), (place / name).read_bytes()))
            except OSError:
                continue
    return tuple(found)


def read_config(path: Path) -> dict[str, Any]:  # Any: TOML is open-ended; each table is checked by its reader
    """The content of one file: all of ``irdiff.toml``, ``[tool.irdiff]`` of ``pyproject.toml`` (empty without one).

    Raises InputError where it cannot be read or is no TOML, UsageError where ``[tool.irdiff]`` is no table.
    """
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        content: dict[str, Any] = toml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise InputError(f"is no TOML: {error}", where=str(path)) from None
    if path.name != "pyproject.toml":
        return content
    for name in ("tool", "irdiff"):
        content = content.get(name, {})
        if not isinstance(content, dict):
            raise UsageError(f"{name} is no table", where=str(path), hint="write [tool.irdiff.check]")
    return content
