"""``--format`` and ``-o``: a report in several formats at once, each to its file or one to standard output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import complain, emit
from irdiff.errors import IrdiffError, UsageError
from irdiff.model.codec import encode
from irdiff.model.gate import Judgement
from irdiff.model.report import Report

if TYPE_CHECKING:
    from irdiff.model.specs import RendererSpec

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


BUILT_IN = (TERMINAL, JSON)
"""Formats that are made without looking for a renderer."""


def formats(renderers: Sequence[RendererSpec]) -> tuple[str, ...]:
    """Every format there is: irdiff's own, then those of plugins."""
    from irdiff.present.formats import RENDERERS

    return (*BUILT_IN, *(each.id for each in (*RENDERERS, *renderers)))


def destinations(
    forms: Sequence[str], outputs: Sequence[Path], renderers: Sequence[RendererSpec] = ()
) -> tuple[Destination, ...]:
    """The n-th file takes the n-th format; a format without a file goes to standard output, which takes one.

    Without a format it is ``terminal``. Raises UsageError for a format that there is not, for more files than
    formats, and for two formats in one place.
    """
    chosen = tuple(forms) or (TERMINAL,)
    for form in chosen:
        if form not in BUILT_IN and form not in (known := formats(renderers)):
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


def prepare(wanted: Sequence[Destination]) -> None:
    """Import what will write the formats: for whoever has time before."""
    if any(place.form == TERMINAL for place in wanted):
        import irdiff.present.plain
        import irdiff.present.terminal
        import irdiff.present.view  # noqa: F401  # for `_screen`


def write_formats(
    report: Report,
    wanted: Sequence[Destination],
    options: ViewOptions | None = None,
    renderers: Sequence[RendererSpec] = (),
) -> Exit:
    """Write every format, the files first; what cannot be made or written is said, and the others are written.

    The exit code is OK, or UNSURE where one is missing. Raises UsageError for a rule to explain that there is not.
    """
    asked = options or ViewOptions()
    ended = Exit.OK
    for place in sorted(wanted, key=lambda each: each.output is None):
        try:
            _write(report, place, asked, renderers)
        except UsageError:
            raise
        except IrdiffError as error:
            complain(error)
            ended = Exit.UNSURE
    return ended


def _write(
    report: Report, place: Destination, options: ViewOptions, renderers: Sequence[RendererSpec]
) -> None:
    if place.form == TERMINAL:
        _screen(report, place.output, options)
    elif place.form == JSON:
        emit(encode(report), place.output)
    else:
        from irdiff.present.formats import RENDERERS

        ours = next((each for each in RENDERERS if each.id == place.form), None)
        renderer = ours or next(each for each in renderers if each.id == place.form)
        hint = (
            "please report it"
            if ours
            else f"--format {JSON} needs no plugin; irdiff plugins says whose it is"
        )
        emit(_rendered(renderer, report, hint), place.output)


def _screen(report: Report, output: Path | None, options: ViewOptions) -> None:
    if isinstance(report.judgement, Judgement):
        _judged_screen(report, output, options)
        return
    from irdiff.present.plain import piped_width, plain
    from irdiff.present.view import view

    seen = view(report, everything=options.everything, unpaired=options.unpaired, top=options.top)
    if output is None and sys.stdout.isatty():
        from irdiff.present.terminal import console_for, write

        write(seen, console_for(sys.stdout))
        return
    width = piped_width(os.environ) if output is None else None
    text = plain(seen, width)
    if text is None:
        from irdiff.present.terminal import render

        text = render(seen) if width is None else render(seen, width=width)
    if output is None:
        sys.stdout.write(text)
    else:
        emit(text.encode(), output)


def _judged_screen(report: Report, output: Path | None, options: ViewOptions) -> None:
    from irdiff.present import terminal
    from irdiff.present.gate import explain_view, gate_view

    made = io.StringIO() if output is not None else sys.stdout
    console = terminal.console_for(made)
    if options.explain is None:
        terminal.write_gate(gate_view(report, everything=options.everything, top=options.top), console)
    else:
        asked = None if options.explain in {"", "all"} else options.explain
        terminal.write_explained(explain_view(report, asked, everything=options.everything), console)
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
