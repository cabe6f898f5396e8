"""Records of kernels that did not compile (``failed/*.json`` of ``irdiff compile``) as bundles of layout ``failed``.

A kernel that stopped compiling must meet the one that compiled before: the record says its name, target and
specialization, so it is paired like any other.
"""

from __future__ import annotations

from typing import Any

import msgspec

from irdiff.model.bundle import Artifact, Bundle, Target
from irdiff.model.facts import Scalar
from irdiff.model.issues import Issue
from irdiff.model.specs import StageLookup
from irdiff.sources.files import Folder, FoundFile
from irdiff.sources.names import JSON_SUFFIX

FAILED_FOLDER = "failed"
"""Name of the folder beside the entries."""


class _Failure(msgspec.Struct, frozen=True, kw_only=True):
    kind: str = ""
    message: str = ""
    stage: str | None = None
    line: int | None = None


class _Source(msgspec.Struct, frozen=True, kw_only=True):
    file: str = ""


class _Provenance(msgspec.Struct, frozen=True, kw_only=True):
    triton: str | None = None


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """The part of schema ``irdiff-entry/1`` that is needed here."""

    schema: str
    status: str
    kernel: str
    target: str
    entry: str | None = None
    source: _Source = _Source()
    provenance: _Provenance = _Provenance()
    options: dict[str, Any] = {}  # Any: JSON of options is open-ended
    failure: _Failure = _Failure()


def failures_of(folder: Folder, context: StageLookup) -> tuple[Bundle, ...]:
    """The kernels that the records in a folder ``failed`` say did not compile, sorted by file name.

    One whose entry lies in the tree all the same (it compiled and could not be launched) is read there.
    """
    if folder.name != FAILED_FOLDER:
        return ()
    found = (_bundle(file, context) for file in folder.files if file.kind.suffix == JSON_SUFFIX)
    return tuple(bundle for bundle in found if bundle is not None)


def _bundle(file: FoundFile, context: StageLookup) -> Bundle | None:
    if file.read is None:
        return None
    try:
        data = file.read()
        said = msgspec.json.decode(data, type=_Record)
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not said.schema.startswith("irdiff-entry/") or said.status != "failed" or said.entry is not None:
        return None
    backend, _, arch = said.target.partition(":")
    stage = context.stage_of(JSON_SUFFIX)
    artifacts: dict[str, Artifact] = {}
    if stage is not None:
        artifacts[stage] = Artifact.of_bytes(
            _stage_json(said, backend, arch) + b"\n" + data,
            stage=stage,
            suffix=JSON_SUFFIX,
            location=file.location,
        )
    metadata: dict[str, Scalar] = {"failure": said.failure.kind or "unknown"}
    return Bundle(
        name=said.kernel,
        path=file.location,
        layout="failed",
        target=Target(backend=backend, arch=arch) if arch else None,
        release=said.provenance.triton,
        artifacts=artifacts,
        metadata=metadata,
        modified=file.modified,
        issues=(_issue(said, file),),
    )


def _stage_json(said: _Record, backend: str, arch: str) -> bytes:
    """What Triton would have written beside the stages, as far as the record tells it."""
    number: int | str = int(arch) if arch.isdecimal() else arch
    fields = {"name": said.kernel, "target": {"backend": backend, "arch": number}, **said.options}
    if said.provenance.triton is not None:
        fields["triton_version"] = said.provenance.triton
    return msgspec.json.encode(fields)


def _issue(said: _Record, file: FoundFile) -> Issue:
    failure = said.failure
    at = f" at stage {failure.stage}" if failure.stage else ""
    line = f" ({said.source.file}:{failure.line})" if failure.line and said.source.file else ""
    return Issue(
        severity="error",
        code="compilation-failed",
        message=f"did not compile: {failure.kind or 'unknown'} error{at}{line}: {failure.message}",
        where=file.location,
        hint="the record has all that the compiler said",
    )
