"""The plugin host: loads each plugin alone, settles who owns which id, and makes the registry of what is left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from irdiff.model.kinds import standard_kinds
from irdiff.model.specs import Explanation
from irdiff.plugin_checks import Contributions, Implementation, SpecError, check, claims
from irdiff.plugin_claims import BUNDLED, Found, Plugin, circular, contested, unknown_kinds
from irdiff.plugin_discovery import discover, installed
from irdiff.plugin_hooks import collect, marked, validated
from irdiff.registry import GuardedExplainer, PluginInfo, PluginProblem, Registry, pipeline_order, said

if TYPE_CHECKING:
    import importlib.metadata

    from irdiff.model.report import KernelReport


def load_plugins(
    *,
    external: bool = True,
    disabled: frozenset[str] = frozenset(),
    distributions: Iterable[importlib.metadata.Distribution] | None = None,
) -> Registry:
    """Load every plugin of the group ``irdiff``; what is wrong with one is in ``problems``, never raised.

    ``disabled`` holds names of entry points; ``external=False`` loads the bundled ones alone.
    ``distributions`` takes the place of everything installed.
    """
    skipped: dict[int, PluginProblem] = {}
    loaded: dict[int, Plugin] = {}
    off: dict[int, str] = {}
    every, foreign = discover(installed() if distributions is None else distributions)
    for index, found in enumerate(every):
        if found.name in disabled:
            off[index] = "disabled by name"
        elif not external and not found.bundled:
            off[index] = "external plugins are off"
        else:
            try:
                loaded[index] = _load(found)
            except SpecError as error:
                skipped[index] = found.problem(str(error))
    for settle in (contested, unknown_kinds, circular):
        for index, reason in settle(loaded).items():
            skipped[index] = loaded.pop(index).found.problem(reason)
    problems = [*foreign, *(skipped[index] for index in sorted(skipped))]
    if not any(found.bundled for found in every):
        problems.append(_not_installed())
    infos = {
        index: _info(found, loaded.get(index), skipped.get(index), off.get(index, ""))
        for index, found in enumerate(every)
    }
    return _registry(
        loaded, infos, tuple(problems), tuple(sorted(disabled - {found.name for found in every}))
    )


def _load(found: Found) -> Plugin:
    """Import one plugin and collect what it registers. Raises SpecError alone."""
    try:
        plugin = found.point.load()
    except (Exception, SystemExit) as error:  # found.problem names the plugin this protects from
        raise SpecError(f"it cannot be imported: {said(error)}") from error
    try:
        # those in irdiff's own distribution are looked at by tests: pluggy is imported where another one is there
        hooks = marked(plugin) if found.bundled else validated(plugin)
        has = collect(hooks)
    except SpecError:
        raise
    except (Exception, SystemExit) as error:  # a plugin may be any object, with any __getattr__
        raise SpecError(f"its hooks cannot be read: {said(error)}") from error
    check(has, found.name)
    return Plugin(found=found, has=has, claims=_own_claims(has, found.name))


def _own_claims(has: Contributions, name: str) -> frozenset[tuple[str, str]]:
    counted = Counter([("plugin name", name), *claims(has)])
    twice = [f"{what} {which}" for (what, which), count in sorted(counted.items()) if count > 1]
    if twice:
        raise SpecError(f"it registers {twice[0]} twice")
    return frozenset(counted)


def _info(found: Found, plugin: Plugin | None, problem: PluginProblem | None, off: str) -> PluginInfo:
    registered: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for what, which in sorted(claims(plugin.has)) if plugin else ():
        registered[what] += (which,)
    return PluginInfo(
        name=found.name,
        distribution=found.distribution,
        version=found.version,
        bundled=found.bundled,
        status="loaded" if plugin else "skipped" if problem else "disabled",
        reason=problem.reason if problem else off,
        registered=MappingProxyType(dict(registered)),
    )


def _registry(
    loaded: Mapping[int, Plugin],
    infos: Mapping[int, PluginInfo],
    problems: tuple[PluginProblem, ...],
    not_there: tuple[str, ...],
) -> Registry:
    everything = list(loaded.values())
    kinds = standard_kinds()
    kinds.update((kind.id, kind) for plugin in everything for kind in plugin.has.value_kinds)
    owners = {
        owned: infos[index]
        for index, plugin in loaded.items()
        for what, owned in plugin.claims
        if what in ("stage", "fact", "derivation")
    }
    return Registry(
        stages=pipeline_order(stage for plugin in everything for stage in plugin.has.stages),
        facts=MappingProxyType({fact.id: fact for plugin in everything for fact in plugin.has.facts()}),
        derived=tuple(item for plugin in everything for item in plugin.has.derived_facts),
        sources=tuple(item for plugin in everything for item in plugin.has.sources),
        tools=tuple(item for plugin in everything for item in plugin.has.tools),
        kinds=MappingProxyType(kinds),
        rules=tuple(item for plugin in everything for item in plugin.has.rules),
        renderers=tuple(item for plugin in everything for item in plugin.has.renderers),
        explainers=tuple(
            _guarded(plugin.found, implementation)
            for plugin in everything
            for implementation in plugin.has.explain
        ),
        plugins=tuple(infos.values()),
        problems=problems,
        owners=MappingProxyType(owners),
        not_there=not_there,
    )


def _guarded(found: Found, implementation: Implementation) -> GuardedExplainer:
    def explain(kernel: KernelReport) -> Explanation | PluginProblem | None:
        given = {"kernel": kernel}
        try:
            answer = implementation.function(*(given[name] for name in implementation.argnames))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # the problem returned names the plugin
            return found.problem(f"irdiff_explain raised {said(error)}")
        if answer is None or isinstance(answer, Explanation):
            return answer
        return found.problem(f"irdiff_explain returned {type(answer).__name__}, not an Explanation")

    return explain


def _not_installed() -> PluginProblem:
    return PluginProblem(
        plugin="*",
        distribution=BUNDLED,
        version="",
        reason="it registers no plugin here; install irdiff itself (pip install irdiff, or pip install -e .)",
    )
