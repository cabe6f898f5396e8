"""Names like one that does not exist, as the hint of the error that says so."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 100
"""Characters of a name that are looked at: the comparison takes the square of it."""


def nearest(name: str, known: Iterable[str], otherwise: str | None = None, *, cutoff: float = 0.6) -> str:
    """``did you mean a or b?``; where nothing is like it ``otherwise``, or without that all names there are."""
    import difflib  # an error alone needs it

    names = sorted(known)
    near = difflib.get_close_matches(name[:LONGEST], names, n=3, cutoff=cutoff)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return otherwise if otherwise is not None else f"there are: {', '.join(names)}"
