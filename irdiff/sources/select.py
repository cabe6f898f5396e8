"""Selectors: ``DIR::KERNEL`` and ``DIR::HASHPREFIX`` pick kernels from what a path holds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath

from irdiff.errors import InputError
from irdiff.model.bundle import Bundle
from irdiff.sources.names import shown
from irdiff.sources.urls import is_url, split_url

SEPARATOR = "::"
MIN_HASH = 4
"""Characters of a hash that are enough to mean it."""

_MAX_HINTS = 5


def split_selector(text: str) -> tuple[str, str | None]:
    """Path (or URL) and selector. A path that exists with ``::`` in its name is a path. Raises InputError."""
    if SEPARATOR not in text or os.path.lexists(text):
        return text, None
    if is_url(text):
        return split_url(text)
    path, _, wanted = text.rpartition(SEPARATOR)
    if not path or not wanted:
        raise InputError(
            "names no path or no kernel", where=shown(text), hint="write DIR::KERNEL or DIR::HASHPREFIX"
        )
    return path, wanted


def select(bundles: Sequence[Bundle], wanted: str, where: str) -> tuple[Bundle, ...]:
    """The kernels of exactly that name; else those whose hash begins so; else those whose name matches the glob.

    A hash is the name of the entry's folder or the one in its JSON, in any case, from MIN_HASH characters on.
    Raises InputError with the nearest names.
    """
    found = tuple(bundle for bundle in bundles if bundle.name == wanted)
    if not found and len(wanted) >= MIN_HASH:
        found = _of_hash(bundles, wanted)
    found = found or tuple(bundle for bundle in bundles if fnmatchcase(bundle.name, wanted))
    if not found:
        names = {bundle.name for bundle in bundles}
        hint = nearest_hint(wanted, names)
        if len(wanted) < MIN_HASH and _of_hash(bundles, wanted):
            hint = f"of a hash, {MIN_HASH} characters or more are needed"
        raise InputError(f"holds no kernel {shown(wanted)}", where=where, hint=hint)
    return found


def nearest_hint(wanted: str, names: Iterable[str]) -> str:
    """Which names come nearest; where none is near, some of those that are there."""
    import difflib  # only where something was mistyped

    known = sorted(set(names))
    # Kernels' names share long beginnings (triton_poi_fused_...): plain names are few and short, difflib does.
    near = difflib.get_close_matches(wanted[:200], known, n=_MAX_HINTS, cutoff=0.5)
    if near:
        return f"did you mean {', '.join(near)}?"
    listed = ", ".join(known[:_MAX_HINTS])
    more = f" and {len(known) - _MAX_HINTS} more" if len(known) > _MAX_HINTS else ""
    return f"there are {listed}{more}" if known else "there are none"


def _of_hash(bundles: Sequence[Bundle], prefix: str) -> tuple[Bundle, ...]:
    wanted = prefix.casefold()
    return tuple(b for b in bundles if any(known.casefold().startswith(wanted) for known in _hashes(b)))


def _hashes(bundle: Bundle) -> Iterable[str]:
    yield bundle.entry or PurePath(bundle.path.rpartition("!")[2]).name
    if bundle.hash:
        yield bundle.hash
