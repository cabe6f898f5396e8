"""Texts that ``irdiff.json`` holds and a stage can read: the assembler's log."""

from __future__ import annotations

import msgspec

from irdiff.model.bundle import Artifact
from irdiff.model.specs import StageLookup
from irdiff.sources.files import FoundFile

LOG_SUFFIX = ".ptxas-log"
"""Suffix of the stage that reads what ptxas wrote."""


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """The part of schema ``irdiff-entry/1`` that is needed here."""

    kernel: str
    ptxas_log: str | None = None


class _Source(msgspec.Struct, frozen=True, kw_only=True):
    kind: str = ""


class _Given(msgspec.Struct, frozen=True, kw_only=True):
    source: _Source = _Source()


def given_stage(record: FoundFile, context: StageLookup) -> str | None:
    """Id of the stage whose file was compiled, as ``irdiff.json`` says; None for a kernel in Python."""
    if record.read is None:
        return None
    try:
        said = msgspec.json.decode(record.read(), type=_Given)
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return context.stage_of(f".{said.source.kind}") if said.source.kind else None


def recorded_log(record: FoundFile, kernel: str, context: StageLookup) -> Artifact | None:
    """The log of the kernel that ``irdiff.json`` describes, as an artifact; None where there is none for it."""
    stage = context.stage_of(LOG_SUFFIX)
    if stage is None or record.read is None:
        return None
    try:
        said = msgspec.json.decode(record.read(), type=_Record)
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None  # whoever reads the whole record says what is wrong with it
    if not said.ptxas_log or said.kernel != kernel:
        return None
    data = said.ptxas_log.encode("utf-8", "replace")
    return Artifact.of_bytes(data, stage=stage, suffix=LOG_SUFFIX, location=record.location)
