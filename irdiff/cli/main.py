"""The ``irdiff`` command: declares the commands and turns what happens into exit codes.

Nothing heavy is imported here: each command imports what it needs when it runs, so that ``--help`` is fast.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from irdiff import __version__
from irdiff.cli.baseline_command import register as register_baseline
from irdiff.cli.check_command import register as register_check
from irdiff.cli.compile_command import register
from irdiff.cli.ending import ending
from irdiff.cli.exit_codes import Exit
from irdiff.cli.options import (
    AllOption,
    ClusterOption,
    FormatOption,
    FormatsOption,
    JobsOption,
    NoExternalOption,
    NoNormalizeOption,
    NoStoreOption,
    OutputOption,
    OutputsOption,
    WithOption,
)
from irdiff.cli.plugins_command import register_plugins

app = typer.Typer(
    name="irdiff",
    help="What changed between two compilations of a Triton kernel, stage by stage, and where it began.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PathArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[PATH]",
        show_default=False,
        help="Cache or dump folder, one entry, a file, an archive, a URL of these, or a selector DIR::KERNEL, "
        "DIR::HASHPREFIX; "
        "without it your own caches.",
    ),
]


def _version(*, value: bool) -> None:
    if value:
        typer.echo(f"irdiff {__version__}")
        raise typer.Exit


@app.callback()
def main(
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


@app.command()
def show(
    path: PathArgument = None,
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
    ptxas_log: Annotated[
        list[Path] | None,
        typer.Option(
            "--ptxas-log", metavar="FILE", help="What ptxas -v wrote; kernels are found by their names."
        ),
    ] = None,
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


@app.command(short_help="What changed between two inputs, and where it began.")
def compare(
    before: Annotated[
        str | None, typer.Argument(metavar="BEFORE", help="As PATH of show.", show_default=False)
    ] = None,
    after: Annotated[str | None, typer.Argument(metavar="AFTER", show_default=False)] = None,
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
    top: Annotated[
        int | None, typer.Option("--top", min=1, metavar="N", help="Groups of kernels told in full.")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights", metavar="CSV", help="Times by kernel (nsys, PyTorch profiler): rank by them."
        ),
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="List kernels that are on one side only.")
    ] = False,
    no_normalize: NoNormalizeOption = None,
    ptxas_log: Annotated[
        list[Path] | None,
        typer.Option(
            "--ptxas-log", metavar="FILE", help="What ptxas -v wrote: twice, of BEFORE and of AFTER."
        ),
    ] = None,
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


@app.command(short_help="Show a saved report, or turn it into another format.")
def render(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT", help="What compare or check wrote with --format json.")
    ],
    form: FormatsOption = None,
    output: OutputsOption = None,
    everything: AllOption = False,
    top: Annotated[
        int | None, typer.Option("--top", min=1, metavar="N", help="Groups of kernels told in full.")
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="List kernels that are on one side only.")
    ] = False,
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


@app.command()
def recent(
    kernel: Annotated[str | None, typer.Argument(metavar="KERNEL", help="Only this one (a glob).")] = None,
    path: Annotated[
        str | None, typer.Option("--in", metavar="PATH", help="Instead of your own caches.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    no_external_plugins: NoExternalOption = False,
) -> None:
    """List the newest compilations."""
    from irdiff.cli.recent import run_recent

    raise typer.Exit(run_recent(kernel, path, limit=limit, external=not no_external_plugins))


@app.command(short_help="Say what each fact means: kind, unit, direction, role, source.")
def facts(
    fact: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID|PATH]",
            show_default=False,
            help="A fact, or a stage for all of its facts; or kernels, as PATH of show: writes theirs as a table.",
        ),
    ] = None,
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


@app.command(short_help="The store of what was read before.")
def cache(
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


@app.command(short_help="Say which tools, GPU and caches were found here.")
def doctor(no_external_plugins: NoExternalOption = False) -> None:
    """Say what was found here: tools and what they decode, Triton, GPU, caches."""
    from irdiff.cli.doctor import run_doctor

    raise typer.Exit(run_doctor(external=not no_external_plugins))


register(app)
register_check(app)
register_baseline(app)
register_plugins(app)


def run() -> NoReturn:
    """The console script: the one place that maps exceptions to exit codes."""
    sys.exit(main_with(sys.argv[1:]))


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
