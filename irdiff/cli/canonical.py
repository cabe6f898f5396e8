"""``irdiff show --canonical STAGE``: the text in which equal code is equal, beside the lines it comes from."""

from __future__ import annotations

from pathlib import Path

from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import emit
from irdiff.cli.session import known_stage, session
from irdiff.engine.hunks import Text, text_of
from irdiff.engine.kernels import Kernel
from irdiff.errors import InputError, UsageError
from irdiff.model.facts import Place
from irdiff.model.places import place_of
from irdiff.present.view import issue_line
from irdiff.present.wording import printable


def run_canonical(
    path: str | None,
    stage_id: str,
    *,
    form: str,
    output: Path | None,
    no_normalize: frozenset[str],
    external: bool,
) -> Exit:
    """Print the canonical form of one stage of each kernel. Raises InputError where none can be made."""
    if form != "terminal":
        raise UsageError(f"--canonical prints text, not {form}", where="--format", hint="leave out --format")
    with session(external=external) as run:
        loaded = run.load(path) if path is not None else run.load_defaults()
        known_stage(run, stage_id, loaded.bundles, "--canonical")
        reader = run.reader(canonical=False, switched_off=no_normalize)
        kernels = [kernel for kernel in reader.read(loaded.bundles) if stage_id in kernel.readings]
        parts: list[str] = []
        lost: list[Kernel] = []
        for kernel in kernels:
            text = text_of(kernel, reader, stage_id)
            if text is None:
                lost.append(kernel)
                continue
            if len(kernels) > 1:
                parts.append(f"{kernel.bundle.name}   {kernel.artifact(stage_id).location}\n")
            parts.append(canonical_text(text, place_of(kernel.readings[stage_id].stage)))
    if not parts:
        issues = [issue for kernel in lost for issue in kernel.readings[stage_id].issues]
        raise InputError(
            f"no canonical form: {issue_line(issues[0])}" if issues else "no canonical form",
            where=lost[0].artifact(stage_id).location,
        )
    emit("\n".join(parts).encode(), output)
    return Exit.UNSURE if lost else Exit.OK


def canonical_text(text: Text, place: Place) -> str:
    """One line for each canonical line: its place in the artifact, then the line."""
    shown = [text.place(index) for index in range(len(text.canonical.lines))]
    numbers = [
        "" if number is None else f"{number:#06x}" if place == "address" else str(number) for number in shown
    ]
    width = max(map(len, numbers), default=0)
    return "".join(
        f"{number:>{width}}  {printable(line)}\n"
        for number, line in zip(numbers, text.canonical.lines, strict=True)
    )
