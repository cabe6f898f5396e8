"""Make bundles of the files of one folder: one for each kernel whose files lie there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import msgspec

from irdiff.model.bundle import Artifact, Bundle, Layout
from irdiff.model.facts import Scalar
from irdiff.model.issues import Issue
from irdiff.model.specs import StageLookup
from irdiff.sources.complaints import bad_json, ended_early, missing, second
from irdiff.sources.files import Folder, FoundFile
from irdiff.sources.layouts import layout_of
from irdiff.sources.names import (
    BINARY_SUFFIXES,
    JSON_SUFFIX,
    PROVENANCE_NAME,
    is_entry_name,
)
from irdiff.sources.recorded import given_stage, recorded_log
from irdiff.sources.stage_json import (
    Record,
    is_readable,
    looks_like_triton,
    said_by,
    stages_listed,
)

_MAX_ODD = 5
"""Oddities of one JSON that are named."""

BySuffix: TypeAlias = dict[str, list[FoundFile]]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What one folder, file, archive or log holds."""

    bundles: tuple[Bundle, ...] = ()
    issues: tuple[Issue, ...] = ()
    """Those that belong to no kernel."""


class _Kernel(msgspec.Struct, kw_only=True):
    """Files of one kernel being put together."""

    stem: str
    files: BySuffix = {}
    group: FoundFile | None = None
    listed: frozenset[str] = frozenset()
    """Suffixes of the stages that Triton's list names."""
    issues: list[Issue] = []


def bundles_of(
    folder: Folder, context: StageLookup, *, layout: Layout | None = None, any_json: bool = False
) -> Found:
    """The kernels of a folder, sorted by stem; ``layout`` where the files themselves do not say it.

    A JSON on its own that is too damaged to tell whose it is is a kernel's only with ``any_json``, else a note.
    Nothing but JSON is read. Reads only files that lie in the folder, whatever its JSON files name.
    """
    kernels: dict[str, _Kernel] = {}
    provenance: FoundFile | None = None
    for file in folder.files:
        name = file.kind
        if name.role == "provenance":
            provenance = file
        elif name.role in ("stage", "group"):
            kernel = kernels.setdefault(name.stem, _Kernel(stem=name.stem))
            if name.role == "group":
                kernel.group = file
            else:
                kernel.files.setdefault(name.suffix, []).append(file)
    extra: dict[str, Scalar] = {PROVENANCE_NAME: provenance.location} if provenance else {}
    bundles: list[Bundle] = []
    issues: list[Issue] = []
    for _, kernel in sorted(kernels.items()):
        if _is_kernel(kernel, folder, context, any_json=any_json):
            bundle = _bundle(kernel, folder, context, layout, extra, provenance)
            bundles.append(_with_log(bundle, provenance, context))
        else:
            issues.extend(_lost(kernel, context))
    if not bundles and folder.bare and not folder.files and is_entry_name(folder.name):
        issues.append(
            Issue(
                severity="warning",
                code="empty-entry",
                message="is the folder of a compilation and holds nothing",
                where=folder.path,
                hint="the compilation failed before its first stage, or the folder was cleared",
            )
        )
    return Found(bundles=tuple(bundles), issues=tuple(issues))


def bundle_of_file(file: FoundFile, stage_json: FoundFile | None, context: StageLookup) -> Bundle:
    """One file on its own, as a bundle of a single stage; the JSON beside it says what it belongs to."""
    name = file.kind
    kernel = _Kernel(stem=name.stem, files={name.suffix: [file]})
    said = Record()
    if name.suffix == JSON_SUFFIX:
        said = _read_json(kernel, file)
    elif stage_json is not None:
        said = _read_json(kernel, stage_json)
    artifacts = _artifacts(kernel, context)
    return Bundle(
        name=said.name or name.stem,
        path=file.location,
        layout="file",
        target=said.target,
        release=said.release,
        hash=said.hash,
        artifacts=artifacts,
        metadata=dict(said.scalars),
        modified=file.modified,
        issues=tuple(kernel.issues),
    )


def _is_kernel(kernel: _Kernel, folder: Folder, context: StageLookup, *, any_json: bool) -> bool:
    """Whether files of one stem are a kernel's: a stage that a plugin knows, Triton's list of files, or its JSON."""
    if kernel.group is not None:
        return True
    stages = kernel.files.keys() - {JSON_SUFFIX}
    if any(suffix in BINARY_SUFFIXES or context.stage_of(suffix) is not None for suffix in stages):
        return True
    if JSON_SUFFIX not in kernel.files:
        return False
    if is_entry_name(folder.name):
        return True
    data = _content(kernel.files[JSON_SUFFIX][0])
    return data is not None and (looks_like_triton(data) or (any_json and not is_readable(data)))


def _lost(kernel: _Kernel, context: StageLookup) -> Iterable[Issue]:
    """Files that might have been a kernel's, had their content been there."""
    for suffix, files in sorted(kernel.files.items()):
        for file in files:
            if file.read is None and file.issue is not None and context.stage_of(suffix) is not None:
                yield file.issue
    for file in kernel.files.get(JSON_SUFFIX, ()):
        data = _content(file)
        if data is not None and not is_readable(data):
            message = "cannot be parsed; no kernel's files lie beside it"
            yield Issue(severity="note", code="bad-json", message=message, where=file.location)


