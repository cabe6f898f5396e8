"""``irdiff baseline``: write the facts of compiled kernels to a file, and accept findings of a report."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timezone
from pathlib import Path

from irdiff.baseline.accepted import acceptances_of, accepted_text, default_accepted, read_accepted
from irdiff.baseline.record import recorded
from irdiff.baseline.write import baseline_text
from irdiff.cli.compare import saved_report
from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import emit
from irdiff.cli.progress import progress_bar
from irdiff.cli.session import Session, session
from irdiff.config.check import read_policy
from irdiff.engine.gate.policy import facts_of
from irdiff.engine.kernels import Kernel
from irdiff.errors import UsageError
from irdiff.model.issues import Issue
from irdiff.present.wording import one_line, plural

NAMED = 10
"""Things that could not be read named before the rest is counted."""


def run_write(
    path: str | None, *, output: Path | None, facts: Sequence[str], incomplete: bool, external: bool
) -> Exit:
    """Read the kernels of a path, or of the user's own caches, and write the baseline.

    Facts that the expressions of the policy name are recorded too. Nothing is written where something could not be
    read, unless that is asked for.
    """
    with session(external=external) as run:
        loaded = run.load(path) if path is not None else run.load_defaults()
        with progress_bar("reading") as progress:
            kernels = run.reader(canonical=True, wanted=_costly(run, facts), progress=progress).read(
                loaded.bundles
            )
        trouble = [issue for issue in (*run.issues(), *loaded.issues) if _is_trouble(issue)]
        trouble += [issue for kernel in kernels for issue in errors_of(kernel)]
        if trouble and not incomplete:
            _complain(trouble, output)
            return Exit.UNSURE
        data = text_of(run, kernels, (*facts, *_in_policy(run)))
    emit_kept(data, output)
    if output is not None:
        lines = data.count(b"\n")
        told = f"{plural(len(kernels), 'kernel')}, {plural(lines, 'line')}: {output}"
        sys.stdout.write(one_line(told) + "\n")
    return Exit.UNSURE if trouble else Exit.OK


def text_of(run: Session, kernels: Sequence[Kernel], facts: Sequence[str] = ()) -> bytes:
    """The baseline of kernels that were read with their canonical forms."""
    provenance = frozenset(name for name, spec in run.registry.facts.items() if spec.provenance)
    return baseline_text(recorded(kernels, run.registry, facts), provenance)


def errors_of(kernel: Kernel) -> list[Issue]:
    """What of a kernel could not be read; that its compilation failed is a fact about it, and no trouble."""
    found = [*kernel.issues, *(issue for reading in kernel.readings.values() for issue in reading.issues)]
    if kernel.bundle.layout == "failed":
        return []
    low = [
        Issue(
            severity="error",
            code="low-coverage",
            message=f"only {reading.summary.coverage.ratio:.1%} understood",
            where=kernel.bundle.path,
            stage=name,
        )
        for name, reading in kernel.readings.items()
        if reading.summary is not None and reading.low_coverage
    ]
    return [issue for issue in (*found, *low) if issue.severity == "error"]


def emit_kept(data: bytes, output: Path | None) -> None:
    """Write, but leave a file alone that holds just this: its time of change then says when it changed."""
    if output is not None and output.is_file() and output.read_bytes() == data:
        return
    emit(data, output)


def _is_trouble(issue: Issue) -> bool:
    return issue.severity == "error" or issue.code == "plugin-skipped"


def _costly(run: Session, facts: Iterable[str]) -> frozenset[str]:
    """Facts asked for that are made only where asked for."""
    return frozenset(name for name in facts if name in run.registry.facts and run.registry.facts[name].opt_in)


def _in_policy(run: Session) -> tuple[str, ...]:
    policy = read_policy(None, Path.cwd())
    named = (name for each in policy.expectations for name in facts_of(each.expression))
    return tuple(dict.fromkeys(name for name in named if name in run.registry.facts))


def _complain(trouble: Sequence[Issue], output: Path | None) -> None:
    lines = [f"error: {output or 'baseline'}: nothing is written, for something could not be read in full"]
    for issue in trouble[:NAMED]:
        stage = f"{issue.stage}: " if issue.stage else ""
        lines.append(f"  {issue.where or ''}: {stage}{issue.message}")
    if len(trouble) > NAMED:
        lines.append(f"  and {len(trouble) - NAMED} more")
    lines.append("  compile it again, or --incomplete writes what there is: check will then exit with 2")
    sys.stderr.write("\n".join(map(one_line, lines)) + "\n")


def run_accept(
    report: Path,
    *,
    reason: str,
    owner: str,
    expires: str | None,
    rules: Sequence[str],
    kernels: Sequence[str],
    output: Path | None,
) -> Exit:
    """Add the findings of a saved report to the file of accepted changes."""
    until = _date(expires)
    found = acceptances_of(
        saved_report(report), reason=reason, owner=owner, expires=until, rules=rules, kernels=kernels
    )
    file = output or _file()
    earlier = read_accepted(file) if file.exists() else ()
    emit_kept(accepted_text((*earlier, *found)), file)
    for each in found:
        moved = f"{each.before} → {each.after}" if each.after else "accepted"
        sys.stdout.write(one_line(f"{each.rule}  {each.kernel}  {moved}") + "\n")
    sys.stdout.write(one_line(f"{plural(len(found), 'finding')} accepted: {file}") + "\n")
    return Exit.OK


def _file() -> Path:
    policy = read_policy(None, Path.cwd())
    return Path(policy.accepted) if policy.accepted else default_accepted(None, Path.cwd())


def _date(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        made = date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no date", where="--expires", hint="write 2030-01-31") from None
    if made < datetime.now(timezone.utc).date():
        raise UsageError(f"{text} is over", where="--expires", hint="name a day that is to come")
    return made
