"""``irdiff check``: judge a comparison by rules and a policy; the exit code says whether it passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timezone
from pathlib import Path

import msgspec

from irdiff.cli.compare import Input, read_weights, with_logs
from irdiff.cli.exit_codes import Exit
from irdiff.cli.formats import ViewOptions, destinations, write_formats
from irdiff.cli.locate import located
from irdiff.cli.progress import progress_bar
from irdiff.cli.session import Session, known_stage, session
from irdiff.cli.work import Work, closing_store
from irdiff.config.check import read_policy
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.gate.judge import Gate
from irdiff.engine.gate.names import check_names
from irdiff.engine.kernels import Kernel
from irdiff.engine.summarize import Reader
from irdiff.engine.times import timed
from irdiff.errors import UsageError
from irdiff.model.gate import Acceptance, Judgement, Level
from irdiff.model.issues import Issue
from irdiff.model.policy import Policy
from irdiff.model.report import Report


class Sides(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared: two paths, a path with a baseline, or this repository with one of its revisions."""

    paths: tuple[str, ...] = ()
    baseline: Path | None = None
    against: str | None = None
    targets: tuple[str, ...] = ()
    python: str | None = None
    jobs: int | None = None


class Strictness(msgspec.Struct, frozen=True, kw_only=True):
    """How strict the gate is: the policy's file, and what the command line says beside it."""

    policy: Path | None = None
    """None for the nearest configuration, going up from the working directory."""
    rules: tuple[str, ...] = ()
    """``RES101=off``."""
    require: tuple[str, ...] = ()
    accepted: Path | None = None


def run_check(
    sides: Sides,
    strictness: Strictness,
    *,
    forms: Sequence[str],
    outputs: Sequence[Path],
    options: ViewOptions,
    no_normalize: frozenset[str],
    logs: Sequence[Path],
    weights: Path | None,
    external: bool,
    work: Work | None = None,
) -> Exit:
    """Compare, judge and print. Raises UsageError and InputError as ``compare`` does."""
    work = work or Work()
    with (
        closing_store(work) as database,
        session(external=external, work=work, database=database) as run,
    ):
        wanted = destinations(forms, outputs, run.registry.renderers)
        policy = policy_of(run, strictness)
        times = read_weights(weights) if weights is not None else {}
        named = strictness.accepted or _path(policy.accepted)
        accepted = accepted_of(named or kept_accepted(sides.baseline or _path(policy.baseline), Path.cwd()))
        with _inputs(run, sides, policy, logs) as (before, after):
            report = judged(run, before, after, policy, accepted, no_normalize)
        if times:
            report = timed(report, times, str(weights))
        written = write_formats(located(report, Path.cwd()), wanted, options, run.registry.renderers)
    return Exit(written | exit_of(report))


def exit_of(report: Report) -> Exit:
    """Bit 1: a rule failed; bit 2: something could not be judged."""
    judgement = report.judgement
    assert isinstance(judgement, Judgement)
    return Exit(int(Exit.CHANGED if judgement.failed else 0) | int(Exit.UNSURE if judgement.unsure else 0))


def policy_of(run: Session, strictness: Strictness) -> Policy:
    """The policy with what the command line adds. Raises UsageError for names that nobody registers."""
    policy = read_policy(strictness.policy, Path.cwd())
    policy = msgspec.structs.replace(
        policy,
        forced={**policy.forced, **dict(map(_level_of, strictness.rules))},
        require=tuple(dict.fromkeys((*policy.require, *strictness.require))),
    )
    check_names(policy, run.registry.rules, run.registry.facts)
    return policy


def _level_of(text: str) -> tuple[str, Level]:
    code, equals, level = text.partition("=")
    levels: dict[str, Level] = {"error": "error", "warn": "warn", "off": "off"}
    if not equals or not code or level not in levels:
        raise UsageError(
            f"{text!r} is no rule with a level",
            where="--rule",
            hint="write RES101=error, RES101=warn or RES101=off",
        )
    return code.upper(), levels[level]


def accepted_of(path: Path | None) -> tuple[Acceptance, ...]:
    """Accepted changes of a file. Raises InputError where it is none."""
    if path is None:
        return ()
    from irdiff.baseline.accepted import read_accepted

    return tuple(read_accepted(path))


def kept_accepted(baseline: Path | None, folder: Path) -> Path | None:
    """The file of accepted changes where ``irdiff baseline accept`` puts it, if it is there."""
    from irdiff.baseline.accepted import default_accepted

    places = (default_accepted(baseline, folder), default_accepted(None, folder))
    return next((path for path in places if path.is_file()), None)


