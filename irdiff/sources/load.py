"""Load what a user names: recognise the kind of input, read it, pick what the selector asks for."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from irdiff.errors import InputError, IrdiffError
from irdiff.model.bundle import Bundle
from irdiff.model.issues import Issue
from irdiff.model.specs import SourceSpec, StageLookup
from irdiff.sources.entries import Found, bundle_of_file, bundles_of
from irdiff.sources.failures import failures_of
from irdiff.sources.files import Folder, FoundFile, on_disk
from irdiff.sources.layouts import is_override
from irdiff.sources.names import JSON_SUFFIX, classify, is_archive, shown
from irdiff.sources.reproducers import reproducers_of
from irdiff.sources.select import nearest_hint, select, split_selector
from irdiff.sources.tree import scan
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
) -> Loaded:
    """Load a cache or dump tree, one entry, a file, an archive, a log or a URL; ``DIR::KERNEL`` picks from it.

    ``sources`` of plugins are asked first; one that fails is named in an issue and passed over. Raises InputError
    where the path is not there or holds no kernel. One damaged entry never stops the others.
    """
    path, wanted = split_selector(path_or_selector)
    if is_url(path) and not os.path.lexists(path):
        found = _remote(path, context, environment)
        path, path_or_selector = without_user(path), without_user(path_or_selector)
    else:
        asked = _ask_plugins(path, context, sources)
        found = asked if asked.bundles else _with_issues(_built_in(path, context, environment), asked.issues)
    bundles = select(found.bundles, wanted, shown(path)) if wanted is not None else found.bundles
    return Loaded(bundles=_sorted(bundles), issues=found.issues, described=shown(path_or_selector))


def _remote(url: str, context: StageLookup, environment: Mapping[str, str]) -> Found:
    """What lies behind a URL; plugins' sources are given paths, so they are not asked."""
    from irdiff.sources.remote import read_url  # imports fsspec

    found = read_url(url)
    described = shown(without_user(url))
    if found.file is None:
        return _folders(found.folders, found.issues, described, context, environment)
    return _one_file(found.file, lambda stem: found.beside, described, context)


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
            found = _built_in(location.path, context, environment)
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


def _built_in(path: str, context: StageLookup, environment: Mapping[str, str]) -> Found:
    path = _expanded(path, environment)
    try:
        status = os.stat(path)  # noqa: PTH116
        if stat.S_ISDIR(status.st_mode):
            tree = scan(path)
            return _folders(tree.folders, tree.issues, path, context, environment)
        if is_archive(path):
            from irdiff.sources.archives import read_archive  # some Pythons are built without lzma or bz2

            archive = read_archive(path, shown(path))
            return _folders(archive.folders, archive.issues, path, context, environment)
        return _file(path, status, context)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("is not there", where=shown(path), hint=_sibling_hint(path)) from None
    except ImportError as error:
        raise InputError(
            f"cannot be unpacked by this Python: {error}",
            where=shown(path),
            hint="unpack it and name the folder",
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot be read: {reason}", where=shown(path), hint="check that you may read it"
        ) from None


def _folders(
    folders: Sequence[Folder],
    issues: Sequence[Issue],
    path: str,
    context: StageLookup,
    environment: Mapping[str, str],
) -> Found:
    """The kernels of all folders of a tree or an archive."""
    parts: list[Found] = []
    for folder in folders:
        replacing = is_override(folder.path.replace("!", os.sep), environment)
        parts.append(bundles_of(folder, context, layout="file" if replacing else None))
        parts.append(reproducers_of(folder, context))
        parts.append(Found(bundles=failures_of(folder, context)))
    logs = [file for folder in folders for file in folder.files if file.kind.role == "log"]
    if not _any(parts):
        parts += [_log(file, context) for file in logs]
        again = [] if _any(parts) else [bundles_of(folder, context, any_json=True) for folder in folders]
        parts = again if _any(again) else parts
    else:
        parts.append(Found(issues=tuple(_passed_over(file) for file in logs)))
    bundles = tuple(bundle for part in parts for bundle in part.bundles)
    issues = (*issues, *(issue for part in parts for issue in part.issues))
    if not bundles:
        raise InputError("holds no compiled kernel", where=shown(path), hint=_empty_hint(issues))
    return Found(bundles=bundles, issues=issues)


def _log(file: FoundFile, context: StageLookup) -> Found:
    from irdiff.sources.logs import read_log  # imports what unpacks them

    return read_log(file, context)


def _any(parts: Sequence[Found]) -> bool:
    return any(part.bundles for part in parts)


def _empty_hint(issues: Sequence[Issue]) -> str:
    if issues:
        return f"{issues[0].where}: {issues[0].message}"
    return "name a Triton cache, a dump folder, an entry of one, or a file such as kernel.ptx"


def _passed_over(file: FoundFile) -> Issue:
    """Logs are read where nothing else is there, for they tell of the same compilations."""
    return Issue(
        severity="note",
        code="log-not-read",
        message="is not read: the kernels themselves are here",
        where=file.location,
        hint="name the log to read it",
    )


def _file(path: str, status: os.stat_result, context: StageLookup) -> Found:
    """One file that the user names."""
    folder, name = os.path.split(path)
    file = on_disk(path, classify(shown(name)), status)
    return _one_file(file, lambda stem: _json_beside(folder, stem), path, context)


def _one_file(
    file: FoundFile, beside: Callable[[str], FoundFile | None], path: str, context: StageLookup
) -> Found:
    """One file, on disk or elsewhere; ``beside`` finds the JSON of its stem."""
    kind = file.kind
    if file.read is None:
        raise InputError(file.issue.message if file.issue else "cannot be read", where=shown(path))
    if kind.role == "log":
        found = _log(file, context)
    elif kind.role == "reproducer":
        found = reproducers_of(Folder(path=shown(path), name="", files=(file,)), context)
    elif kind.role == "stage":
        return Found(bundles=(bundle_of_file(file, beside(kind.stem), context),))
    else:
        raise InputError(
            "is no stage of a compiled kernel",
            where=shown(path),
            hint="name a file such as kernel.ptx, or the folder it lies in",
        )
    if not found.bundles:
        raise InputError("holds no compiled kernel", where=shown(path), hint=_empty_hint(found.issues))
    return found


def _json_beside(folder: str, stem: str) -> FoundFile | None:
    path = os.path.join(folder, stem + JSON_SUFFIX)  # noqa: PTH118
    try:
        return on_disk(path, classify(shown(stem) + JSON_SUFFIX), os.stat(path))  # noqa: PTH116
    except OSError:
        return None


def _expanded(path: str, environment: Mapping[str, str]) -> str:
    """``~`` as the shell would have done it."""
    home = environment.get("HOME")
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return path


def _sibling_hint(path: str) -> str:
    """What is there instead: names like it in the nearest folder that exists."""
    folder = os.path.abspath(path.rstrip("/") or "/")  # noqa: PTH100
    while True:
        folder, name = os.path.split(folder)
        if os.path.isdir(folder) or not name:  # noqa: PTH112
            break
    try:
        names = [shown(entry) for entry in os.listdir(folder) if not entry.startswith(".")]  # noqa: PTH208
    except OSError as error:
        return f"{shown(folder)} cannot be read: {error.strerror or error}"
    if not names:
        return f"nothing is in {shown(folder)}"
    return f"in {shown(folder)}: {nearest_hint(shown(name), names)}"
