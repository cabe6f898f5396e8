"""What one plugin implements: its hooks found, held to their specifications, and the registering ones called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from irdiff.api import API_VERSION
from irdiff.marker import MARK
from irdiff.plugin_checks import Contributions, Implementation, SpecError
from irdiff.plugin_claims import GROUP
from irdiff.registry import said

REGISTERING = tuple(field for field in Contributions.__struct_fields__ if field != "explain")
"""``irdiff_`` + these are the hooks that register something."""

Hooks: TypeAlias = Mapping[str, Sequence[Implementation]]
"""Name of a hook to what a plugin implements of it."""


def _versioned(plugin: object) -> None:
    version = getattr(plugin, "irdiff_api_version", None)
    if version is None:
        raise SpecError(f"it has no irdiff_api_version (this irdiff has {API_VERSION})")
    if type(version) is not int or version != API_VERSION:
        raise SpecError(f"it is written for plugin API {version!r}, this irdiff has {API_VERSION}")


def marked(plugin: object) -> Hooks:
    """The hooks of a plugin that is known to be well made."""
    _versioned(plugin)
    found: dict[str, Sequence[Implementation]] = {}
    for name, member in vars(plugin).items():
        if getattr(member, MARK, None) is not None:
            code = member.__code__
            found[name] = (Implementation(member, code.co_varnames[: code.co_argcount]),)
    return found


def validated(plugin: object) -> Hooks:
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


def collect(hooks: Hooks) -> Contributions:
    """Call each registering hook once."""
    registered: dict[str, tuple[object, ...]] = {}
    for what in REGISTERING:
        name = f"irdiff_{what}"
        for implementation in hooks.get(name, ()):
            try:
                answer = implementation.function()
            except (Exception, SystemExit) as error:  # irdiff.plugins names the plugin this protects from
                raise SpecError(f"{name} raised {said(error)}") from error
            if not isinstance(answer, Sequence) or isinstance(answer, (str, bytes)):
                raise SpecError(f"{name} returned {type(answer).__name__}, not a sequence of specifications")
            registered[what] = tuple(answer)
    return Contributions(explain=tuple(hooks.get("irdiff_explain", ())), **registered)  # type: ignore[arg-type]  # check() looks at every item
