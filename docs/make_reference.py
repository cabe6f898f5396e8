"""Generate docs/reference from the types, the hook specifications and the registry; ``--check`` only compares."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
from pathlib import Path

from irdiff import hookspecs
from irdiff.cli.exit_codes import Exit
from irdiff.model.codec import schema_text
from irdiff.model.report import Report, Show
from irdiff.plugins import load_plugins
from irdiff.present import fact_reference
from irdiff.registry import Registry

FOLDER = Path(__file__).parent / "reference"


def main() -> int:
    """Write the files, or with ``--check`` name those that are not up to date (exit 1)."""
    check = "--check" in sys.argv[1:]
    stale = []
    for name, text in sorted(references().items()):
        path = FOLDER / name
        if path.exists() and path.read_bytes() == text:
            continue
        stale.append(name)
        if not check:
            FOLDER.mkdir(exist_ok=True)
            path.write_bytes(text)
    if check and stale:
        sys.stderr.write(f"not up to date: {', '.join(stale)}; run make docs\n")
    return int(check and bool(stale))


def references() -> dict[str, bytes]:
    """File name to content."""
    registry = load_plugins(external=False)
    return {
        "report.schema.json": schema_text(Report),
        "show.schema.json": schema_text(Show),
        "facts.md": facts(registry).encode(),
        "normalisations.md": normalisations(registry).encode(),
        "hooks.md": hooks().encode(),
        "exit-codes.md": exit_codes().encode(),
        "../../irdiff/cli/help.txt": overview().encode(),
    }


def overview() -> str:
    """What ``irdiff --help`` prints; the program prints the file, without loading what would make it anew."""
    from irdiff.cli.main import main_with

    os.environ["COLUMNS"] = "80"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main_with(["--help"])
    return printed.getvalue()


def facts(registry: Registry) -> str:
    """Every fact, grouped by what it comes from."""
    lines = ["# Facts", "", f"Generated from the registry. {fact_reference.LEGEND}", ""]
    for name, title, specs in fact_reference.groups(registry):
        lines += fact_reference.markdown(f"{name}: {title}", specs)
    return "\n".join(lines)


def normalisations(registry: Registry) -> str:
    """Every normalisation of every stage."""
    lines = [
        "# Normalisations",
        "",
        "What `irdiff` folds before it compares; `--no-normalize NAME` switches one off.",
        "",
    ]
    for stage in registry.stages:
        if stage.normalizations:
            lines += [f"## {stage.id}", ""]
            lines += [f"- **`{rule.id}`** ({rule.title}): {rule.doc}" for rule in stage.normalizations]
            lines.append("")
    return "\n".join(lines)


def hooks() -> str:
    """Every hook with its signature."""
    lines = [
        "# Hooks",
        "",
        "A plugin implements some of these and marks each with `irdiff.api.hookimpl`.",
        "",
    ]
    for name, function in vars(hookspecs).items():
        if name.startswith("irdiff_") and callable(function):
            lines += [f"## `{name}{inspect.signature(function)}`", "", inspect.getdoc(function) or "", ""]
    return "\n".join(lines)


def exit_codes() -> str:
    """The table of exit codes, each with the sentence beside it in the source."""
    source = inspect.getsource(Exit).splitlines()
    lines = ["# Exit codes", "", "| code | meaning |", "|---|---|"]
    for index, line in enumerate(source):
        name, _, value = line.strip().partition(" = ")
        if name in Exit.__members__ and value.isdecimal():
            lines.append(f"| {value} | {source[index + 1].strip().strip(chr(34))} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
