"""Which plugins are installed: the entry points of the group, each with the distribution it came in."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from irdiff.installed import Installed, Point, folders, is_plain, points
from irdiff.plugin_claims import GROUP, Found, normalized
from irdiff.registry import PluginProblem, one_line, said

if TYPE_CHECKING:
    import importlib.metadata


def installed() -> Iterable[importlib.metadata.Distribution | Installed]:
    """Everything installed here."""
    if is_plain(sys.path):
        return (Installed(folder) for folder in folders(sys.path))
    from importlib.metadata import distributions

    return distributions()


def discover(
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
                    reason=one_line(f"its entry points cannot be read: {said(error)}"),
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
