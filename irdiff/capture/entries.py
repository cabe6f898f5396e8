"""From events and caches to entries: the record of each kernel that a program compiled."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

import irdiff
from irdiff.capture.driver import DriverSays
from irdiff.capture.events import Autotuned, Compiled, Event, Failed, Loaded
from irdiff.capture.tuning import Autotune, autotune_of
from irdiff.compile.record import Entry, Failure, FailureKind, Provenance, Source, Times, without_folders
from irdiff.compile.results import Metadata
from irdiff.compile.tables import shown_path

_PTXAS = re.compile(r"release ([0-9.]+, V[0-9.]+)")
_KINDS: dict[str, FailureKind] = {
    "CompilationError": "front-end",
    "CompileTimeAssertionFailure": "front-end",
    "UnsupportedLanguageConstruct": "front-end",
    "PTXASError": "assembler",
    "OutOfResources": "out-of-resources",
}
"""Triton's exceptions by name (``compiler/errors.py``, ``runtime/errors.py``, 3.6)."""


class RunEntry(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """The content of ``irdiff.json`` beside an entry that a program compiled: schema ``irdiff-entry/1`` and this."""

    driver: DriverSays | None = None
    autotune: Autotune | None = None
    subprocess: bool = False
    """Compiled in a process that the program started (Inductor's workers)."""
    executed: bool = True
    """False where it was compiled without a GPU and never launched."""


class Compiler(msgspec.Struct, frozen=True, kw_only=True):
    """What the interpreter's Triton says of itself; empty where it could not be asked."""

    triton: str = ""
    build: str | None = None
    llvm: str | None = None
    python: str | None = None
    platform: str | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The events of one run of a program, sorted."""

    main: int
    """Process id of the program itself."""
    folder: Path
    """Where it ran."""
    compiled: dict[str, Compiled]
    """By hash: the event that made the entry, or else the first that found it."""
    failed: tuple[Failed, ...]
    loaded: dict[str, Loaded]
    autotuned: tuple[Autotuned, ...]

    @staticmethod
    def of(events: Iterable[Event], *, main: int, folder: Path) -> Run:
        """Sort them."""
        compiled: dict[str, Compiled] = {}
        loaded: dict[str, Loaded] = {}
        failed: dict[str, Failed] = {}
        tuned: list[Autotuned] = []
        for event in events:
            if isinstance(event, Compiled):
                known = compiled.get(event.hash)
                if known is None or (known.hit and not event.hit):
                    compiled[event.hash] = event
            elif isinstance(event, Loaded):
                loaded.setdefault(event.hash, event)
            elif isinstance(event, Failed):
                failed.setdefault(slot_of(event), event)
            elif isinstance(event, Autotuned):
                tuned.append(event)
        return Run(
            main=main,
            folder=folder,
            compiled=compiled,
            failed=tuple(failed.values()),
            loaded=loaded,
            autotuned=tuple(tuned),
        )


def slot_of(event: Compiled | Failed) -> str:
    """What was compiled, whatever came of it: 16 hex digits."""
    asked = {
        "kernel": event.kernel,
        "file": event.source.file,
        "signature": event.signature,
        "constexprs": event.constexprs,
        "attributes": event.attributes,
        "options": event.options,
        "target": event.target,
    }
    return hashlib.sha256(msgspec.json.encode(asked, order="deterministic")).hexdigest()[:16]


def compiled_entry(
    found: Path,
    metadata: Metadata,
    run: Run,
    compiler: Compiler,
    driver: DriverSays | None,
    *,
    executed: bool,
) -> RunEntry:
    """The record of an entry; what no event tells stays unknown."""
    digest = metadata.fields.get("hash")
    event = run.compiled.get(digest) if isinstance(digest, str) else None
    tuning = autotune_of(found.name, digest if isinstance(digest, str) else "", run.autotuned)
    loaded = run.loaded.get(digest) if isinstance(digest, str) else None
    says = driver_of(driver, loaded)
    if event is None:
        return unrecorded(found, metadata, compiler, says, tuning, executed=executed)
    options = {name: metadata.fields.get(name, value) for name, value in event.options.items()}
    whole = event.options_given.keys() >= event.options.keys()
    name = metadata.fields.get("name")
    return RunEntry(
        schema="irdiff-entry/1",
        status="compiled",
        origin="run",
        kernel=name if isinstance(name, str) and name else event.kernel,
        target=event.target,
        entry=found.name,
        source=_source(event, run.folder),
        signature=event.signature,
        constexprs=event.constexprs,
        attributes=event.attributes,
        # A launch gives Triton every option, defaults filled in: which of them the program named is not known.
        options_given={} if whole else cleaned(event.options_given),
        options=cleaned(options),
        environment=cleaned(dict(sorted(event.environment.items()))),
        provenance=_provenance(event, compiler),
        slot=slot_of(event),
        driver=says,
        autotune=tuning,
        subprocess=event.process != run.main,
        executed=executed,
        times=Times(total=round(event.total, 6), stages=event.times) if not event.hit else Times(),
    )


def unrecorded(
    found: Path,
    metadata: Metadata,
    compiler: Compiler,
    driver: DriverSays | None,
    tuning: Autotune | None,
    *,
    executed: bool,
) -> RunEntry:
    """An entry that no event tells of: what its own JSON says."""
    target = metadata.fields.get("target")
    backend, arch = (target.get("backend"), target.get("arch")) if isinstance(target, dict) else ("", "")
    name, release = metadata.fields.get("name"), metadata.fields.get("triton_version")
    return RunEntry(
        schema="irdiff-entry/1",
        status="compiled",
        origin="run",
        kernel=name if isinstance(name, str) else "unknown",
        target=f"{backend}:{arch}",
        entry=found.name,
        source=Source(file="unknown", sha256="", kind="unknown"),
        provenance=Provenance(
            irdiff=irdiff.__version__, triton=release if isinstance(release, str) else compiler.triton
        ),
        driver=driver,
        autotune=tuning,
        executed=executed,
    )


def failed_entry(event: Failed, run: Run, compiler: Compiler) -> RunEntry:
    """The record of a compilation that raised."""
    lines = [line.strip() for line in event.error.message.splitlines() if line.strip()]
    failure = Failure(
        kind=_kind(event),
        message=without_folders(": ".join([event.error.type, *lines[-1:]]))[:500],
        detail=without_folders(event.error.message)[-4000:] or None,
        line=_line(event),
    )
    return RunEntry(
        schema="irdiff-entry/1",
        status="failed",
        origin="run",
        kernel=event.kernel,
        target=event.target,
        source=_source(event, run.folder),
        signature=event.signature,
        constexprs=event.constexprs,
        attributes=event.attributes,
        options=cleaned(event.options),
        environment=cleaned(dict(sorted(event.environment.items()))),
        provenance=_provenance(event, compiler),
        slot=slot_of(event),
        failure=failure,
        subprocess=event.process != run.main,
        times=Times(total=round(event.total, 6)),
    )


def driver_of(asked: DriverSays | None, loaded: Loaded | None) -> DriverSays | None:
    """What the driver said in the program where it loaded the kernel, and the rest of what irdiff asked it."""
    if loaded is None:
        return asked
    words = loaded.spilled_words
    return msgspec.structs.replace(
        asked or DriverSays(),
        registers=loaded.registers,
        local=4 * words if words is not None else asked.local if asked else None,
        loaded_by="program",
    )


def cleaned(value: Any) -> Any:  # Any: JSON
    """JSON in which paths have lost their folders."""
    if isinstance(value, str):
        return without_folders(value)
    if isinstance(value, list):
        return [cleaned(each) for each in value]
    if isinstance(value, dict):
        return {name: cleaned(each) for name, each in value.items()}
    return value


def _source(event: Compiled | Failed, folder: Path) -> Source:
    where = event.source
    return Source(
        file=shown_path(Path(where.file), folder) if where.file else "unknown",
        sha256=where.sha256,
        # The very default, which is then left out, as irdiff compile does.
        kind="python" if where.kind == "python" else where.kind,
        line=where.line,
        dependencies=where.dependencies,
    )


def _provenance(event: Compiled | Failed, compiler: Compiler) -> Provenance:
    same = event.triton == compiler.triton
    match = _PTXAS.search(event.compiler)
    return Provenance(
        irdiff=irdiff.__version__,
        triton=event.triton,
        build=compiler.build if same else None,
        llvm=compiler.llvm if same else None,
        ptxas=match[1] if match else None,
        python=compiler.python,
        platform=compiler.platform,
    )


def _kind(event: Failed) -> FailureKind:
    if event.error.type in _KINDS:
        return _KINDS[event.error.type]
    if "ptxas" in event.error.message.lower():
        return "assembler"
    return "pass" if "PassManager" in event.error.message else "code-generation"


_AT = re.compile(r"^at ([0-9]{1,9}):[0-9]{1,9}:", re.MULTILINE)


def _line(event: Failed) -> int | None:
    """The line in the kernel's file, where Triton's message has one."""
    found, start = _AT.search(event.error.message), event.source.def_line
    return start + int(found[1]) - 1 if found is not None and start is not None else None
