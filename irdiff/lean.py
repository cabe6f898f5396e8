"""What a process that is to start quickly does first."""

from __future__ import annotations

import sys


def import_msgspec() -> None:
    """Import msgspec without typing_extensions, which is a third of it: msgspec takes it for an old Python's sake."""
    loaded: dict[str, object] = sys.modules  # type: ignore[assignment]  # None reads as not installed
    if sys.hexversion < 0x030B0000 or "typing_extensions" in loaded or "msgspec" in loaded:
        return
    loaded["typing_extensions"] = None
    try:
        import msgspec  # noqa: F401  # for those who import it later
    finally:
        del loaded["typing_extensions"]
