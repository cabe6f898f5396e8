"""Commands that say what there is: ``recent``, ``facts``, ``cache`` and ``doctor``, their options, declared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irdiff.cli.options import (
    ClusterOption,
    FormatOption,
    JobsOption,
    NoExternalOption,
    NoStoreOption,
    WithOption,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(recent)
    app.command(short_help="Say what each fact means: kind, unit, direction, role, source.")(facts)
    app.command(short_help="The store of what was read before.")(cache)
    app.command(short_help="Say which tools, GPU and caches were found here.")(doctor)


def recent(
    kernel: Annotated[str | None, typer.Argument(metavar="KERNEL", help="Only this one (a glob).")] = None,
    *,
    path: Annotated[
        str | None, typer.Option("--in", metavar="PATH", help="Instead of your own caches.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    no_external_plugins: NoExternalOption = False,
) -> None:
    """List the newest compilations."""
    from irdiff.cli.recent import run_recent

    raise typer.Exit(run_recent(kernel, path, limit=limit, external=not no_external_plugins))


def facts(
    fact: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID|PATH]",
            show_default=False,
            help="A fact, or a stage for all of its facts; or kernels, as PATH of show: writes theirs as a table.",
        ),
    ] = None,
    *,
    form: FormatOption = "terminal",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the table goes: FILE.parquet, FILE.csv or FILE.jsonl.",
        ),
    ] = None,
    with_fact: WithOption = None,
    jobs: JobsOption = None,
    no_store: NoStoreOption = False,
    cluster: ClusterOption = None,
    no_external_plugins: NoExternalOption = False,
) -> None:
    """Say what each fact means: kind, unit, direction, role, source. Or write those of kernels as a table."""
    from irdiff.cli.facts import is_input, run_facts

    if output is not None or is_input(fact):
        from irdiff.cli.export import run_export
        from irdiff.cli.work import Work

        raise typer.Exit(
            run_export(
                fact,
                form=form,
                output=output,
                wanted=frozenset(with_fact or ()),
                work=Work(jobs=jobs, store=not no_store, cluster=cluster),
                external=not no_external_plugins,
            )
        )

    raise typer.Exit(run_facts(fact, form=form, external=not no_external_plugins))


def cache(
    *,
    own: Annotated[
        bool, typer.Option("--own", help="Where irdiff's own store is, and how much it holds.")
    ] = False,
    clear: Annotated[bool, typer.Option("--clear", help="With --own: empty it.")] = False,
) -> None:
    """Say where irdiff keeps what it has read, and empty it (IRDIFF_STORE, IRDIFF_STORE_SIZE)."""
    from irdiff.cli.own_store import run_own_store
    from irdiff.errors import UsageError

    if not own:
        raise UsageError("what is to be done?", where="cache", hint="irdiff cache --own [--clear]")
    raise typer.Exit(run_own_store(clear=clear))


def doctor(*, no_external_plugins: NoExternalOption = False) -> None:
    """Say what was found here: tools and what they decode, Triton, GPU, caches."""
    from irdiff.cli.doctor import run_doctor

    raise typer.Exit(run_doctor(external=not no_external_plugins))
