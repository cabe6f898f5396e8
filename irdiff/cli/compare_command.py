"""The commands ``compare`` and ``render``, a report and one that was saved: their options, declared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irdiff.cli.options import (
    AfterArgument,
    AllOption,
    ClusterOption,
    FormatsOption,
    GroupsOption,
    JobsOption,
    LogsOption,
    NoExternalOption,
    NoNormalizeOption,
    NoStoreOption,
    OutputsOption,
    UnpairedOption,
    WeightsOption,
    WithOption,
)


def register(app: typer.Typer) -> None:
    """Add both commands."""
    app.command(short_help="What changed between two inputs, and where it began.")(compare)
    app.command(short_help="Show a saved report, or turn it into another format.")(render)


def compare(
    before: Annotated[
        str | None, typer.Argument(metavar="BEFORE", help="As PATH of show.", show_default=False)
    ] = None,
    after: AfterArgument = None,
    *,
    recent: Annotated[
        str | None, typer.Option("--recent", metavar="KERNEL", help="Compare its two newest compilations.")
    ] = None,
    form: FormatsOption = None,
    output: OutputsOption = None,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code", help="Exit 1 where a kernel changed, 2 where something was not compared."
        ),
    ] = False,
    everything: AllOption = False,
    ir: Annotated[
        str | None, typer.Option("--ir", metavar="STAGE", help="Also the lines that differ in that stage.")
    ] = None,
    context: Annotated[
        int, typer.Option("--context", min=0, metavar="N", help="Equal lines around those of --ir.")
    ] = 2,
    top: GroupsOption = None,
    weights: WeightsOption = None,
    unpaired: UnpairedOption = False,
    no_normalize: NoNormalizeOption = None,
    ptxas_log: LogsOption = None,
    with_fact: WithOption = None,
    jobs: JobsOption = None,
    no_store: NoStoreOption = False,
    cluster: ClusterOption = None,
    no_external_plugins: NoExternalOption = False,
) -> None:
    """Compare two cache trees, dump folders, entries, files or archives."""
    from irdiff.cli.compare import run_compare
    from irdiff.cli.work import Work

    raise typer.Exit(
        run_compare(
            (before, after),
            recent=recent,
            forms=tuple(form or ()),
            outputs=tuple(output or ()),
            no_normalize=frozenset(no_normalize or ()),
            everything=everything,
            unpaired=unpaired,
            top=top,
            weights=weights,
            ir=ir,
            context=context,
            exit_code=exit_code,
            logs=tuple(ptxas_log or ()),
            wanted=frozenset(with_fact or ()),
            work=Work(jobs=jobs, store=not no_store, cluster=cluster),
            external=not no_external_plugins,
        )
    )


def render(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT", help="What compare or check wrote with --format json.")
    ],
    *,
    form: FormatsOption = None,
    output: OutputsOption = None,
    everything: AllOption = False,
    top: GroupsOption = None,
    unpaired: UnpairedOption = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="[CODE]",
            help="Of a report of check: which rule decided and why; alone, of all rules.",
        ),
    ] = None,
    no_external_plugins: NoExternalOption = False,
) -> None:
    """Show a saved report in any format, byte for byte as the command that saved it would have."""
    from irdiff.cli.formats import ViewOptions
    from irdiff.cli.render import run_render

    raise typer.Exit(
        run_render(
            report,
            forms=tuple(form or ()),
            outputs=tuple(output or ()),
            options=ViewOptions(everything=everything, unpaired=unpaired, top=top, explain=explain),
            external=not no_external_plugins,
        )
    )
