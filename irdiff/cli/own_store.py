"""``irdiff cache --own``: where the store is, how much it holds, and emptying it."""

from __future__ import annotations

import os
import sys

from irdiff.cli.exit_codes import Exit
from irdiff.errors import UsageError
from irdiff.present.wording import printable
from irdiff.store.database import Database
from irdiff.store.location import PLACE, SIZE, cap, place


def run_own_store(*, clear: bool) -> Exit:
    """Print where the store is and what it holds. Raises UsageError where there is none."""
    path = place(os.environ)
    if path is None:
        raise UsageError("there is no store", where=PLACE, hint=f"set {PLACE} to a file")
    problems: list[str] = []
    database = Database(path, cap=cap(os.environ), warn=problems.append)
    try:
        if clear and path.exists():
            database.clear()
        found = database.contents() if path.exists() else None
        entries, size = (found.entries, found.size) if found is not None else (0, 0)
    finally:
        database.close()
    lines = [
        f"store    {path}",
        f"entries  {entries:,}",
        f"size     {size / (1 << 20):,.1f} MB of {cap(os.environ) / (1 << 20):,.0f} MB ({SIZE})",
    ]
    sys.stdout.write(printable("\n".join(lines) + "\n"))
    for problem in problems:
        sys.stderr.write(printable(f"warning: {problem}\n"))
    return Exit.UNSURE if problems else Exit.OK
