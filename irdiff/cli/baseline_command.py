"""Declares the commands of ``irdiff baseline``; everything they need is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irdiff.cli.options import NoExternalOption

baseline = typer.Typer(
    help="Keep the facts of compiled kernels as a file that check compares with, and changes that were accepted.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.add_typer(baseline, name="baseline")


@baseline.command(short_help="Write the facts of compiled kernels to a file.")
def write(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH]", show_default=False, help="As PATH of show; without it your own caches."
        ),
    ] = None,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Instead of standard output.")
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option("--fact", metavar="ID", help="Record this one too (a glob): ptx.opcodes, sass.*."),
    ] = None,
    incomplete: Annotated[
        bool,
        typer.Option(
            "--incomplete", help="Also where a kernel could not be read in full; check then exits with 2."
        ),
    ] = False,
    no_external_plugins: NoExternalOption = False,
) -> None:
    """Write facts and fingerprints as text that diffs well: one kernel a block, sorted, one fact a line.

    check PATH --baseline FILE then needs nothing else of what was compiled before.
    """
    from irdiff.cli.baseline import run_write

    raise typer.Exit(
        run_write(
            path,
            output=output,
            facts=tuple(fact or ()),
            incomplete=incomplete,
            external=not no_external_plugins,
        )
    )


@baseline.command(short_help="Accept findings of a saved report.")
def accept(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="What check wrote with --format json.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why this may be.")],
    owner: Annotated[str, typer.Option("--owner", metavar="NAME", help="Who answers for it.")],
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="DATE", help="Last day on which it is accepted: 2030-01-31."),
    ] = None,
    rule: Annotated[
        list[str] | None, typer.Option("--rule", metavar="CODE", help="Only findings of this rule (a glob).")
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            metavar="NAME",
            help="Only of this kernel (a glob), or of one specialization: NAME::HASHPREFIX.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to add them to; without it the one of the policy, or irdiff-accepted.toml beside it.",
        ),
    ] = None,
) -> None:
    """Add the findings of a report to the file of accepted changes, each with its value: another one still fails."""
    from irdiff.cli.baseline import run_accept

    raise typer.Exit(
        run_accept(
            report,
            reason=reason,
            owner=owner,
            expires=expires,
            rules=tuple(rule or ()),
            kernels=tuple(kernel or ()),
            output=output,
        )
    )
