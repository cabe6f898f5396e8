"""The newest compilations: what one just ran."""

from __future__ import annotations

from collections.abc import Sequence

from irdiff.errors import InputError
from irdiff.model.bundle import Bundle
from irdiff.sources.select import select


def recent(bundles: Sequence[Bundle], kernel: str | None = None, *, limit: int = 20) -> tuple[Bundle, ...]:
    """At most ``limit`` bundles, newest first by the newest file of each; ``kernel`` as in a selector.

    Raises InputError where no kernel is of that name.
    """
    wanted = bundles if kernel is None else select(bundles, kernel, "the cache")
    ordered = sorted(wanted, key=lambda bundle: (bundle.name, bundle.path))
    ordered.sort(key=lambda bundle: bundle.modified, reverse=True)
    return tuple(ordered[:limit])


def two_newest(bundles: Sequence[Bundle], kernel: str) -> tuple[Bundle, Bundle]:
    """The two newest compilations of one kernel, the older one first: edit, run, ask.

    Where ``kernel`` selects several names, the one compiled last is meant. The other compilation is the newest for
    the same target, else the newest for any. Raises InputError where there are fewer than two.
    """
    ordered = recent(bundles, kernel, limit=len(bundles))
    newest = ordered[0]
    others = [bundle for bundle in ordered[1:] if bundle.name == newest.name]
    same_target = [bundle for bundle in others if bundle.target == newest.target]
    if not others:
        raise InputError(
            f"only one compilation of {newest.name} is there",
            where=newest.path,
            hint="change the kernel, run it again, then ask again",
        )
    return (same_target or others)[0], newest
