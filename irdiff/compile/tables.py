"""``[[kernel]]`` tables of ``irdiff.toml`` (or ``[[tool.irdiff.kernel]]`` of ``pyproject.toml``) as requests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from irdiff.compile.items import Item, value_item
from irdiff.compile.notation import parse_option, parse_signature, parse_values
from irdiff.compile.plan import Needs, Request
from irdiff.compile.targets import parse_target
from irdiff.config.find import NAMES, read_config
from irdiff.errors import UsageError
from irdiff.model.bundle import Target
from irdiff.nearest import nearest

KEYS = (
    *("file", "name", "label", "signature", "set", "options", "num_warps", "num_stages", "num_ctas"),
    *("targets", "needs", "needs_triton", "why"),
)
SHORT_OPTIONS = ("num_warps", "num_stages", "num_ctas")


def find_tables(folder: Path) -> Path | None:
    """The configuration that holds for a folder: the nearest one, going up, that has kernel tables."""
    for place in (folder, *folder.parents):
        for name in NAMES:
            path = place / name
            if path.is_file() and _tables(path):
                return path
    return None


def read_tables(path: Path, *, shown_from: Path | None = None) -> list[Request]:
    """The requests of a file, in order. Files in it are relative to its folder.

    ``shown_from``: folder that records name the files from, the configuration's own by default.
    Raises InputError where it is no TOML, UsageError for a table that means nothing.
    """
    requests = []
    for number, table in enumerate(_tables(path), 1):
        where = f"{path.name}: kernel {number}"
        if not isinstance(table, dict):
            raise UsageError("is no table", where=where, hint="write [[kernel]]")
        requests.append(_request(table, path.parent, where, shown_from or path.parent))
    return requests


def _tables(path: Path) -> list[Any]:  # Any: TOML is open-ended; each field is checked where it is used
    tables = read_config(path).get("kernel", [])
    if not isinstance(tables, list):
        raise UsageError("kernel is no list of tables", where=path.name, hint="write [[kernel]]")
    return tables


def _request(table: Mapping[str, Any], folder: Path, where: str, shown_from: Path) -> Request:
    for key in table:
        if key not in KEYS:
            raise UsageError(f"no key is called {key!r}", where=where, hint=nearest(key, KEYS))
    name = _text(table, "file", where, required=True)
    file = folder / name
    options = {key: table[key] for key in SHORT_OPTIONS if key in table}
    options.update(_table(table, "options", where))
    return Request(
        file=file,
        shown=shown_path(file, shown_from),
        kernel=_text(table, "name", where) or None,
        label=_text(table, "label", where),
        arguments=parse_signature(_text(table, "signature", where), where=f"{where}: signature"),
        settings={
            key: _values(value, f"{where}: set.{key}", option=False)
            for key, value in _table(table, "set", where).items()
        },
        options={key: _values(value, f"{where}: {key}", option=True) for key, value in options.items()},
        targets=_targets(table, "targets", where),
        needs=Needs(
            targets=_targets(table, "needs", where),
            triton=_text(table, "needs_triton", where) or None,
            why=_text(table, "why", where),
        ),
    )


def shown_path(file: Path, folder: Path) -> str:
    """A file relative to a folder it lies below, or its name alone: records hold no one's home folder."""
    try:
        return file.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return file.name


def _text(table: Mapping[str, Any], key: str, where: str, *, required: bool = False) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise UsageError(f"{key} is no string", where=where)
    if required and not value:
        raise UsageError(f"{key} is missing", where=where)
    return value


def _table(table: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"{key} is no table", where=where, hint=f"write {key} = {{ NAME = value }}")
    return value


def _targets(table: Mapping[str, Any], key: str, where: str) -> tuple[Target, ...]:
    value = table.get(key, [])
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{key} is no list of targets", where=where)
    return tuple(parse_target(name, where=f"{where}: {key}") for name in names)


def _values(value: object, where: str, *, option: bool) -> tuple[Item, ...]:
    """A TOML value, or a list of them, as items; a string is read in the notation of signatures."""
    if isinstance(value, list):
        items = tuple(item for each in value for item in _values(each, where, option=option))
        if not items:
            raise UsageError("the list is empty", where=where)
        return items
    if isinstance(value, str):
        return parse_option(value, where=where) if option else parse_values(value, where=where)
    if isinstance(value, bool | int | float):
        return (value_item(value),)
    raise UsageError("is no number, string, boolean or list of them", where=where)
