"""``--format`` and ``-o``: a report in several formats at once, each to its file or one to standard output."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import complain, emit
from irdiff.cli.session import Session
from irdiff.errors import IrdiffError, UsageError
from irdiff.model.codec import encode
from irdiff.model.gate import Judgement
from irdiff.model.report import Report
from irdiff.model.specs import RendererSpec
from irdiff.present.formats import RENDERERS

TERMINAL = "terminal"
JSON = "json"


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """One format and where it goes."""

    form: str
    output: Path | None
    """None for standard output."""


class ViewOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants to see on a terminal; the other formats do not depend on it."""

    everything: bool = False
    unpaired: bool = False
    top: int | None = None
    explain: str | None = None
    """Of a judgement: code of the rule to explain, or ``""`` for all of them."""


def formats(run: Session) -> tuple[str, ...]:
    """Every format there is: irdiff's own, then those of plugins."""
    return (TERMINAL, JSON, *(each.id for each in (*RENDERERS, *run.registry.renderers)))


def destinations(run: Session, forms: Sequence[str], outputs: Sequence[Path]) -> tuple[Destination, ...]:
    """The n-th file takes the n-th format; a format without a file goes to standard output, which takes one.

    Without a format it is ``terminal``. Raises UsageError for a format that there is not, for more files than
    formats, and for two formats in one place.
    """
    known = formats(run)
    chosen = tuple(forms) or (TERMINAL,)
    for form in chosen:
        if form not in known:
            raise UsageError(f"no format {form!r}", where="--format", hint=f"one of {', '.join(known)}")
    if len(outputs) > len(chosen):
        raise UsageError(
            f"{len(outputs)} files for {len(chosen)} format{'s' if len(chosen) > 1 else ''}",
            where="-o",
            hint="name a format for each file: -f json -o report.json -f markdown -o comment.md",
        )
    bare = chosen[len(outputs) :]
    if len(bare) > 1:
        raise UsageError(
            f"{' and '.join(bare)} cannot all go to standard output",
            where="--format",
            hint="the n-th -o names the file of the n-th --format; one format may be without a file",
        )
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise UsageError("one file for two formats", where="-o", hint="name another file for each")
    files = (*outputs, *(None for _ in bare))
    return tuple(Destination(form=form, output=path) for form, path in zip(chosen, files, strict=True))


def write_formats(
    run: Session, report: Report, wanted: Sequence[Destination], options: ViewOptions | None = None
) -> Exit:
    """Write every format, the files first; what cannot be made or written is said, and the others are written.

    The exit code is OK, or UNSURE where one is missing. Raises UsageError for a rule to explain that there is not.
    """
    asked = options or ViewOptions()
    ended = Exit.OK
    for place in sorted(wanted, key=lambda each: each.output is None):
        try:
            _write(run, report, place, asked)
        except UsageError:
            raise
        except IrdiffError as error:
            complain(error)
            ended = Exit.UNSURE
    return ended


def _write(run: Session, report: Report, place: Destination, options: ViewOptions) -> None:
    if place.form == TERMINAL:
        _screen(report, place.output, options)
    elif place.form == JSON:
        emit(encode(report), place.output)
    else:
        ours = next((each for each in RENDERERS if each.id == place.form), None)
        renderer = ours or next(each for each in run.registry.renderers if each.id == place.form)
        hint = (
            "please report it"
            if ours
            else f"--format {JSON} needs no plugin; irdiff plugins says whose it is"
        )
        emit(_rendered(renderer, report, hint), place.output)


def _screen(report: Report, output: Path | None, options: ViewOptions) -> None:
    from irdiff.present import terminal

    made = io.StringIO() if output is not None else sys.stdout
    console = terminal.console_for(made)
    if not isinstance(report.judgement, Judgement):
        from irdiff.present.view import view

        seen = view(report, everything=options.everything, unpaired=options.unpaired, top=options.top)
        terminal.write(seen, console)
    else:
        from irdiff.present.gate import explain_view, gate_view

        if options.explain is None:
            terminal.write_gate(gate_view(report, everything=options.everything, top=options.top), console)
        else:
            explained = explain_view(
                report,
                options.explain or None,
                everything=options.everything,
            )
            terminal.write_explained(explained, console)
    if isinstance(made, io.StringIO):
        emit(made.getvalue().encode(), output)


def _rendered(renderer: RendererSpec, report: Report, hint: str) -> bytes:
    """What the renderer makes. Raises IrdiffError where it fails, or returns what is no text."""
    try:
        return renderer.render(report).encode()
    except Exception as error:
        raise IrdiffError(
            f"the renderer failed: {type(error).__name__}: {error}",
            where=f"--format {renderer.id}",
            hint=hint,
        ) from error
