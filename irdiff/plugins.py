"""The plugin host: finds entry points, loads each one alone, and settles who owns which id."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from irdiff.api import API_VERSION
from irdiff.installed import Installed, Point, folders, is_plain, points
from irdiff.marker import MARK
from irdiff.model.kinds import standard_kinds
from irdiff.model.specs import Explanation
from irdiff.plugin_checks import Contributions, Implementation, SpecError, check, claims
from irdiff.plugin_claims import BUNDLED, Found, Plugin, circular, contested, normalized, unknown_kinds
from irdiff.registry import GuardedExplainer, PluginInfo, PluginProblem, Registry, one_line, pipeline_order

if TYPE_CHECKING:
    import importlib.metadata

    from irdiff.model.report import KernelReport

GROUP = "irdiff"
"""The entry-point group; also pluggy's project name."""
REGISTERING = tuple(field for field in Contributions.__struct_fields__ if field != "explain")
"""``irdiff_`` + these are the hooks that register something."""


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
    every, foreign = _discover(_installed() if distributions is None else distributions)
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


def _installed() -> Iterable[importlib.metadata.Distribution | Installed]:
    """Everything installed here."""
    if is_plain(sys.path):
        return (Installed(folder) for folder in folders(sys.path))
    from importlib.metadata import distributions

    return distributions()


def _discover(
    distributions: Iterable[importlib.metadata.Distribution | Installed],
) -> tuple[list[Found], list[PluginProblem]]:
    """Entry points of the group by name; distributions that name the group and cannot be read.

    Not ``importlib.metadata.entry_points()``: one distribution with a malformed ``entry_points.txt``
    makes that raise for all.
    """
    found: list[Found] = []
    problems: list[PluginProblem] = []
    seen: set[str] = set()
    for distribution in distributions:
        name = version = ""
        try:
            text = distribution.read_text("entry_points.txt") or ""
            if f"[{GROUP}]" not in text:
                continue
            name, version = _identity(distribution)
            if name and normalized(name) in seen:
                continue  # a second copy further down sys.path is not importable either
            seen.add(normalized(name))
            found.extend(
                Found(name=point.name, distribution=name, version=version, point=point)
                for point in _points(distribution, text)
            )
        except Exception as error:  # noqa: BLE001  # any file of a foreign distribution may be broken
            problems.append(
                PluginProblem(
                    plugin="*",
                    distribution=name or one_line(str(getattr(distribution, "_path", ""))),
                    version=version,
                    reason=one_line(f"its entry points cannot be read: {_said(error)}"),
                )
            )
    return sorted(found, key=lambda one: (one.name, normalized(one.distribution))), problems


def _points(
    distribution: importlib.metadata.Distribution | Installed, text: str
) -> Iterable[Point | importlib.metadata.EntryPoint]:
    """Its entry points of the group."""
    if isinstance(distribution, Installed):
        return [Point(name, value) for name, value in points(text, GROUP)]
    return distribution.entry_points.select(group=GROUP)


def _identity(distribution: importlib.metadata.Distribution | Installed) -> tuple[str, str]:
    """Name and version, each ``""`` where METADATA does not say."""
    if isinstance(distribution, Installed):
        return tuple(one_line(distribution.header(field), 100) for field in ("Name", "Version"))  # type: ignore[return-value]  # two fields, two strings
    metadata = distribution.metadata
    return tuple(one_line(str(metadata[field] or ""), 100) for field in ("Name", "Version"))  # type: ignore[return-value]  # two fields, two strings


def _load(found: Found) -> Plugin:
    """Import one plugin and collect what it registers. Raises SpecError alone."""
    try:
        plugin = found.point.load()
    except (Exception, SystemExit) as error:  # found.problem names the plugin this protects from
        raise SpecError(f"it cannot be imported: {_said(error)}") from error
    try:
        # those in irdiff's own distribution are looked at by tests: pluggy is imported where another one is there
        hooks = _marked(plugin) if found.bundled else _validated(plugin)
        has = _collect(hooks)
    except SpecError:
        raise
    except (Exception, SystemExit) as error:  # a plugin may be any object, with any __getattr__
        raise SpecError(f"its hooks cannot be read: {_said(error)}") from error
    check(has, found.name)
    return Plugin(found=found, has=has, claims=_own_claims(has, found.name))


Hooks: TypeAlias = Mapping[str, Sequence[Implementation]]
"""Name of a hook to what a plugin implements of it."""


def _versioned(plugin: object) -> None:
    version = getattr(plugin, "irdiff_api_version", None)
    if version is None:
        raise SpecError(f"it has no irdiff_api_version (this irdiff has {API_VERSION})")
    if type(version) is not int or version != API_VERSION:
        raise SpecError(f"it is written for plugin API {version!r}, this irdiff has {API_VERSION}")


def _marked(plugin: object) -> Hooks:
    """The hooks of a plugin that is known to be well made."""
    _versioned(plugin)
    found: dict[str, Sequence[Implementation]] = {}
    for name, member in vars(plugin).items():
        if getattr(member, MARK, None) is not None:
            code = member.__code__
            found[name] = (Implementation(member, code.co_varnames[: code.co_argcount]),)
    return found


def _validated(plugin: object) -> Hooks:
    """The hooks of a plugin, by a manager of this one alone, so that what is wrong with it touches no other."""
    import inspect

    import pluggy

    from irdiff import hookspecs

    _versioned(plugin)
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    known = {name for name in dir(hookspecs) if name.startswith("irdiff_")}
    for name in dir(plugin):
        member = inspect.getattr_static(plugin, name)
        marked = getattr(getattr(member, "__func__", member), f"{GROUP}_impl", None)
        if marked is None and not (name.startswith("irdiff_") and callable(member)):
            continue
        if name not in known:
            raise SpecError(f"there is no hook {name} (hooks: {', '.join(sorted(known))})")
        if marked is None:
            raise SpecError(f"{name} is not marked with @hookimpl")
        if marked.get("hookwrapper") or marked.get("wrapper"):
            raise SpecError(f"{name} is a hook wrapper, which irdiff does not have")
    try:
        manager.register(plugin)
    except pluggy.PluginValidationError as error:
        raise SpecError(f"a hook does not fit its specification: {str(error).splitlines()[-1]}") from error
    return {
        name: tuple(
            Implementation(found.function, tuple(found.argnames))
            for found in getattr(manager.hook, name).get_hookimpls()
        )
        for name in known
    }


def _collect(hooks: Hooks) -> Contributions:
    """Call each registering hook once."""
    registered: dict[str, tuple[object, ...]] = {}
    for what in REGISTERING:
        name = f"irdiff_{what}"
        for implementation in hooks.get(name, ()):
            try:
                answer = implementation.function()
            except (Exception, SystemExit) as error:  # _load names the plugin this protects from
                raise SpecError(f"{name} raised {_said(error)}") from error
            if not isinstance(answer, Sequence) or isinstance(answer, (str, bytes)):
                raise SpecError(f"{name} returned {type(answer).__name__}, not a sequence of specifications")
            registered[what] = tuple(answer)
    return Contributions(explain=tuple(hooks.get("irdiff_explain", ())), **registered)  # type: ignore[arg-type]  # check() looks at every item


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
            return found.problem(f"irdiff_explain raised {_said(error)}")
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


def _said(error: BaseException) -> str:
    """Type and message of an exception; its message may itself fail."""
    try:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except Exception:  # noqa: BLE001  # __str__ of an exception that a plugin defined
        return type(error).__name__
