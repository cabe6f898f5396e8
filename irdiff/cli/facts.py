"""``irdiff facts``: what each fact means, from the registry."""

from __future__ import annotations

import os
import sys

import msgspec

from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import emit
from irdiff.cli.session import make_registry
from irdiff.errors import UsageError
from irdiff.present.fact_reference import COLUMNS, LEGEND, groups, in_full, row
from irdiff.registry import Registry
from irdiff.sources.select import split_selector
from irdiff.sources.urls import is_url

FORMATS = ("terminal", "json")


def is_input(argument: str | None) -> bool:
    """Whether an argument of ``irdiff facts`` names kernels and no fact."""
    if argument is None:
        return False
    return is_url(argument) or os.path.lexists(split_selector(argument)[0])


def run_facts(wanted: str | None, *, form: str, external: bool) -> Exit:
    """Print all facts, those of one stage, or one in full. Raises UsageError with the nearest names."""
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}", where="--format", hint=f"one of {', '.join(FORMATS)}")
    registry = make_registry(external=external)
    chosen = [
        (name, title, spec)
        for name, title, specs in groups(registry)
        for spec in specs
        if wanted in (None, name, spec.id)
    ]
    if not chosen:
        raise UsageError(f"no fact is called {wanted!r}", where="facts", hint=_nearest(str(wanted), registry))
    if form == "json":
        specs = [spec for _, _, spec in chosen]
        emit(msgspec.json.format(msgspec.json.encode(specs), indent=2) + b"\n", None)
        return Exit.OK
    from irdiff.present.terminal import console_for, grid

    console = console_for(sys.stdout)
    if len(chosen) == 1 and chosen[0][2].id == wanted:
        name, title, spec = chosen[0]
        console.print("\n".join(in_full(spec, f"{name}, {title}")), highlight=False, markup=False)
        return Exit.OK
    for name, title in dict.fromkeys((name, title) for name, title, _ in chosen):
        console.print(f"{name}: {title}", style="bold")
        # By both: a stage and a derivation of the same plugin may share their name.
        rows = [row(spec) for at, said, spec in chosen if (at, said) == (name, title)]
        grid(rows, console, header=COLUMNS, indent=2)
        console.print()
    console.print(f"{LEGEND} One in full: irdiff facts ID")
    return Exit.OK


def _nearest(wanted: str, registry: Registry) -> str:
    import difflib

    names = [name for name, _, specs in groups(registry) for name in (name, *(spec.id for spec in specs))]
    # Ids are few and short. The thing may be right and the stage wrong: `ptx.registers` for `sass.registers`.
    near = difflib.get_close_matches(wanted[:100], names, n=3, cutoff=0.5)
    thing = wanted.rpartition(".")[2]
    near += [name for name in names if name.rpartition(".")[2] == thing and name not in near][:3]
    return f"did you mean {', '.join(near)}?" if near else "irdiff facts lists them"
