"""Generate docs/reference from the types, the hook specifications and the registry; ``--check`` only compares."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import sys
from pathlib import Path

from hook_reference import hooks

from irdiff.cli.exit_codes import Exit
from irdiff.config.check import schema as config_schema
from irdiff.model.codec import schema_text
from irdiff.model.report import Report, Show
from irdiff.plugins import load_plugins
from irdiff.present import fact_reference, rule_reference
from irdiff.registry import Registry

FOLDER = Path(__file__).parent / "reference"


RULES_ARE = (
    "Generated from the registry. What `irdiff check` judges by; `irdiff rules CODE` prints a section. Rules go by "
    "the role of a fact, so that they hold for the stages of any vendor; where several stages have a role, the lowest "
    "one that both sides know judges. Only exact facts fail a build; an estimate is a warning unless the policy says "
    "otherwise."
)


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
        "irdiff.toml.schema.json": f"{json.dumps(config_schema(), indent=2)}\n".encode(),
        "facts.md": facts(registry).encode(),
        "rules.md": rules(registry).encode(),
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


def rules(registry: Registry) -> str:
    """Every rule: when it fires, why that matters, what to do, examples."""
    lines = [
        "# Rules",
        "",
        RULES_ARE,
        "",
        "| rule | default level | what it finds |",
        "|---|---|---|",
        *(
            f"| [{rule.code}](#{rule.code.lower()}) | {rule.level} | {rule.title} |"
            for rule in registry.rules
        ),
        "",
    ]
    for rule in registry.rules:
        lines += rule_reference.markdown(rule)
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
