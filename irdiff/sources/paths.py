"""Read what one path holds: a tree of folders, an archive, a log, or one file of a stage."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence

from irdiff.errors import InputError
from irdiff.model.issues import Issue
from irdiff.model.specs import StageLookup
from irdiff.sources.entries import Found, bundle_of_file, bundles_of
from irdiff.sources.failures import failures_of
from irdiff.sources.files import Folder, FoundFile, on_disk
from irdiff.sources.layouts import is_override
from irdiff.sources.lookup import Lookup
from irdiff.sources.names import JSON_SUFFIX, classify, is_archive, shown
from irdiff.sources.reproducers import reproducers_of
from irdiff.sources.select import nearest_hint
from irdiff.sources.tree import Scan, scan


def read_path(
    path: str, context: StageLookup, environment: Mapping[str, str], tree: Scan | None = None
) -> Found:
    """The kernels of a tree, an archive or a file on disk. Raises InputError where there is none.

    ``tree`` is what was found in the path before, where it is a tree.
    """
    if tree is not None:
        return kernels_in(tree.folders, tree.issues, path, context, environment)
    path = _expanded(path, environment)
    try:
        status = os.stat(path)  # noqa: PTH116
        if stat.S_ISDIR(status.st_mode):
            tree = scan(path)
            return kernels_in(tree.folders, tree.issues, path, context, environment)
        if is_archive(path):
            from irdiff.sources.archives import read_archive  # some Pythons are built without lzma or bz2

            archive = read_archive(path, shown(path))
            return kernels_in(archive.folders, archive.issues, path, context, environment)
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


def kernels_in(
    folders: Sequence[Folder],
    issues: Sequence[Issue],
    path: str,
    context: StageLookup,
    environment: Mapping[str, str],
) -> Found:
    """The kernels of all folders of a tree or an archive. Raises InputError where there is none."""
    parts: list[Found] = []
    context = Lookup(context)
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
    return kernels_of(file, lambda stem: _json_beside(folder, stem), path, context)


def kernels_of(
    file: FoundFile, beside: Callable[[str], FoundFile | None], path: str, context: StageLookup
) -> Found:
    """What one file holds, on disk or elsewhere; ``beside`` finds the JSON of its stem. Raises InputError."""
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