def _bundle(
    kernel: _Kernel,
    folder: Folder,
    context: StageLookup,
    layout: Layout | None,
    extra: Mapping[str, Scalar],
    beside: FoundFile | None = None,
) -> Bundle:
    said = Record()
    if JSON_SUFFIX in kernel.files:
        said = _read_json(kernel, kernel.files[JSON_SUFFIX][0])
    if kernel.group is not None:
        _read_group(kernel, kernel.group, folder, context)
    artifacts = _artifacts(kernel, context)
    stage = context.stage_of(JSON_SUFFIX)
    if beside is not None and beside.read is not None and stage in artifacts:
        artifacts[stage] = _with_record(artifacts[stage], beside.read)
    files = [file for several in kernel.files.values() for file in several]
    written = kernel.files.keys() | kernel.listed
    layout = layout or layout_of(written, context)
    if layout == "failed":
        kernel.issues.append(ended_early(folder))
    return Bundle(
        name=said.name or kernel.stem,
        path=folder.path,
        entry=folder.name if is_entry_name(folder.name) else "",
        layout=layout,
        target=said.target,
        release=said.release,
        hash=said.hash,
        begins=given_stage(beside, context) if beside is not None else None,
        artifacts=artifacts,
        metadata={**said.scalars, **extra},
        modified=max((file.modified for file in files), default=0.0),
        issues=tuple(kernel.issues),
    )


def _with_log(bundle: Bundle, record: FoundFile | None, context: StageLookup) -> Bundle:
    """The bundle, with the log that ``irdiff.json`` holds where no file of that stage lies beside it."""
    log = recorded_log(record, bundle.name, context) if record is not None else None
    if log is None or log.stage in bundle.artifacts:
        return bundle
    return msgspec.structs.replace(
        bundle, artifacts=dict(sorted({**bundle.artifacts, log.stage: log}.items()))
    )


def _artifacts(kernel: _Kernel, context: StageLookup) -> dict[str, Artifact]:
    """Stage id to artifact: the files whose suffix a plugin claims first, then the others by their bare suffix."""
    artifacts: dict[str, Artifact] = {}
    ordered = sorted(kernel.files, key=lambda suffix: (context.stage_of(suffix) is None, suffix))
    for suffix in ordered:
        stage = context.stage_of(suffix) or suffix[1:]
        for file in sorted(kernel.files[suffix], key=lambda file: file.name):
            if file.issue is not None:
                kernel.issues.append(msgspec.structs.replace(file.issue, stage=stage))
            if file.read is None:
                continue
            artifact = Artifact(
                stage=stage, suffix=suffix, location=file.location, read=file.read, size=file.size
            )
            chosen = artifacts.get(stage)
            if chosen is not None:
                artifact, unused = _preferred(chosen, artifact)
                kernel.issues.append(second(unused, artifact))
            artifacts[stage] = artifact
    return dict(sorted(artifacts.items()))


def _with_record(metadata: Artifact, record: Callable[[], bytes]) -> Artifact:
    """The stage JSON followed by ``irdiff.json``: together they say what was compiled."""
    return Artifact(
        stage=metadata.stage,
        suffix=metadata.suffix,
        location=metadata.location,
        read=lambda: metadata.read() + b"\n" + record(),
    )


def _preferred(first: Artifact, second: Artifact) -> tuple[Artifact, Artifact]:
    """Of two files of one stage the binary before the text made from it (``.cubin`` before a dump's ``.sass``)."""
    return (second, first) if _is_binary(second) and not _is_binary(first) else (first, second)


def _is_binary(artifact: Artifact) -> bool:
    try:
        return b"\0" in artifact.read()[:4096]
    except OSError:
        return False


def _content(file: FoundFile) -> bytes | None:
    try:
        return file.read() if file.read is not None else None
    except OSError:
        return None


def _read_json(kernel: _Kernel, file: FoundFile) -> Record:
    hint = "name, target and options are unknown; compile the kernel again"
    data = _content(file)
    if data is None:
        if file.issue is None:
            kernel.issues.append(bad_json(file, "cannot be read", "unreadable-file", hint))
        return Record()
    if not data:
        return Record()  # an empty file is complained of where it becomes an artifact
    said = said_by(data, kernel.stem)
    if isinstance(said, str):
        kernel.issues.append(bad_json(file, said, "bad-json", hint))
        return Record()
    if said.odd:
        message = f"the JSON {'; '.join(said.odd[:_MAX_ODD])}"
        kernel.issues.append(Issue(severity="warning", code="odd-json", message=message, where=file.location))
    return said


def _read_group(kernel: _Kernel, group: FoundFile, folder: Folder, context: StageLookup) -> None:
    """Say which of the files that Triton listed are not there."""
    hint = "it is only a list: the files beside it were read"
    if group.issue is not None and group.issue.code != "empty-file":
        kernel.issues.append(group.issue)
        return
    data = _content(group)
    if data is None:
        kernel.issues.append(bad_json(group, "cannot be read", "unreadable-file", hint, severity="warning"))
        return
    stages = stages_listed(data)
    if isinstance(stages, str):
        kernel.issues.append(bad_json(group, stages, "bad-group", hint, severity="warning"))
        return
    kernel.listed = frozenset(stages.values())
    there = {file.name for file in folder.files}
    kernel.issues.extend(missing(stages, there, folder, group, context))
