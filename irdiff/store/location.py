"""Where the store lies and how large it may become: two environment variables and the platform's cache folder."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from irdiff.errors import UsageError

PLACE = "IRDIFF_STORE"
"""Environment variable: the store's file; ``off`` for none."""
SIZE = "IRDIFF_STORE_SIZE"
"""Environment variable: what it may hold, in bytes or as ``500M`` or ``2G``."""
DEFAULT_SIZE = 2 << 30
NAME = "store.db"

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def place(environment: Mapping[str, str]) -> Path | None:
    """The store's file; None where it is switched off or there is no home to put it in."""
    named = environment.get(PLACE, "")
    if named == "off":
        return None
    if named:
        path = Path(named)
        return path / NAME if path.is_dir() or named.endswith("/") else path
    home = environment.get("HOME", "")
    if sys.platform == "darwin":
        return Path(home) / "Library" / "Caches" / "irdiff" / NAME if home else None
    caches = environment.get("XDG_CACHE_HOME", "")
    if not caches.startswith("/"):  # the specification: a path that is not absolute is ignored
        caches = f"{home}/.cache" if home else ""
    return Path(caches) / "irdiff" / NAME if caches else None


def cap(environment: Mapping[str, str]) -> int:
    """Bytes it may hold. Raises UsageError for what is no size."""
    named = environment.get(SIZE, "")
    if not named:
        return DEFAULT_SIZE
    found = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)i?B?", named.strip(), re.IGNORECASE)
    if found is None:
        raise UsageError(f"{named!r} is no size", where=SIZE, hint="a number of bytes, or 500M, 2G")
    return int(found[1]) * _UNITS[found[2].upper()]
