"""Load what a user names: ask the sources of plugins, read it, pick what the selector asks for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from irdiff.errors import InputError, IrdiffError
from irdiff.model.bundle import Bundle
from irdiff.model.issues import Issue
from irdiff.model.specs import SourceSpec, StageLookup
from irdiff.sources.entries import Found
from irdiff.sources.names import shown
from irdiff.sources.paths import kernels_in, kernels_of, read_path
from irdiff.sources.select import select, split_selector
from irdiff.sources.tree import Scan
from irdiff.sources.urls import is_url, without_user


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """What an input holds."""

    bundles: tuple[Bundle, ...]
    """Sorted by name, target and path; at least one."""
    issues: tuple[Issue, ...]
    """About the input as a whole; those about one kernel are on its bundle."""
    described: str
    """The input as the user named it."""


def load(
    path_or_selector: str,
    context: StageLookup,
    environment: Mapping[str, str],
    sources: Sequence[SourceSpec] = (),
    tree: Scan | None = None,
) -> Loaded:
    """Load a cache or dump tree, one entry, a file, an archive, a log or a URL; ``DIR::KERNEL`` picks from it.

    ``sources`` of plugins are asked first; one that fails is named in an issue and passed over. Raises InputError
    where the path is not there or holds no kernel. One damaged entry never stops the others. ``tree`` is what was
    found in the path before, where it is a tree.
    """
    path, wanted = split_selector(path_or_selector)
    if is_url(path) and not os.path.lexists(path):
        found = _remote(path, context, environment)
        path, path_or_selector = without_user(path), without_user(path_or_selector)
    else:
        found = _ask_plugins(path, context, sources)
        if not found.bundles:
            found = _with_issues(read_path(path, context, environment, tree), found.issues)
    bundles = select(found.bundles, wanted, shown(path)) if wanted is not None else found.bundles
    return Loaded(bundles=_sorted(bundles), issues=found.issues, described=shown(path_or_selector))


def _remote(url: str, context: StageLookup, environment: Mapping[str, str]) -> Found:
    """What lies behind a URL; plugins' sources are given paths, so they are not asked."""
    from irdiff.sources.remote import read_url  # imports fsspec

    found = read_url(url)
    described = shown(without_user(url))
    if found.file is None:
        return kernels_in(found.folders, found.issues, described, context, environment)
    return kernels_of(found.file, lambda stem: found.beside, described, context)


def load_defaults(context: StageLookup, environment: Mapping[str, str], wanted: str | None = None) -> Loaded:
    """Load every cache of this user that is there (see :mod:`irdiff.sources.defaults`), as one.

    Raises InputError where there is none, or none holds a kernel.
    """
    from irdiff.sources.defaults import default_locations

    locations = default_locations(environment)
    bundles: dict[tuple[str, str], Bundle] = {}
    issues: list[Issue] = []
    for location in locations:
        try:
            found = read_path(location.path, context, environment)
        except InputError as error:
            issues.append(
                Issue(severity="note", code="empty-cache", message=error.message, where=location.path)
            )
            continue
        issues.extend(found.issues)
        for bundle in found.bundles:
            bundles.setdefault((os.path.realpath(bundle.path), bundle.name), bundle)
    described = ", ".join(location.path for location in locations)
    if not bundles:
        raise InputError("no kernel was found", where=described, hint="run a Triton kernel first")
    chosen = tuple(bundles.values())
    if wanted is not None:
        chosen = select(chosen, wanted, described)
    return Loaded(bundles=_sorted(chosen), issues=tuple(issues), described=described)


def _sorted(bundles: Iterable[Bundle]) -> tuple[Bundle, ...]:
    def key(bundle: Bundle) -> tuple[str, str, str, tuple[str, ...]]:
        locations = tuple(sorted(artifact.location for artifact in bundle.artifacts.values()))
        return bundle.name, str(bundle.target or ""), bundle.path, locations

    return tuple(sorted(bundles, key=key))


def _with_issues(found: Found, issues: Sequence[Issue]) -> Found:
    return Found(bundles=found.bundles, issues=(*issues, *found.issues))


class _Listening:
    """The context a plugin's source is given: what it reports goes into the result."""

    def __init__(self, context: StageLookup) -> None:
        self.stage_of = context.stage_of
        self.stage_after = context.stage_after
        self.is_final = context.is_final
        self.issues: list[Issue] = []

    def report(self, issue: Issue) -> None:
        self.issues.append(issue)


def _ask_plugins(path: str, context: StageLookup, sources: Sequence[SourceSpec]) -> Found:
    """What the first source that recognises the path makes of it. Lets InputError through."""
    issues: list[Issue] = []
    for source in sources:
        listening = _Listening(context)
        try:
            if not source.recognizes(Path(path)):
                continue
            bundles = tuple(source.load(Path(path), listening))
        except IrdiffError:
            raise
        except Exception as error:  # noqa: BLE001  # protects the built-in sources from the plugin's source it names
            issues.append(
                Issue(
                    severity="error",
                    code="plugin-error",
                    message=f"the source {source.id} of a plugin failed: {type(error).__name__}: {error}",
                    where=shown(path),
                    hint="report it to the plugin's authors; IRDIFF_DISABLE_PLUGINS switches a plugin off",
                )
            )
            continue
        issues.extend(listening.issues)
        if not bundles:
            raise InputError(
                f"the source {source.id} found no kernel in it",
                where=shown(path),
                hint="is it the right path?",
            )
        return Found(bundles=bundles, issues=tuple(issues))
    return Found(issues=tuple(issues))
