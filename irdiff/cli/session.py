"""One run of the command line: registry, tools and inputs, read from the environment once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from irdiff.cli.work import Work, complain, default_jobs
from irdiff.config import find_config
from irdiff.config.facts import pattern_facts
from irdiff.engine.answers import POOL_FROM, Store
from irdiff.engine.planning import workers_for
from irdiff.engine.summarize import Progress, Reader, no_progress
from irdiff.engine.unit import Executor, Settings
from irdiff.errors import InputError, UsageError
from irdiff.model.bundle import Bundle
from irdiff.model.issues import Issue
from irdiff.model.patterns import PatternFact
from irdiff.plugins import load_plugins
from irdiff.registry import Registry
from irdiff.sources import Loaded, load
from irdiff.sources.files import read_regular
from irdiff.sources.recorded import LOG_SUFFIX
from irdiff.sources.tree import Scan
from irdiff.tools.toolbox import LocalToolbox
from irdiff.user_facts import with_user_facts

if TYPE_CHECKING:
    from irdiff.pool.local import LocalPool
    from irdiff.store.database import Database

DISABLE = "IRDIFF_DISABLE_PLUGINS"
"""Environment variable: comma-separated names of plugins that are not loaded."""


def disabled_plugins() -> frozenset[str]:
    """Names in the environment's setting."""
    return frozenset(name.strip() for name in os.environ.get(DISABLE, "").split(",") if name.strip())


def user_facts() -> tuple[tuple[PatternFact, ...], str]:
    """The facts that the nearest configuration declares, and its name.

    Raises InputError where the configuration is no TOML, UsageError for a fact in it that cannot be.
    """
    try:
        found = find_config(Path.cwd())
    except FileNotFoundError:  # the working directory was deleted
        found = None
    return (pattern_facts(found[1], found[0].name), found[0].name) if found is not None else ((), "")


def make_registry(*, external: bool) -> Registry:
    """Load the plugins as the user asked, with the facts of ``user_facts``, which may raise."""
    registry = load_plugins(external=external, disabled=disabled_plugins())
    return with_user_facts(registry, *user_facts())


class Closing(Protocol):
    """Something to be let go of at the end."""

    def close(self) -> None:
        """Let go of it."""


class Session:
    """What a command works with."""

    def __init__(
        self,
        registry: Registry,
        tools: LocalToolbox,
        work: Work,
        *,
        settings: Settings,
        pool: Executor | None = None,
        database: Database | None = None,
    ) -> None:
        """``pool`` is one that was started already; it is closed with this."""
        self.registry = registry
        self.tools = tools
        self._work = work
        self._database = database
        self._readers: list[Reader] = []
        self._settings = settings
        self._started = pool
        self._open: list[Closing] = [pool] if pool is not None else []

    def close(self) -> None:
        """End other processes."""
        for each in reversed(self._open):
            each.close()
        self._open.clear()

    def _store(self) -> Store | None:
        if self._database is None:
            return None
        from irdiff.store.answers import StoredAnswers

        owners = {
            stage.id: self.registry.owners[stage.id].origin
            for stage in self.registry.stages
            if stage.id in self.registry.owners
        }
        declared = repr(self._settings.declared) if self._settings.declared else ""
        return StoredAnswers(
            self._database, self.registry.stages, owners, sys.path, self.tools.identity, declared
        )

    def _pool(self) -> Executor | None:
        if self._started is not None:
            return self._started
        if self._work.cluster is not None:
            from irdiff.pool.dask import DaskCluster

            pool: Executor = DaskCluster(self._work.cluster, complain=complain)
        else:
            found = local_pool(self._work)
            if found is None:
                return None
            pool = found
        self._open.append(pool)
        return pool

    def load(self, path: str, tree: Scan | None = None) -> Loaded:
        """Find the kernels of a path, archive or selector. Raises InputError where there are none.

        ``tree`` is what was found in the path before, where it is a tree.
        """
        return load(path, self.registry, os.environ, self.registry.sources, tree)

    def load_defaults(self, wanted: str | None = None) -> Loaded:
        """The kernels of the user's own caches. Raises InputError where there are none."""
        from irdiff.sources.load import load_defaults

        return load_defaults(self.registry, os.environ, wanted)

    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the plugins, and names that were to be disabled and are none."""
        unknown = (
            Issue(
                severity="warning",
                code="no-such-plugin",
                message=f"no plugin is called {name}",
                where=DISABLE,
                hint="irdiff plugins lists them",
            )
            for name in self.registry.not_there
        )
        return (*(problem.issue() for problem in self.registry.problems), *unknown)

    def reader(
        self,
        *,
        canonical: bool,
        switched_off: frozenset[str] = frozenset(),
        wanted: frozenset[str] = frozenset(),
        progress: Progress = no_progress,
    ) -> Reader:
        """A reader with a check that the normalisations to switch off and the facts asked for exist."""
        rules = {rule.id for stage in self.registry.stages for rule in stage.normalizations}
        _check_names(switched_off, rules, "normalisation", "--no-normalize")
        costly = {name for name, spec in self.registry.facts.items() if spec.opt_in}
        _check_names(wanted - self.registry.facts.keys(), costly, "fact", "--with")
        made = Reader(
            self.registry,
            self.tools,
            canonical=canonical,
            switched_off=switched_off,
            wanted=wanted,
            progress=progress,
            store=self._store(),
            pool=self._pool(),
            settings=self._settings,
        )
        self._readers.append(made)
        return made

    def lasting(self) -> bool:
        """Whether another run with the same inputs would say the same: nothing failed and no plugin is at fault."""
        own = self.registry.sources or self.registry.problems or self.registry.not_there
        return not own and all(reader.lasting for reader in self._readers)

    def with_logs(
        self, bundles: Sequence[Bundle], paths: Sequence[Path]
    ) -> tuple[tuple[Bundle, ...], tuple[Issue, ...]]:
        """The kernels with what an assembler's logs say of them. Raises InputError for what is no such log."""
        from irdiff.sources.attach import attach

        stage_id = self.registry.stage_of(LOG_SUFFIX)
        stage = next((stage for stage in self.registry.stages if stage.id == stage_id), None)
        issues: list[Issue] = []
        for path in paths:
            if stage is None:
                raise UsageError(
                    "no plugin reads such logs",
                    where="--ptxas-log",
                    hint="irdiff plugins lists what was loaded",
                )
            try:
                data = read_regular(str(path))
            except OSError as error:
                raise InputError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
            bundles, more = attach(bundles, stage, data, str(path))
            issues += more
        return tuple(bundles), tuple(issues)


