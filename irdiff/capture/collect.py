"""Find what a program compiled and move it into an output tree, each entry with its record."""

from __future__ import annotations

import base64
import contextlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from irdiff.capture.driver import Answers, DriverSays, ask_driver, question, said_by
from irdiff.capture.entries import Compiler, Run, RunEntry, compiled_entry, failed_entry
from irdiff.capture.program import Work
from irdiff.compile.output import OutputTree
from irdiff.compile.results import Metadata, read_metadata


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What one run of a program left."""

    compiled: tuple[RunEntry, ...] = ()
    failed: tuple[RunEntry, ...] = ()
    lost: tuple[str, ...] = ()
    """Kernels that were compiled and whose entries are nowhere."""
    unrecorded: int = 0
    """Entries of which no event tells: their specialization is unknown."""
    driver: Answers = Answers()


def collect(
    work: Work,
    run: Run,
    tree: OutputTree,
    compiler: Compiler,
    python: str,
    environment: Mapping[str, str],
    *,
    executed: bool,
) -> Collected:
    """Move every finished entry into the tree. What was being compiled when the program ended is left behind."""
    found = entries_in(work, run)
    metadata = {name: read_metadata(folder) for name, folder in found.items()}
    driver, says = _driver(found, metadata, python, work, environment) if executed else (Answers(), {})
    compiled: list[RunEntry] = []
    seen: set[str] = set()
    for name, folder in sorted(found.items()):
        entry = compiled_entry(folder, metadata[name], run, compiler, says.get(name), executed=executed)
        digest = metadata[name].fields.get("hash")
        if isinstance(digest, str):
            seen.add(digest)
        tree.place(folder, entry)
        compiled.append(entry)
    failed = tuple(failed_entry(event, run, compiler) for event in run.failed)
    for entry in failed:
        tree.record_failure(entry)
    return Collected(
        compiled=tuple(compiled),
        failed=failed,
        lost=tuple(event.kernel for digest, event in sorted(run.compiled.items()) if digest not in seen),
        unrecorded=sum(entry.source.kind == "unknown" for entry in compiled),
        driver=driver,
    )


def entries_in(work: Work, run: Run) -> dict[str, Path]:
    """Name of each finished entry to its folder, all below the work folder.

    Entries that the program had put elsewhere (it set TRITON_CACHE_DIR itself) are copied: that place is not ours.
    """
    found: dict[str, Path] = {}
    for root in (work.triton, work.inductor):
        for group in sorted(root.rglob("__grp__*.json")):
            found.setdefault(group.parent.name, group.parent)
    copies = work.events.parent / "elsewhere"
    for digest, event in sorted(run.compiled.items()):
        for folder in _elsewhere(digest, event.cache):
            if folder.name not in found and any(folder.glob("__grp__*.json")):
                found[folder.name] = Path(shutil.copytree(folder, copies / folder.name))
    return found


def _elsewhere(digest: str, cache: str | None) -> Iterator[Path]:
    """Where Triton keeps an entry: by the hash in base32 (3.2 on), or as it is."""
    if cache is None:
        return
    names = [digest]
    with contextlib.suppress(ValueError):
        names.append(base64.b32encode(bytes.fromhex(digest)).decode().rstrip("="))
    for name in names:
        folder = Path(cache) / name
        if folder.is_dir():
            yield folder


def _driver(
    found: Mapping[str, Path],
    metadata: Mapping[str, Metadata],
    python: str,
    work: Work,
    environment: Mapping[str, str],
) -> tuple[Answers, dict[str, DriverSays]]:
    """What the driver says of each entry, by name."""
    asked = {
        name: each
        for name, folder in found.items()
        if (each := question(folder, metadata[name].fields)) is not None
    }
    answers = ask_driver(list(asked.values()), python, work.events.parent, environment)
    says = {name: one for at, name in enumerate(asked) if (one := said_by(answers, at)) is not None}
    return answers, says
