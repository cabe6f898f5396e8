"""The command ``show``: its options, declared; what it needs is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from irdiff.cli.options import (
    ClusterOption,
    FormatOption,
    JobsOption,
    LogOption,
    NoExternalOption,
    NoNormalizeOption,
    NoStoreOption,
    OutputOption,
    PathArgument,
    WithOption,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)


def show(
    path: PathArgument = None,
    *,
    form: FormatOption = "terminal",
    output: OutputOption = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Add the lines each fact rests on.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Every fact, loop and line.")] = False,
    specializations: Annotated[
        bool,
        typer.Option("--specializations", help="Instead: what specializing on each argument buys."),
    ] = False,
    canonical: Annotated[
        str | None,
        typer.Option("--canonical", metavar="STAGE", help="Instead: the canonical form of that stage."),
    ] = None,
    no_normalize: NoNormalizeOption = None,
    ptxas_log: LogOption = None,
    with_fact: WithOption = None,
    jobs: JobsOption = None,
    no_store: NoStoreOption = False,
    cluster: ClusterOption = None,
    no_external_plugins: NoExternalOption = False,
) -> None:
    """Show the facts of one kernel, or a table of many."""
    if canonical is not None:
        from irdiff.cli.canonical import run_canonical

        raise typer.Exit(
            run_canonical(
                path,
                canonical,
                form=form,
                output=output,
                no_normalize=frozenset(no_normalize or ()),
                external=not no_external_plugins,
            )
        )
    from irdiff.cli.show import run_show
    from irdiff.cli.work import Work

    raise typer.Exit(
        run_show(
            path,
            form=form,
            output=output,
            evidence=evidence,
            verbose=verbose,
            specializations=specializations,
            logs=tuple(ptxas_log or ()),
            wanted=frozenset(with_fact or ()),
            work=Work(jobs=jobs, store=not no_store, cluster=cluster),
            external=not no_external_plugins,
        )
    )
