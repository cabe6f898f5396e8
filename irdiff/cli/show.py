"""``irdiff show``: every fact of one kernel, or a table of many."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import emit
from irdiff.cli.progress import progress_bar
from irdiff.cli.session import session
from irdiff.cli.work import Work, closing_store
from irdiff.engine.show import show
from irdiff.errors import UsageError
from irdiff.model.codec import encode
from irdiff.model.facts import FactSpec
from irdiff.model.report import Show

FORMATS = ("terminal", "json")


def run_show(
    path: str | None,
    *,
    form: str,
    output: Path | None,
    evidence: bool,
    verbose: bool,
    external: bool,
    logs: Sequence[Path] = (),
    wanted: frozenset[str] = frozenset(),
    specializations: bool = False,
    work: Work | None = None,
) -> Exit:
    """Read the kernels of ``path``, or of the user's own caches, and print what is known of them."""
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}", where="--format", hint=f"one of {', '.join(FORMATS)}")
    work = work or Work()
    with (
        closing_store(work) as database,
        session(external=external, work=work, database=database) as run,
    ):
        loaded = run.load(path) if path is not None else run.load_defaults()
        bundles, unmatched = run.with_logs(loaded.bundles, logs)
        with progress_bar("reading") as progress:
            reader = run.reader(canonical=False, wanted=wanted, progress=progress)
            kernels = reader.read(bundles)
        shown = show(
            kernels,
            (*run.issues(), *loaded.issues, *unmatched),
            run.registry.facts,
            run.registry.stages,
            evidence=evidence or verbose,
            lines=reader.source_lines,
        )
        if form == "json":
            emit(encode(shown), output)
        else:
            _terminal(
                shown,
                run.registry.facts,
                {s.id: s.title for s in run.registry.stages},
                output,
                verbose=verbose,
                specializations=specializations,
            )
    return _exit(shown)


def _terminal(
    shown: Show,
    specs: Mapping[str, FactSpec],
    titles: dict[str, str],
    output: Path | None,
    *,
    verbose: bool,
    specializations: bool,
) -> None:
    from irdiff.present.shown import write_show, write_specializations
    from irdiff.present.terminal import console_for

    buffer = io.StringIO()
    console = console_for(sys.stdout if output is None else buffer)
    if specializations:
        write_specializations(shown, console)
    else:
        write_show(shown, specs, titles, console, verbose=verbose)
    if output is not None:
        emit(buffer.getvalue().encode(), output)


def _exit(shown: Show) -> Exit:
    found = [issue for kernel in shown.kernels for issue in kernel.issues]
    found += [issue for kernel in shown.kernels for stage in kernel.stages.values() for issue in stage.issues]
    return Exit.UNSURE if any(issue.severity == "error" for issue in (*found, *shown.issues)) else Exit.OK
