"""The commands ``check`` and ``rules``: their options, declared; nothing heavy is imported before they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irdiff.cli.options import (
    AfterArgument,
    AllOption,
    ClusterOption,
    FormatOption,
    FormatsOption,
    JobsOption,
    LogsOption,
    NoExternalOption,
    NoNormalizeOption,
    NoStoreOption,
    OutputsOption,
    WeightsOption,
)


def register(app: typer.Typer) -> None:
    """Add both commands."""
    app.command(short_help="Judge what changed by rules and a policy: a gate for CI.")(check)
    app.command()(rules)


def check(
    before: Annotated[
        str | None,
        typer.Argument(
            metavar="BEFORE", help="As PATH of show; not with --baseline or --against.", show_default=False
        ),
    ] = None,
    after: AfterArgument = None,
    *,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE", help="What BEFORE was, as irdiff baseline write wrote it."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="REVISION", help="Compile the [[kernel]] tables here and at that revision."
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", metavar="TARGET", help="With --against: instead of the tables' targets."),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="PATH", help="With --against: the Python that has Triton."),
    ] = None,
    jobs: JobsOption = None,
    no_store: NoStoreOption = False,
    cluster: ClusterOption = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", metavar="FILE", help="Instead of the nearest irdiff.toml or pyproject.toml."
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="CODE=LEVEL", help="error, warn or off: wins over the policy."),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option("--require", metavar="STAGE", help="Do not pass where a kernel lacks that stage."),
    ] = None,
    accepted: Annotated[
        Path | None, typer.Option("--accepted", metavar="FILE", help="Changes that were accepted.")
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="[CODE]", help="Instead: which rule decided and why; alone, of all rules."
        ),
    ] = None,
    form: FormatsOption = None,
    output: OutputsOption = None,
    everything: AllOption = False,
    top: Annotated[
        int | None, typer.Option("--top", min=1, metavar="N", help="Findings told in full.")
    ] = None,
    weights: WeightsOption = None,
    no_normalize: NoNormalizeOption = None,
    ptxas_log: LogsOption = None,
    no_external_plugins: NoExternalOption = False,
) -> None:
    """Judge two inputs, an input and a baseline, or this repository and one of its revisions.

    Exit 0: it passed. 1: a rule failed. 2: something could not be judged. 3: both.
    """
    from irdiff.cli.check import Sides, Strictness, run_check
    from irdiff.cli.formats import ViewOptions
    from irdiff.cli.work import Work

    raise typer.Exit(
        run_check(
            Sides(
                paths=tuple(path for path in (before, after) if path is not None),
                baseline=baseline,
                against=against,
                targets=tuple(target or ()),
                python=python,
                jobs=jobs,
            ),
            Strictness(
                policy=policy, rules=tuple(rule or ()), require=tuple(require or ()), accepted=accepted
            ),
            forms=tuple(form or ()),
            outputs=tuple(output or ()),
            options=ViewOptions(everything=everything, top=top, explain=explain),
            no_normalize=frozenset(no_normalize or ()),
            logs=tuple(ptxas_log or ()),
            weights=weights,
            external=not no_external_plugins,
            work=Work(jobs=jobs, store=not no_store, cluster=cluster),
        )
    )


def rules(
    rule: Annotated[
        str | None,
        typer.Argument(metavar="[CODE]", show_default=False, help="A rule, for its page; or a glob: RES*."),
    ] = None,
    *,
    form: FormatOption = "terminal",
    no_external_plugins: NoExternalOption = False,
) -> None:
    """List the rules that check judges by; of one: when it fires, why, and examples."""
    from irdiff.cli.rules import run_rules

    raise typer.Exit(run_rules(rule, form=form, external=not no_external_plugins))
