"""irdiff from Python: the same comparisons and judgements as the command line's, as values.

An input is a path or selector as the commands take it, or a ``triton.compiler.CompiledKernel``. Every function raises
:class:`irdiff.errors.InputError` where an input cannot be read and :class:`irdiff.errors.UsageError` where the call
means nothing; both are :class:`irdiff.errors.IrdiffError`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeAlias

import msgspec

from irdiff.cli.session import Session, session
from irdiff.compiled import is_compiled_kernel, written_entry
from irdiff.errors import InputError, UsageError
from irdiff.model.bundle import Target
from irdiff.model.gate import Acceptance, Level
from irdiff.model.issues import Issue
from irdiff.model.policy import Policy
from irdiff.model.report import Report, Show
from irdiff.sources import Loaded

Input: TypeAlias = object
"""A path or selector (``str`` or ``os.PathLike``), or a compiled kernel: anything with Triton's ``asm`` and
``metadata``."""


def compare(
    before: Input, after: Input, *, no_normalize: Sequence[str] = (), external: bool = True
) -> Report:
    """What changed: ``report.verdict``, ``report.changes``, ``report.kernels``.

    ``no_normalize`` switches normalisations off; ``external=False`` loads the bundled plugins alone.
    """
    from irdiff.engine.compare import Comparer, Side

    with ExitStack() as stack:
        run = stack.enter_context(session(external=external))
        one, other = (_loaded(run, each, stack) for each in (before, after))
        reader = run.reader(canonical=True, switched_off=frozenset(no_normalize))
        first, second = reader.read_both(one.bundles, other.bundles)
        return Comparer(run.registry, reader).compare(
            Side(described=one.described, kernels=tuple(first), issues=(*run.issues(), *one.issues)),
            Side(described=other.described, kernels=tuple(second), issues=other.issues),
        )


def check(
    before: Input | None,
    after: Input,
    *,
    baseline: str | os.PathLike[str] | None = None,
    policy: Policy | str | os.PathLike[str] | None = None,
    rules: Mapping[str, Level] | None = None,
    accepted: Sequence[Acceptance] | str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    external: bool = True,
) -> Report:
    """Judge what changed: ``report.judgement`` says what failed and what could not be judged.

    ``before`` is None where a ``baseline`` is given. ``policy`` is a value or a file; without it the nearest
    configuration holds, going up from ``folder`` (the working directory). ``rules`` sets levels by code, over
    everything. ``accepted`` is a file of accepted changes, or what is in it; without it the policy's holds.
    """
    from irdiff.baseline.side import read_side
    from irdiff.cli.check import accepted_of, kept_accepted
    from irdiff.config.check import read_policy
    from irdiff.engine.compare import Comparer, Side
    from irdiff.engine.gate.judge import Gate
    from irdiff.engine.gate.names import check_names

    if (before is None) == (baseline is None):
        raise UsageError("either an input before or a baseline is needed", where="check")
    here = Path(folder) if folder is not None else Path.cwd()
    if not isinstance(policy, Policy):
        policy = read_policy(Path(policy) if policy is not None else None, here)
    for code, level in (rules or {}).items():
        if level not in ("error", "warn", "off"):
            raise UsageError(f"{level!r} is no level", where=f"rules: {code}", hint="error, warn or off")
    policy = msgspec.structs.replace(policy, forced={**policy.forced, **(rules or {})})
    file = Path(baseline) if baseline is not None else None
    if accepted is None or isinstance(accepted, (str, os.PathLike)):
        named = accepted if accepted is not None else policy.accepted
        accepted = accepted_of(Path(named) if named is not None else kept_accepted(file, here))
    with ExitStack() as stack:
        run = stack.enter_context(session(external=external))
        check_names(policy, run.registry.rules, run.registry.facts)
        gate = Gate(run.registry, policy)
        other = _loaded(run, after, stack)
        reader = run.reader(canonical=True)
        if file is not None:
            recorded, issues = read_side(file, run.registry)
            first = Side(described=str(file), kernels=recorded, issues=issues)
            kernels = reader.read(other.bundles)
        else:
            one = _loaded(run, before, stack)
            old, kernels = reader.read_both(one.bundles, other.bundles)
            first = Side(described=one.described, kernels=tuple(old), issues=one.issues)
        unknown = tuple(issue for issue in run.issues() if issue.code != "plugin-skipped")
        report = Comparer(run.registry, reader, each=gate.each).compare(
            msgspec.structs.replace(first, issues=(*unknown, *first.issues)),
            Side(described=other.described, kernels=tuple(kernels), issues=other.issues),
        )
        return gate.judged(report, accepted=accepted, today=datetime.now(timezone.utc).date())


def show(source: Input, *, evidence: bool = False, external: bool = True) -> Show:
    """The facts of every kernel of an input: ``shown.kernels[0].facts["sass.registers"]``."""
    from irdiff.engine.show import show as shown

    with ExitStack() as stack:
        run = stack.enter_context(session(external=external))
        loaded = _loaded(run, source, stack)
        reader = run.reader(canonical=False)
        return shown(
            reader.read(loaded.bundles),
            (*run.issues(), *loaded.issues),
            run.registry.facts,
            run.registry.stages,
            evidence=evidence,
            lines=reader.source_lines,
        )


def write_baseline(
    source: Input, file: str | os.PathLike[str], *, facts: Sequence[str] = (), external: bool = True
) -> bool:
    """Write the baseline of an input, as ``irdiff baseline write`` does; whether the file is another one now.

    ``facts`` holds ids or globs of facts to record beside those that rules judge. Raises InputError, and leaves the
    file as it was, where something could not be read in full.
    """
    from irdiff.cli.baseline import emit_kept, errors_of, text_of

    path = Path(file)
    with ExitStack() as stack:
        run = stack.enter_context(session(external=external))
        loaded = _loaded(run, source, stack)
        kernels = run.reader(canonical=True).read(loaded.bundles)
        trouble: list[Issue] = [
            issue for issue in (*run.issues(), *loaded.issues) if issue.severity == "error"
        ]
        trouble += [issue for kernel in kernels for issue in errors_of(kernel)]
        if trouble:
            first = trouble[0]
            raise InputError(first.message, where=first.where, hint=first.hint or "compile it again")
        data = text_of(run, kernels, facts)
    before = path.read_bytes() if path.is_file() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    emit_kept(data, path)
    return before != data


def compile_kernel(
    kernel: object,
    signature: str,
    target: str | Sequence[str],
    output: str | os.PathLike[str],
    *,
    options: Mapping[str, object] | None = None,
    constexprs: Mapping[str, object] | None = None,
    timeout: float = 300.0,
    python: str | None = None,
) -> Path:
    """Compile a kernel as ``irdiff compile`` does, without a GPU, into a folder that the other functions read.

    ``kernel`` is a ``triton.jit`` function that stands at the left edge of a file, or ``FILE.py::KERNEL``;
    ``signature`` has the notation of the command; ``options`` are those of Triton's backend (``num_warps``);
    ``constexprs`` sets parameters by name. Raises InputError, with what the compiler said, where it does not compile.
    """
    from irdiff.compile.notation import parse_option, parse_signature, parse_values
    from irdiff.compile.output import OutputTree
    from irdiff.compile.plan import Request, expand
    from irdiff.compile.pool import Pool
    from irdiff.compile.targets import parse_target
    from irdiff.compiled import place_of

    file, name = place_of(kernel)
    targets: tuple[Target, ...] = tuple(
        parse_target(each) for each in ((target,) if isinstance(target, str) else target)
    )
    request = Request(
        file=file,
        shown=file.name,
        kernel=name,
        arguments=parse_signature(signature),
        settings={key: parse_values(str(value), where=key) for key, value in (constexprs or {}).items()},
        options={key: parse_option(str(value), where=key) for key, value in (options or {}).items()},
        targets=targets,
    )
    folder = Path(output)
    with OutputTree(folder) as tree:
        plan = expand([request])
        done = Pool(
            plan, tree, python or sys.executable, os.environ, workers=1, timeout=timeout, progress=_silent
        ).run()
    for result in done.results:
        if result.failure is not None:
            raise InputError(
                f"{result.kernel} does not compile for {result.target}: {result.failure.message}",
                where=f"{file}:{result.failure.line}" if result.failure.line else str(file),
            )
        if result.reason is not None:
            raise InputError(f"{result.kernel} for {result.target}: {result.reason}", where=str(file))
    return folder


def _silent(done: int, total: int) -> None:
    """Report nothing."""


def _loaded(run: Session, source: Input, stack: ExitStack) -> Loaded:
    """The kernels of an input; the files of a compiled kernel are there until the stack is closed."""
    if isinstance(source, (str, os.PathLike)):
        return run.load(os.fsdecode(source))
    if not is_compiled_kernel(source):
        raise UsageError(
            f"{type(source).__name__} is neither a path nor a compiled kernel",
            hint="give a path, a selector, or what triton.compile or a launch returned",
        )
    entry, name = stack.enter_context(written_entry(source))
    loaded = run.load(str(entry))
    return msgspec.structs.replace(
        loaded,
        described=name,
        bundles=tuple(msgspec.structs.replace(bundle, path=bundle.name) for bundle in loaded.bundles),
    )
