"""``irdiff compile``: what is asked for, run over workers, shown as a table or JSON."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import emit
from irdiff.cli.progress import progress_bar
from irdiff.compile.gpu import find_gpu
from irdiff.compile.items import Item
from irdiff.compile.notation import parse_option, parse_signature, parse_values
from irdiff.compile.output import OutputTree
from irdiff.compile.plan import Request, expand
from irdiff.compile.pool import Pool
from irdiff.compile.results import Result, Results
from irdiff.compile.tables import find_tables, read_tables, shown_path
from irdiff.compile.targets import CHOICES, parse_target
from irdiff.errors import UsageError
from irdiff.model.bundle import Target

FORMATS = ("terminal", "json")
SUITES = ("core",)
_TTG_TARGET = re.compile(
    rb'"?ttg\.target"? = "([a-z]+:[A-Za-z0-9]+)"|"triton_gpu\.target" = "([a-z]+:[A-Za-z0-9]+)"'
)


class CompileOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to compile, as it was typed."""

    source: str | None
    signature: str | None
    settings: tuple[str, ...]
    targets: tuple[str, ...]
    num_warps: str | None
    num_stages: str | None
    num_ctas: str | None
    options: tuple[str, ...]
    suite: str | None


def run_compile(
    asked: CompileOptions,
    *,
    output: Path | None,
    python: str | None,
    jobs: int | None,
    timeout: float,
    form: str,
) -> Exit:
    """Compile, print what came of it, and say by the exit code whether all of it did."""
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}", where="--format", hint=f"one of {', '.join(FORMATS)}")
    if output is None:
        raise UsageError("no folder for the entries is named", where="-o", hint="irdiff compile ... -o DIR")
    interpreter = python or sys.executable
    plan = expand(_with_targets(_requests(asked), asked, interpreter))
    with OutputTree(output) as tree, progress_bar("compiling") as progress:
        pool = Pool(
            plan,
            tree,
            interpreter,
            os.environ,
            workers=jobs or os.cpu_count() or 1,
            timeout=timeout,
            progress=progress,
        )
        results = pool.run()
    if form == "json":
        emit(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n", None)
    else:
        _print(results, output)
    return exit_of(results)


def exit_of(results: Results) -> Exit:
    """Bit 1: a kernel failed to compile; bit 2: nothing was compiled, or a worker did not behave as one."""
    failures = [result.failure for result in results.results if result.failure is not None]
    failed = any(failure.kind != "worker" for failure in failures)
    unsure = any(failure.kind == "worker" for failure in failures) or all(
        result.status == "skipped" for result in results.results
    )
    return Exit(int(Exit.CHANGED if failed else 0) | int(Exit.UNSURE if unsure else 0))


def suite_tables(name: str) -> Path:
    """The tables of a suite that comes with irdiff. Raises UsageError where there is none of that name."""
    if name not in SUITES:
        raise UsageError(f"no suite {name!r}", where="--suite", hint=f"one of {', '.join(SUITES)}")
    import irdiff

    return Path(irdiff.__file__).parent / "suite" / f"{name}.toml"


def _requests(asked: CompileOptions) -> list[Request]:
    single = (asked.signature, asked.num_warps, asked.num_stages, asked.num_ctas)
    by_hand = bool(asked.settings or asked.options) or any(each is not None for each in single)
    if asked.source is not None:
        if asked.suite is not None:
            raise UsageError("a file and --suite do not go together", where="compile")
        return [_request(asked, asked.source)]
    if by_hand:
        raise UsageError(
            "options of one kernel need its file", where="compile", hint="irdiff compile FILE.py::KERNEL ..."
        )
    if asked.suite is not None:
        return read_tables(suite_tables(asked.suite))
    tables = find_tables(Path.cwd())
    if tables is None:
        raise UsageError(
            "nothing is named and there are no [[kernel]] tables in irdiff.toml or pyproject.toml",
            where="compile",
            hint="irdiff compile FILE.py::KERNEL --signature ... --target cuda:90 -o DIR",
        )
    return read_tables(tables)


def _request(asked: CompileOptions, source: str) -> Request:
    name, _, kernel = source.partition("::")
    file = Path(name)
    options = [
        (key, value)
        for key, value in (
            ("num_warps", asked.num_warps),
            ("num_stages", asked.num_stages),
            ("num_ctas", asked.num_ctas),
        )
        if value is not None
    ]
    options += [_pair(text, "--option") for text in asked.options]
    return Request(
        file=file,
        shown=shown_path(file, Path.cwd()),
        kernel=kernel or None,
        arguments=parse_signature(asked.signature or ""),
        settings=_lists(
            [
                (key, parse_values(value, where=f"--set {key}"))
                for key, value in (_pair(each, "--set") for each in asked.settings)
            ]
        ),
        options=_lists([(key, parse_option(value, where=f"--option {key}")) for key, value in options]),
    )


def _pair(text: str, flag: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise UsageError(f"{text!r} is no NAME=VALUE", where=flag, hint=f"such as {flag} BLOCK_M=64")
    return name.strip(), value


def _lists(pairs: list[tuple[str, tuple[Item, ...]]]) -> dict[str, tuple[Item, ...]]:
    """Values by name; a name given twice has the values of both."""
    found: dict[str, tuple[Item, ...]] = {}
    for name, items in pairs:
        found[name] = found.get(name, ()) + items
    return found


def _with_targets(requests: list[Request], asked: CompileOptions, python: str) -> list[Request]:
    """Requests with targets: those named here, else their own, else that of the file or of the GPU."""
    named = tuple(
        parse_target(name) for text in asked.targets for name in text.replace(",", " ").split() if name
    )
    if named:
        return [msgspec.structs.replace(request, targets=named) for request in requests]
    if asked.suite is not None:
        raise UsageError("a suite needs a target", where="--target", hint=f"one or more of {CHOICES}")
    gpu: tuple[Target, ...] = ()
    made = []
    for request in requests:
        targets = request.targets or _target_in(request.file)
        if not targets:
            gpu = gpu or (_gpu(python),)
            targets = gpu
        made.append(msgspec.structs.replace(request, targets=targets))
    return made


def _gpu(python: str) -> Target:
    with tempfile.TemporaryDirectory(prefix="irdiff-") as folder:
        return find_gpu(python, Path(folder) / "worker.log", os.environ)


def _target_in(file: Path) -> tuple[Target, ...]:
    """The target that a TTGIR module was made for."""
    if file.suffix != ".ttgir":
        return ()
    try:
        found = _TTG_TARGET.search(file.read_bytes())
    except OSError:
        return ()
    return (parse_target((found[1] or found[2]).decode(), where=file.name),) if found else ()


def _print(results: Results, output: Path) -> None:
    from irdiff.present.terminal import console_for, grid
    from irdiff.present.wording import plural

    console = console_for(sys.stdout)
    header = ("kernel", "specialization", "target", "status", "seconds", "registers", "spills", "shared")
    rows = [
        (
            result.kernel,
            result.specialization,
            result.target,
            result.failure.kind if result.failure else result.status,
            "" if result.seconds is None else f"{result.seconds:.1f}",
            *(
                "" if number is None else f"{number:,}"
                for number in (result.registers, result.spills, result.shared)
            ),
        )
        for result in results.results
    ]
    grid(rows, console, header=header)
    for line in _remarks(results.results):
        console.print(line, soft_wrap=True)
    counts = {
        status: sum(result.status == status for result in results.results)
        for status in ("compiled", "unchanged", "failed", "skipped")
    }
    told = [f"{count:,} {status}" for status, count in counts.items() if count]
    total = plural(len(results.results), "specialization")
    release = f", Triton {results.triton}" if results.triton else ""
    console.print(f"\n{total}: {', '.join(told)}{release}   {output}", soft_wrap=True)


def _remarks(results: tuple[Result, ...]) -> Iterator[str]:
    """What went wrong, and why jobs were skipped, each reason once."""
    from irdiff.present.wording import joined, printable

    failures: dict[tuple[str, str | None, str, str | None], list[Result]] = {}
    for result in results:
        failure = result.failure
        if failure is not None:
            where = f"{result.file}:{failure.line}" if failure.line else None
            failures.setdefault((failure.kind, failure.stage, failure.message, where), []).append(result)
    for (kind, stage, message, where), alike in failures.items():
        at = f" at stage {stage}" if stage else ""
        about = joined([_about(result) for result in alike], most=3)
        yield f"\n{printable(where or alike[0].file)}: {kind} error{at}: {printable(about)}"
        yield f"  {printable(message)}"
        if kind in HINTS:
            yield f"  {HINTS[kind]}"
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.reason is not None:
            reasons.setdefault(result.reason, []).append(f"{result.kernel} for {result.target}")
    for reason, skipped in reasons.items():
        yield f"\nskipped: {printable(', '.join(skipped))}"
        yield f"  {printable(reason)}"


def _about(result: Result) -> str:
    return " ".join(part for part in (result.kernel, result.specialization) if part) + f" for {result.target}"


HINTS = {
    "crash": "the compiler itself died: try another Triton with --python, or report it with the record in failed/",
    "timeout": "--timeout SECONDS gives it longer",
    "out-of-resources": "the entry is complete, but cannot be launched; smaller blocks or fewer stages need less",
    "worker": "run it alone with --jobs 1; if it happens again, report it",
    "pass": "the record in failed/ has what the compiler printed",
    "code-generation": "the record in failed/ has what the compiler printed",
    "assembler": "the record in failed/ has what ptxas printed",
}