@contextmanager
def _inputs(
    run: Session, sides: Sides, policy: Policy, logs: Sequence[Path]
) -> Iterator[tuple[Input | Path, Input]]:
    """Both sides; before is the path of a baseline where one is given."""
    if sides.against is not None:
        if sides.paths or sides.baseline is not None:
            raise UsageError(
                "--against compiles both sides itself",
                where="check",
                hint="irdiff check --against origin/main, without inputs",
            )
        from irdiff.cli.against import compiled_against

        with compiled_against(
            sides.against, targets=sides.targets, python=sides.python, jobs=sides.jobs
        ) as made:
            before, after = (_loaded(run, str(tree)) for tree in (made.before, made.after))
            yield (
                _moved(before, made.before, "before", made.described, made.issues),
                _moved(after, made.after, "after", "the working tree"),
            )
        return
    for name, value in (("--target", sides.targets), ("--python", sides.python)):
        if value:
            raise UsageError(f"{name} is for what --against compiles", where="check")
    baseline = sides.baseline or (_path(policy.baseline) if len(sides.paths) == 1 else None)
    if baseline is not None:
        if len(sides.paths) != 1:
            raise UsageError(
                f"a baseline is compared with one input, not {len(sides.paths)}",
                where="check",
                hint="irdiff check DIR --baseline FILE",
            )
        if logs:
            raise UsageError("--ptxas-log goes with two inputs", where="check")
        yield baseline, _loaded(run, sides.paths[0])
        return
    if len(sides.paths) != 2:
        raise UsageError(
            "two inputs are needed",
            where="check",
            hint="irdiff check BEFORE AFTER, irdiff check DIR --baseline FILE, or irdiff check --against REVISION",
        )
    yield with_logs(run, _loaded(run, sides.paths[0]), _loaded(run, sides.paths[1]), logs)


def _loaded(run: Session, path: str) -> Input:
    found = run.load(path)
    return Input(path, tuple(found.bundles), tuple(found.issues))


def _moved(found: Input, tree: Path, name: str, described: str, issues: tuple[Issue, ...] = ()) -> Input:
    """The input under another name than that of a folder that will be gone: equal runs give equal reports."""

    def renamed(text: str) -> str:
        return text.replace(str(tree), name)

    def told(each: Issue) -> Issue:
        return msgspec.structs.replace(each, where=renamed(each.where) if each.where else each.where)

    bundles = []
    for bundle in found.bundles:
        for artifact in bundle.artifacts.values():
            artifact.location = renamed(artifact.location)
        bundles.append(
            msgspec.structs.replace(bundle, path=renamed(bundle.path), issues=tuple(map(told, bundle.issues)))
        )
    return Input(described, tuple(bundles), (*issues, *map(told, found.issues)))


def judged(
    run: Session,
    before: Input | Path,
    after: Input,
    policy: Policy,
    accepted: Sequence[Acceptance],
    no_normalize: frozenset[str] = frozenset(),
) -> Report:
    """Read both sides together, compare them, and judge every pair as it is compared."""
    gate = Gate(run.registry, policy)
    with progress_bar("reading") as progress:
        reader = run.reader(canonical=True, switched_off=no_normalize, progress=progress)
        sides = _read(run, reader, before, after)
    for stage in policy.require:
        _known_stage(run, stage, sides, policy)
    report = Comparer(run.registry, reader, each=gate.each).compare(*sides)
    return gate.judged(report, accepted=accepted, today=_today())


def _read(run: Session, reader: Reader, before: Input | Path, after: Input) -> tuple[Side, Side]:
    if isinstance(before, Path):
        from irdiff.baseline.side import read_side

        recorded, issues = read_side(before, run.registry, switched_off=reader.switched_off)
        first = Side(described=str(before), kernels=recorded, issues=issues)
        kernels: Sequence[Kernel] = reader.read(after.bundles)
    else:
        old, kernels = reader.read_both(before.bundles, after.bundles, lazy=True)
        first = Side(described=before.described, kernels=tuple(old), issues=before.issues)
    unknown = tuple(issue for issue in run.issues() if issue.code != "plugin-skipped")
    return (
        msgspec.structs.replace(first, issues=(*unknown, *first.issues)),
        Side(described=after.described, kernels=tuple(kernels), issues=after.issues),
    )


def _known_stage(run: Session, stage: str, sides: tuple[Side, Side], policy: Policy) -> None:
    if run.registry.stage(stage) is None:
        bundles = [kernel.bundle for side in sides for kernel in side.kernels]
        known_stage(run, stage, bundles, f"--require, or {policy.path}" if policy.path else "--require")


def _path(named: str | None) -> Path | None:
    return Path(named) if named is not None else None


def _today() -> date:
    return datetime.now(timezone.utc).date()
