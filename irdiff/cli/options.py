"""Options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

FormatOption: TypeAlias = Annotated[
    str, typer.Option("--format", "-f", metavar="FORMAT", help="terminal, json, or a format of a plugin.")
]
OutputOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write there instead of standard output."),
]
FormatsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="terminal, json, markdown, sarif, junit, github, or a format of a plugin; several may be given.",
    ),
]
OutputsOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write there instead of standard output: the n-th FILE takes the n-th FORMAT.",
    ),
]
NoExternalOption: TypeAlias = Annotated[
    bool, typer.Option("--no-external-plugins", help="Load the bundled plugins alone.")
]
AllOption: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Show everything, not only what matters most.")
]
WithOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="FACT", help="Also a fact that is costly to make: sass.live_registers."),
]
NoNormalizeOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--no-normalize", metavar="NAME", help="Switch a normalisation off.")
]
JobsOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--jobs", min=1, max=1024, metavar="N", help="Processes; one for each processor."),
]
NoStoreOption: TypeAlias = Annotated[
    bool, typer.Option("--no-store", help="Neither use nor keep what was read before.")
]
ClusterOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="URL", help="Read on the workers of a Dask scheduler: tcp://HOST:PORT."
    ),
]
PathArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="[PATH]",
        show_default=False,
        help="Cache or dump folder, one entry, a file, an archive, a URL of these, or a selector DIR::KERNEL, "
        "DIR::HASHPREFIX; "
        "without it your own caches.",
    ),
]
AfterArgument: TypeAlias = Annotated[str | None, typer.Argument(metavar="AFTER", show_default=False)]
WeightsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--weights", metavar="CSV", help="Times by kernel (nsys, PyTorch profiler): rank by them."),
]
LogOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--ptxas-log", metavar="FILE", help="What ptxas -v wrote; kernels are found by their names."
    ),
]
LogsOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--ptxas-log", metavar="FILE", help="What ptxas -v wrote: twice, of BEFORE and of AFTER."),
]
GroupsOption: TypeAlias = Annotated[
    int | None, typer.Option("--top", min=1, metavar="N", help="Groups of kernels told in full.")
]
UnpairedOption: TypeAlias = Annotated[
    bool, typer.Option("--unpaired", help="List kernels that are on one side only.")
]
