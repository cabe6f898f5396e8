"""What came of each job: the record of its entry, and one line of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

import irdiff
from irdiff.compile.diagnosis import cleaned, enriched, read_ptxas_log
from irdiff.compile.items import Item, LaterItem, TupleItem, TypeItem, ValueItem
from irdiff.compile.plan import Job
from irdiff.compile.protocol import Hello, Outcome
from irdiff.compile.record import (
    Entry,
    Failure,
    Json,
    Provenance,
    Resources,
    Source,
    Times,
    without_folders,
)
from irdiff.compile.targets import limits


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One job, done or not."""

    kernel: str
    specialization: str = ""
    target: str
    file: str
    status: Literal["compiled", "unchanged", "failed", "skipped"]
    """``unchanged``: an entry with the same key was there; ``skipped``: cannot be compiled there, see ``reason``."""
    seconds: float | None = None
    entry: str | None = None
    """Name of the entry's folder in the output."""
    registers: int | None = None
    """As ptxas says; ``None`` where its log is not known."""
    spills: int | None = None
    """Bytes of spill stores, as ptxas says."""
    shared: int | None = None
    """Bytes of dynamic shared memory."""
    failure: Failure | None = None
    reason: str | None = None


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, in the order of the plan: what ``--format json`` prints."""

    schema: Literal["irdiff-compile/1"] = "irdiff-compile/1"
    output: str
    triton: str | None
    results: tuple[Result, ...]


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """The stage JSON of an entry."""

    fields: dict[str, Json]

    def number(self, name: str) -> int | None:
        """A field that is a whole number."""
        value = self.fields.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_metadata(folder: Path) -> Metadata:
    """The JSON that Triton wrote beside an entry's stages; empty where it cannot be read."""
    for path in sorted(folder.glob("*.json")):
        if path.name.startswith("__grp__") or path.name == "irdiff.json":
            continue
        try:
            fields = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(fields, dict):
            return Metadata(fields=fields)
    return Metadata(fields={})


def entry_of(job: Job, hello: Hello, outcome: Outcome, made: Path | None, failure: Failure | None) -> Entry:
    """The record of a job that compiled (``made``) or failed (``failure``), or needs too much (both)."""
    metadata = read_metadata(made) if made is not None else Metadata(fields={})
    log = read_ptxas_log(outcome.ptxas_log) if outcome.ptxas_log else None
    options = {name: metadata.fields.get(name, value) for name, value in outcome.options.items()}
    return Entry(
        schema="irdiff-entry/1",
        status="failed" if failure else "compiled",
        kernel=_kernel_name(job, outcome, metadata),
        target=str(job.target),
        entry=made.name if made is not None else None,
        label=job.label or None,
        source=Source(
            file=job.shown,
            sha256=job.content,
            kind=job.kind,
            line=outcome.line,
            dependencies=outcome.dependencies,
        ),
        signature=outcome.signature,
        constexprs=outcome.constexprs,
        attributes=outcome.attributes,
        options_given={name: _json(item) for name, item in job.options.items()},
        options=_without_folders(options),
        environment={name: without_folders(value) for name, value in sorted(hello.environment.items())},
        provenance=Provenance(
            irdiff=irdiff.__version__,
            triton=hello.triton,
            build=hello.build,
            llvm=hello.llvm,
            ptxas=outcome.ptxas,
            python=hello.python,
            platform=hello.platform,
        ),
        slot=job.slot,
        key=job.key(hello.build or hello.triton, hello.environment),
        resources=log.resources if log else None,
        ptxas_log=log.text if log else None,
        failure=failure,
        times=Times(
            total=round(outcome.total, 6),
            stages={name: round(seconds, 6) for name, seconds in outcome.times.items()},
            ptxas=log.seconds if log else None,
        ),
    )


def failure_of(job: Job, outcome: Outcome, printed: str) -> Failure | None:
    """The failure that a worker reported, with what was printed about it."""
    if outcome.failure is None:
        return None
    fault = outcome.failure
    stage = outcome.stage or ("source" if fault.kind == "front-end" else None)
    failure = Failure(
        kind=fault.kind, message=fault.message, stage=stage, line=fault.line, detail=fault.detail
    )
    return enriched(failure, printed, job.file, job.shown)


def over_limits(job: Job, made: Path) -> Failure | None:
    """What a compiled kernel needs more of than a program may have: launching it would fail.

    Triton finds this out when it loads a kernel on a GPU (``_init_handles`` in ``compiler/compiler.py``).
    """
    metadata, limit = read_metadata(made), limits(job.target)
    warps, columns = metadata.number("num_warps"), metadata.number("tmem_size")
    needs = (
        ("bytes of shared memory", metadata.number("shared"), limit.shared),
        ("threads", warps * job.warp_size if warps is not None else None, limit.threads),
        ("columns of tensor memory", columns, limit.tmem),
    )
    for what, needed, allowed in needs:
        if needed is not None and allowed is not None and needed > allowed:
            message = f"needs {needed:,} {what}; {job.target} has {allowed:,} for one program"
            hint = "smaller blocks, fewer stages or fewer warps need less"
            return Failure(kind="out-of-resources", message=message, stage="launch", detail=hint)
    return None


def result_of(job: Job, entry: Entry, *, shared: int | None, unchanged: bool = False) -> Result:
    """One line of the table."""
    used = entry.resources or Resources()
    return Result(
        kernel=entry.kernel,
        specialization=job.specialization,
        target=entry.target,
        file=job.shown,
        status="failed" if entry.failure else "unchanged" if unchanged else "compiled",
        seconds=None if unchanged else entry.times.total,
        entry=entry.entry,
        registers=used.registers,
        spills=used.spill_stores,
        shared=shared,
        failure=entry.failure,
    )


def skipped(job: Job, reason: str) -> Result:
    """A job that was not tried."""
    return Result(
        kernel=job.name,
        specialization=job.specialization,
        target=str(job.target),
        file=job.shown,
        status="skipped",
        reason=reason,
    )


def lost(
    job: Job, kind: Literal["crash", "timeout", "worker"], stage: str | None, message: str, printed: str
) -> Failure:
    """A job whose worker did not come back."""
    failure = Failure(kind=kind, message=message, stage=stage, detail=None)
    if kind == "crash":
        return enriched(failure, printed, job.file, job.shown)
    return msgspec.structs.replace(failure, message=cleaned(message, job.file, job.shown))


def _kernel_name(job: Job, outcome: Outcome, metadata: Metadata) -> str:
    said = outcome.name or metadata.fields.get("name")
    return said if isinstance(said, str) and said else job.name


def _json(item: Item) -> Json:
    if isinstance(item, TupleItem):
        return [_json(each) for each in item.items]
    if isinstance(item, TypeItem):
        return item.type
    if isinstance(item, LaterItem):
        return None
    return _value(item)


def _value(item: ValueItem) -> Json:
    if item.kind == "int":
        return int(item.text)
    if item.kind == "float":
        number = float(item.text)
        return number if abs(number) < float("inf") else {"float": item.text}
    return {"bool": item.text == "True", "none": None}.get(item.kind, item.text)


def _without_folders(value: Any) -> Any:  # Any: JSON
    if isinstance(value, str):
        return without_folders(value)
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_folders(each) for name, each in value.items()}
    return value
