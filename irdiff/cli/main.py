"""The ``irdiff`` command: declares the commands and turns what happens into exit codes.

Nothing heavy is imported here: each command imports what it needs when it runs, so that ``--help`` is fast.
"""

from __future__ import annotations

import re
import sys
from typing import Annotated

import typer

from irdiff import __version__
from irdiff.cli.baseline_command import register as register_baseline
from irdiff.cli.check_command import register as register_check
from irdiff.cli.compare_command import register as register_compare
from irdiff.cli.compile_command import register as register_compile
from irdiff.cli.ending import ending
from irdiff.cli.exit_codes import Exit
from irdiff.cli.inventory_commands import register as register_inventory
from irdiff.cli.plugins_command import register as register_plugins
from irdiff.cli.show_command import register as register_show

app = typer.Typer(
    name="irdiff",
    help="What changed between two compilations of a Triton kernel, stage by stage, and where it began.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(*, value: bool) -> None:
    if value:
        typer.echo(f"irdiff {__version__}")
        raise typer.Exit


@app.callback()
def main(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda value: _version(value=value),
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """Options of the whole program."""


register_show(app)
register_compare(app)
register_inventory(app)
register_compile(app)
register_check(app)
register_baseline(app)
register_plugins(app)


def _with_all_rules(arguments: list[str]) -> list[str]:
    """A bare ``--explain`` asks for all rules; one that a rule's code follows, for that rule."""
    following = [*arguments[1:], ""]
    return [
        "--explain=" if each == "--explain" and not re.fullmatch(r"[A-Z]+[0-9]+", after) else each
        for each, after in zip(arguments, following, strict=True)
    ]


def main_with(arguments: list[str]) -> int:
    """Run the command line and return the exit code; no exception leaves it but for a fault under a debugger."""
    usage_error: type[Exception] = typer.BadParameter.__mro__[
        1
    ]  # click's UsageError, wherever typer keeps it
    try:
        result = app(args=_with_all_rules(arguments), prog_name="irdiff", standalone_mode=False)
        sys.stdout.flush()
        return int(result or 0)
    except usage_error as error:
        error.show()  # type: ignore[attr-defined]
        return Exit.USAGE
    except typer.Abort:
        return ending(KeyboardInterrupt())
    except BaseException as error:  # noqa: BLE001  # the last resort: a user never meets a traceback
        return ending(error)
