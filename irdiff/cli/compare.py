"""``irdiff compare``: what changed between two trees, archives, entries or files, and where it began."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from irdiff.cli.exit_codes import Exit
from irdiff.cli.formats import BUILT_IN, ViewOptions, destinations, prepare, write_formats
from irdiff.cli.progress import progress_bar
from irdiff.cli.session import Session, Workers, known_stage, session
from irdiff.cli.work import Work, closing_store
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.dialects import in_one_stage
from irdiff.errors import InputError, IrdiffError, UsageError
from irdiff.model.bundle import Bundle
from irdiff.model.codec import decode_report
from irdiff.model.issues import Issue
from irdiff.model.report import Report
from irdiff.sources.files import read_regular
from irdiff.sources.names import shown

if TYPE_CHECKING:
    from irdiff.cli.remembered import Remembered
    from irdiff.model.specs import RendererSpec
    from irdiff.store.database import Database


def run_compare(
    paths: tuple[str | None, str | None],
    *,
    recent: str | None,
    forms: Sequence[str],
    outputs: Sequence[Path],
    no_normalize: frozenset[str],
    everything: bool,
    unpaired: bool,
    exit_code: bool,
    external: bool,
    logs: Sequence[Path] = (),
    wanted: frozenset[str] = frozenset(),
    top: int | None = None,
    weights: Path | None = None,
    ir: str | None = None,
    context: int = 2,
    work: Work | None = None,
) -> Exit:
    """Compare two inputs, or the two newest compilations of a kernel, and print the report."""
    work = work or Work()
    options = (sorted(no_normalize), sorted(wanted), external, ir, context, everything and ir is not None)
    built_in = all(form in BUILT_IN for form in forms)
    memory: Remembered | None = None
    with closing_store(work) as database, closing(Workers(work, external=external)) as workers:
        plain = recent is None and not logs and weights is None and built_in
        if plain and database is not None:
            memory = _remembered(database, paths, options, workers.begin)
        wanted_formats = destinations(forms, outputs) if built_in else ()
        report = memory.report() if memory is not None else None
        renderers: Sequence[RendererSpec] = ()
        if report is None:
            if memory is not None:
                workers.begin(memory.different)
            with session(external=external, work=work, database=database, workers=workers) as run:
                renderers = run.registry.renderers
                wanted_formats = destinations(forms, outputs, renderers)
                times = read_weights(weights) if weights is not None else {}
                inputs = _inputs(run, paths, recent, memory)
                before, after, stages = _as_one_stage(run, *with_logs(run, *inputs, logs))
                lines = Lines(ir, context=context, everything=everything) if ir is not None else None
                report = compare_bundles(
                    run,
                    before,
                    after,
                    no_normalize,
                    wanted,
                    lines,
                    memory=memory,
                    idle=lambda: prepare(wanted_formats),
                )
                if stages is not None:
                    report = msgspec.structs.replace(report, stages_compared=stages)
                if memory is not None and run.lasting():
                    memory.keep(report, run.registry.tools)
                if times:
                    from irdiff.engine.times import timed

                    report = timed(report, times, str(weights))
    shown = ViewOptions(everything=everything, unpaired=unpaired, top=top)
    written = write_formats(report, wanted_formats, shown, renderers)
    if not report.kernels:
        return Exit.UNSURE
    return Exit(written | exit_of(report)) if exit_code else written


def _remembered(
    database: Database, paths: Sequence[str | None], options: object, begin: Callable[[int], None]
) -> Remembered | None:
    from irdiff.cli.remembered import remembered

    return remembered(database, paths, options, begin)


def read_weights(path: Path) -> dict[str, float]:
    """Kernel name to time. Raises InputError where the file cannot be read or understood."""
    try:
        data = read_regular(str(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    from irdiff.sources.times import read_times

    return read_times(data, str(path))


class Lines:
    """Which lines are asked for."""

    def __init__(self, stage: str, *, context: int, everything: bool) -> None:
        self.stage = stage
        self.context = context
        self.everything = everything


class Input:
    """Bundles of one side and what was wrong with finding them."""

    def __init__(self, described: str, bundles: tuple[Bundle, ...], issues: tuple[Issue, ...] = ()) -> None:
        self.described = shown(described)
        self.bundles = bundles
        self.issues = issues


def _as_one_stage(run: Session, before: Input, after: Input) -> tuple[Input, Input, tuple[str, str] | None]:
    """Two files of two stages of one dialect are read as the later stage; all else stays as it is."""
    if len(before.bundles) != 1 or len(after.bundles) != 1:
        return before, after, None
    found = in_one_stage(run.registry, before.bundles[0], after.bundles[0])
    if found is None:
        return before, after, None
    return (
        Input(before.described, (found[0],), before.issues),
        Input(after.described, (found[1],), after.issues),
        found[2],
    )


def with_logs(run: Session, before: Input, after: Input, logs: Sequence[Path]) -> tuple[Input, Input]:
    """Both sides, each with what its own log says."""
    if not logs:
        return before, after
    if len(logs) != 2:
        raise UsageError(
            f"{len(logs)} given",
            where="--ptxas-log",
            hint="give it twice: the log of BEFORE, then the log of AFTER",
        )
    sides = []
    for side, log in zip((before, after), logs, strict=True):
        bundles, issues = run.with_logs(side.bundles, (log,))
        sides.append(Input(side.described, bundles, (*side.issues, *issues)))
    return sides[0], sides[1]


def compare_bundles(
    run: Session,
    before: Input,
    after: Input,
    no_normalize: frozenset[str],
    wanted: frozenset[str] = frozenset(),
    lines: Lines | None = None,
    *,
    memory: Remembered | None = None,
    idle: Callable[[], None] | None = None,
) -> Report:
    """Read both sides together, so that equal bytes are read once, and compare them.

    ``memory`` knows the digests of files. ``idle`` is called once where other processes are waited for.
    """
    with progress_bar("reading") as progress:
        reader = run.reader(canonical=True, switched_off=no_normalize, wanted=wanted, progress=progress)
        if memory is not None:
            reader.begin(before.bundles, after.bundles)
            memory.recall((*before.bundles, *after.bundles))
        kernels_before, kernels_after = reader.read_both(before.bundles, after.bundles, lazy=True)
        report = Comparer(run.registry, reader, idle=idle).compare(
            Side(
                described=before.described,
                kernels=tuple(kernels_before),
                issues=(*run.issues(), *before.issues),
            ),
            Side(described=after.described, kernels=tuple(kernels_after), issues=after.issues),
        )
    if lines is None:
        return report
    from irdiff.engine.hunks import with_hunks

    known_stage(run, lines.stage, (*before.bundles, *after.bundles), "--ir")
    return with_hunks(
        report,
        kernels_before,
        kernels_after,
        reader,
        lines.stage,
        context=lines.context,
        everything=lines.everything,
    )


def _inputs(
    run: Session,
    paths: tuple[str | None, str | None],
    recent: str | None,
    memory: Remembered | None = None,
) -> tuple[Input, Input]:
    before, after = paths
    if recent is None:
        if before is None or after is None:
            raise UsageError(
                "two inputs are needed",
                where="compare",
                hint="irdiff compare BEFORE AFTER, or irdiff compare --recent KERNEL for the two newest compilations",
            )
        found = [run.load(path, memory.scan(path) if memory else None) for path in (before, after)]
        return (
            Input(before, tuple(found[0].bundles), tuple(found[0].issues)),
            Input(after, tuple(found[1].bundles), tuple(found[1].issues)),
        )
    if after is not None:
        raise UsageError(
            "--recent takes one path at most", where="compare", hint="irdiff compare --recent KERNEL [DIR]"
        )
    from irdiff.cli.recent import load_recent
    from irdiff.sources.recent import two_newest

    loaded = load_recent(run, before)
    pair = two_newest(loaded.bundles, recent)
    return (
        Input(pair[0].path, (pair[0],), tuple(loaded.issues)),
        Input(pair[1].path, (pair[1],)),
    )


def exit_of(report: Report) -> Exit:
    """Bit 1: something changed; bit 2: something was not compared."""
    changed = report.verdict == "changed"
    errors = [issue for kernel in report.kernels for issue in kernel.issues] + list(report.issues)
    unsure = report.verdict == "incomplete" or any(issue.severity == "error" for issue in errors)
    return Exit(int(Exit.CHANGED if changed else 0) | int(Exit.UNSURE if unsure else 0))


def saved_report(path: Path) -> Report:
    """A report written with ``--format json``. Raises InputError where it is not one."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise IrdiffError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    return decode_report(data, where=str(path))
