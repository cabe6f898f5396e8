"""Declares the ``compile`` command; everything it needs is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command(name="compile")(compile_)


def compile_(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE[::KERNEL]",
            help="A Python file and a kernel in it, or a .ttir or .ttgir file; left out: the [[kernel]] tables of "
            "irdiff.toml.",
            show_default=False,
        ),
    ] = None,
    rest: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ARGUMENTS]",
            help="With --run: the program's arguments; its own flags go behind --.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="SCRIPT",
            help="Run a program unchanged and keep all it compiles: on the GPU here, or with --target without one.",
            show_default=False,
        ),
    ] = None,
    signature: Annotated[
        str | None,
        typer.Option(
            "--signature",
            "-s",
            metavar="ITEMS",
            help='One item for each parameter: "*fp16:16, i32:1, 256, None, tensordesc<fp16[128, 64]>".',
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter by name; 64,128 compiles both."),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", "-t", metavar="TARGET", help="cuda:90, hip:gfx942, ...; several are all compiled."
        ),
    ] = None,
    num_warps: Annotated[
        str | None, typer.Option("--num-warps", metavar="N", help="4, or 4,8 for both.")
    ] = None,
    num_stages: Annotated[
        str | None, typer.Option("--num-stages", metavar="N", help="As --num-warps.")
    ] = None,
    num_ctas: Annotated[str | None, typer.Option("--num-ctas", metavar="N", help="As --num-warps.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="Any option of Triton's backend: maxnreg=128."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder for the entries.", show_default=False),
    ] = None,
    suite: Annotated[
        str | None, typer.Option("--suite", metavar="NAME", help="Kernels that come with irdiff: core.")
    ] = None,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="PATH", help="Interpreter of another environment or source build."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Worker processes.", show_default="one per CPU")
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one kernel.")] = 300.0,
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="FORMAT", help="terminal or json.")
    ] = "terminal",
) -> None:
    """Compile kernels through every stage into a tree that the other commands read.

    Without a GPU for named targets, or by running a program unchanged (--run).
    """
    if run is not None:
        from irdiff.cli.run_script import run_script

        given = {
            "--signature": signature,
            "--set": settings,
            "--num-warps": num_warps,
            "--num-stages": num_stages,
            "--num-ctas": num_ctas,
            "--option": option,
            "--suite": suite,
            "--jobs": jobs,
        }
        _only([name for name, value in given.items() if value], "says what the program itself decides")
        arguments = [*([source] if source is not None else []), *(rest or ())]
        raise typer.Exit(run_script(run, arguments, targets=target or (), python=python, output=output))
    _only(list(rest or ()), "is one argument too many")

    from irdiff.cli.compile import CompileOptions, run_compile

    raise typer.Exit(
        run_compile(
            CompileOptions(
                source=source,
                signature=signature,
                settings=tuple(settings or ()),
                targets=tuple(target or ()),
                num_warps=num_warps,
                num_stages=num_stages,
                num_ctas=num_ctas,
                options=tuple(option or ()),
                suite=suite,
            ),
            output=output,
            python=python,
            jobs=jobs,
            timeout=timeout,
            form=form,
        )
    )


def _only(unwanted: list[str], reason: str) -> None:
    """Refuse what has no place in this form of the command."""
    if unwanted:
        from irdiff.errors import UsageError

        raise UsageError(reason, where=unwanted[0], hint="irdiff compile --help")