def known_stage(run: Session, stage_id: str, bundles: Sequence[Bundle], where: str) -> None:
    """Raise UsageError where no plugin reads a stage of that name and no kernel holds one."""
    held = {name for bundle in bundles for name in bundle.artifacts}
    known = {stage.id for stage in run.registry.stages}
    if stage_id not in held:
        _check_names({stage_id}, held or known, "stage of these kernels", where)


def _check_names(given: Iterable[str], known: Iterable[str], what: str, where: str) -> None:
    """Raise UsageError with the nearest names for the first that does not exist."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], sorted(known), n=3)
        raise UsageError(
            f"no {what} is called {unknown[0]!r}",
            where=where,
            hint=f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(sorted(known))}",
        )


def local_pool(work: Work) -> LocalPool | None:
    """The processes of this machine that work, as the user or the environment wants them; None for one alone."""
    jobs = work.jobs or default_jobs()
    if jobs == 1:
        return None
    from irdiff.pool.local import LocalPool

    return LocalPool(jobs, complain=complain)


def _settings(*, external: bool) -> Settings:
    """What every process of a run loads. Raises as ``user_facts`` does."""
    declared, where = user_facts()
    return Settings(external=external, disabled=disabled_plugins(), declared=declared, declared_in=where)


class Workers:
    """Processes of this machine that are started, and load plugins, as soon as it is known that they will be needed."""

    def __init__(self, work: Work, *, external: bool) -> None:
        self._work = work
        self._external = external
        self.pool: LocalPool | None = None

    def begin(self, size: int) -> None:
        """Where so many bytes are to be read, start those that are worth it and not there yet."""
        if size < POOL_FROM or self._work.cluster is not None:
            return
        self.pool = self.pool or local_pool(self._work)
        if self.pool is not None:
            self.pool.start(_settings(external=self._external), most=workers_for(size))

    def close(self) -> None:
        """End them, unless a session has."""
        if self.pool is not None:
            self.pool.close()


@contextmanager
def session(
    *,
    external: bool,
    work: Work | None = None,
    database: Database | None = None,
    workers: Workers | None = None,
) -> Iterator[Session]:
    """A session, its processes ended and its temporary files removed at the end; the store is the caller's."""
    work = work or Work()
    settings = _settings(external=external)
    pool = workers.pool if workers is not None else None
    with ExitStack() as stack:
        registry = make_registry(external=external)
        tools = stack.enter_context(
            closing(LocalToolbox({tool.id: tool for tool in registry.tools}, os.environ))
        )
        yield stack.enter_context(
            closing(Session(registry, tools, work, settings=settings, pool=pool, database=database))
        )
