"""``irdiff compile --run``: run a program unchanged, keep all it compiles, say what the driver thinks of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from irdiff.capture.check import ROLES, Checked, compare
from irdiff.capture.collect import Collected, collect
from irdiff.capture.driver import DriverSays
from irdiff.capture.entries import Compiler, Run
from irdiff.capture.events import Event, Interpreted, Problem, read_events
from irdiff.capture.interpreter import ask_compiler
from irdiff.capture.program import Work, program_environment, run_program
from irdiff.cli.exit_codes import Exit
from irdiff.cli.session import session
from irdiff.compile.output import OutputTree
from irdiff.compile.targets import CHOICES, parse_target
from irdiff.errors import InputError, UsageError
from irdiff.model.bundle import Target
from irdiff.present.wording import plural, printable

ON = ("1", "true", "on", "yes", "y")


def run_script(
    script: str,
    arguments: Sequence[str] = (),
    *,
    targets: Sequence[str] = (),
    python: str | None = None,
    output: Path | None,
    external: bool = True,
) -> int:
    """Run ``script`` with its arguments, once for each target, and fill ``output``.

    Without targets it runs on the GPU that is there. Returns the program's exit code (128 + N where signal N ended
    it; of several runs the first that is not 0), or 2 where it ended well and compiled nothing. All that is printed
    here goes to standard error: standard output is the program's.
    """
    if output is None:
        raise UsageError(
            "no folder for the entries is named", where="-o", hint="irdiff compile --run ... -o DIR"
        )
    if os.environ.get("TRITON_INTERPRET", "").lower() in ON:
        raise UsageError(
            "TRITON_INTERPRET is set: Triton would interpret the kernels in Python and compile none",
            where="--run",
            hint="unset TRITON_INTERPRET",
        )
    path = Path(script)
    if not path.is_file():
        raise InputError(
            "is no file that can be run", where=script, hint="irdiff compile --run SCRIPT.py -o DIR"
        )
    named = [parse_target(name) for text in targets for name in text.replace(",", " ").split()]
    interpreter = python or sys.executable
    code = 0
    with OutputTree(output) as tree:
        compiler = ask_compiler(interpreter, tree.work / "compiler.log", os.environ)
        for number, target in enumerate(named or [None]):
            work = Work(tree.work / f"run-{number}")
            ended = _one(
                work, [interpreter, script, *arguments], target, tree, compiler, output, external=external
            )
            code = code or ended
        tree.tidy()
    return code


def _one(
    work: Work,
    command: Sequence[str],
    target: Target | None,
    tree: OutputTree,
    compiler: Compiler,
    output: Path,
    *,
    external: bool,
) -> int:
    environment = program_environment(os.environ, work, target)
    process, code = run_program(command, environment)
    events, odd = read_events(work.events)
    run = Run.of(events, main=process, folder=Path.cwd())
    collected = collect(work, run, tree, compiler, command[0], os.environ, executed=target is None)
    for line in [*_summary(collected, target, output), *_remarks(collected, events, odd)]:
        say(line)
    if target is None and collected.compiled:
        for line in _driver_lines(collected, output, external=external):
            say(line)
    if any(isinstance(event, Interpreted) for event in events):
        return code or int(Exit.USAGE)
    if not collected.compiled:
        if target is None and collected.driver.reason is not None:
            say(f"there is no GPU here: --target compiles without one; choose of {CHOICES}")
        return code or int(Exit.UNSURE)
    return code


def say(line: str) -> None:
    """One line on standard error."""
    print(f"irdiff: {printable(line)}", file=sys.stderr)  # noqa: T201  # standard output is the program's


def _summary(collected: Collected, target: Target | None, output: Path) -> list[str]:
    kernels = collected.compiled
    inside = sum(entry.subprocess for entry in kernels)
    told = [f"{plural(len(kernels), 'kernel')} compiled{f' for {target}' if target else ''}"]
    if inside:
        told.append(f"{inside:,} of them in subprocesses")
    tuned = sum(entry.autotune is not None for entry in kernels)
    if tuned:
        won = sum(entry.autotune is not None and entry.autotune.winner is True for entry in kernels)
        told.append(f"{tuned:,} for autotuning{f' ({won:,} won)' if won else ''}")
    if collected.failed:
        told.append(f"{len(collected.failed):,} failed")
    return [f"{', '.join(told)}   {output}"]


def _remarks(collected: Collected, events: Sequence[Event], odd: Sequence[str]) -> list[str]:
    lines = []
    for entry in collected.failed:
        failure = entry.failure
        assert failure is not None
        where = f"{entry.source.file}:{failure.line}" if failure.line else entry.source.file
        lines.append(f"{where}: {failure.kind} error: {entry.kernel} for {entry.target}: {failure.message}")
    if collected.lost:
        lines.append(f"compiled, and the entries are nowhere: {', '.join(sorted(set(collected.lost)))}")
    if collected.unrecorded:
        lines.append(f"of {plural(collected.unrecorded, 'kernel')} the specialization was not recorded")
    problems = [event for event in events if isinstance(event, Problem)]
    lines += [
        f"the recorder failed at {each.where}: {each.message.strip().splitlines()[-1]}"
        for each in problems[:3]
    ]
    lines += [f"an event cannot be read: {each}" for each in odd[:3]]
    return lines


def _driver_lines(collected: Collected, output: Path, *, external: bool) -> list[str]:
    if collected.driver.reason is not None:
        return [f"the driver was not asked: {collected.driver.reason}"]
    says = {
        entry.entry: entry.driver
        for entry in collected.compiled
        if entry.entry is not None and entry.driver is not None and entry.driver.error is None
    }
    refused = [
        entry for entry in collected.compiled if entry.driver is not None and entry.driver.error is not None
    ]
    lines = [
        f"the driver does not load {each.kernel}: {each.driver.error}" for each in refused[:3] if each.driver
    ]
    return [*lines, *check_tree(output, says, external=external).lines()] if says else lines


def check_tree(output: Path, says: Mapping[str, DriverSays], *, external: bool) -> Checked:
    """Read the machine code of the entries in ``says`` and compare. Raises InputError where there is none."""
    import msgspec

    with session(external=external) as run:
        stages = {stage.id for stage in run.registry.stages if stage.machine_code or not stage.pipeline}
        roles = {fact_id: spec.role for fact_id, spec in run.registry.facts.items() if spec.role in ROLES}
        bundles = [
            msgspec.structs.replace(
                bundle, artifacts={name: each for name, each in bundle.artifacts.items() if name in stages}
            )
            for bundle in run.load(str(output)).bundles
            if bundle.entry in says
        ]
        kernels = run.reader(canonical=False).read(bundles)
        found = []
        for kernel in kernels:
            facts: dict[str, object] = {
                roles[fact.id]: fact.value for fact in kernel.facts() if not fact.scope and fact.id in roles
            }
            entry = kernel.bundle.entry
            found.append(compare(kernel.bundle.name, entry, says[entry], facts))
    return Checked(kernels=tuple(found))
