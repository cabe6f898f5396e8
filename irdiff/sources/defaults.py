"""Where Triton's caches of this user are, when nobody names one."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from irdiff.errors import InputError


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """A place where a cache may be."""

    path: str
    origin: str
    """Why it is looked at: a variable, or whose default it is."""


def candidate_locations(environment: Mapping[str, str]) -> tuple[Location, ...]:
    """Where to look, in this order, whether or not anything is there.

    ``TRITON_CACHE_DIR``, ``TRITON_HOME`` (Triton's ``runtime/cache.py``), ``TORCHINDUCTOR_CACHE_DIR``, Triton's
    default ``~/.triton/cache``, and PyTorch's default ``torchinductor_USER`` in the folder for temporary files
    (``torch/_inductor/runtime/runtime_utils.py``); Inductor keeps Triton's entries below ``triton/DEVICE``.
    """
    home = environment.get("HOME") or environment.get("USERPROFILE") or str(Path.home())
    places: list[tuple[str, Path]] = []
    named = environment.get("TRITON_CACHE_DIR", "").strip()
    if named:
        places.append(("TRITON_CACHE_DIR", Path(named)))
    triton_home = environment.get("TRITON_HOME", "").strip()
    if triton_home:
        places.append(("TRITON_HOME", Path(triton_home) / ".triton" / "cache"))
    inductor = environment.get("TORCHINDUCTOR_CACHE_DIR", "").strip()
    if inductor:
        places.append(("TORCHINDUCTOR_CACHE_DIR", Path(inductor) / "triton"))
    places.append(("Triton's default", Path(home) / ".triton" / "cache"))
    folder = f"torchinductor_{_user(environment)}"
    places.append(("PyTorch's default", Path(_temporary(environment)) / folder / "triton"))
    return tuple(Location(path=str(path), origin=origin) for origin, path in places)


def default_locations(environment: Mapping[str, str]) -> tuple[Location, ...]:
    """Those that are there, each folder once. Raises InputError, which lists where it looked."""
    found: dict[str, Location] = {}
    candidates = candidate_locations(environment)
    for location in candidates:
        if Path(location.path).is_dir():
            found.setdefault(os.path.realpath(location.path), location)
    if not found:
        looked = ", ".join(f"{location.path} ({location.origin})" for location in candidates)
        raise InputError(
            f"no Triton cache was found; looked at {looked}",
            hint="name a folder, or run a Triton kernel first",
        )
    return tuple(found.values())


def _user(environment: Mapping[str, str]) -> str:
    """The user's name as PyTorch puts it into the folder's name."""
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if name := environment.get(variable):
            break
    else:
        try:
            name = getpass.getuser()
        except (KeyError, OSError, ImportError):
            name = "unknown"
    return re.sub(r'[\\/:*?"<>|]', "_", name)


def _temporary(environment: Mapping[str, str]) -> str:
    for variable in ("TMPDIR", "TEMP", "TMP"):
        if named := environment.get(variable):
            return named
    return tempfile.gettempdir()
