"""Declares the ``plugins`` command: alone it lists, ``plugins new NAME`` writes a new project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irdiff.cli.options import NoExternalOption


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    group = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    group.callback(invoke_without_command=True)(plugins)
    group.command(name="new")(new)
    app.add_typer(group, name="plugins", context_settings={"help_option_names": ["-h", "--help"]})


def plugins(context: typer.Context, *, no_external_plugins: NoExternalOption = False) -> None:
    """List the plugins, what each registers, and why one was skipped; or write a new one."""
    if context.invoked_subcommand is not None:
        return
    from irdiff.cli.plugins import run_plugins

    raise typer.Exit(run_plugins(external=not no_external_plugins))


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What its stage is called: my-stage.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder to write; irdiff-NAME without it."),
    ] = None,
) -> None:
    """Write a plugin project that works and passes its own tests: stage, facts, tests, README."""
    from irdiff.cli.new_plugin import run_new_plugin

    raise typer.Exit(run_new_plugin(name, output))
