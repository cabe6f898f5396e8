"""The ``[check]`` table as a Policy: types, names and expressions are checked, each error says where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from irdiff.config.expressions import parse_expression
from irdiff.config.find import find_config, read_config
from irdiff.config.tables import CheckTable, ConfigFile, ExpectTable, OverrideTable, ToleranceTable
from irdiff.errors import UsageError
from irdiff.model.gate import Tolerance
from irdiff.model.policy import Expectation, Override, Policy, Selection
from irdiff.nearest import nearest

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<key>key in )?\$(?P<path>.*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")


def read_policy(path: Path | None, folder: Path) -> Policy:
    """The policy of a file, or of the nearest configuration going up from ``folder``; without one, the defaults.

    Raises InputError where the file cannot be read or is no TOML, UsageError for what means nothing.
    """
    if path is not None:
        return policy_of(read_config(path), path)
    found = find_config(folder)
    return Policy() if found is None else policy_of(found[1], found[0])


def policy_of(content: Mapping[str, Any], path: Path) -> Policy:
    """The policy that the content of a configuration file says. Raises UsageError."""
    table = _check_table(content, path)
    place = "tool.irdiff.check" if path.name == "pyproject.toml" else "check"
    codes: set[str] = set()
    for number, expectation in enumerate(table.expect, 1):
        if expectation.code in codes:
            raise UsageError(
                f"code {expectation.code} is used twice", where=f"{path.name}: {place}.expect {number}"
            )
        codes.add(expectation.code)
    return Policy(
        path=path.name,
        selection=_selection(table),
        levels=table.rules,
        tolerances=_tolerances(table.tolerance),
        expectations=tuple(
            _expectation(each, f"{path.name}: {place}.expect {number}")
            for number, each in enumerate(table.expect, 1)
        ),
        overrides=tuple(
            _override(each, f"{path.name}: {place}.override {number}")
            for number, each in enumerate(table.override, 1)
        ),
        estimates=table.estimates,
        require=tuple(table.require),
        baseline=str(path.parent / table.baseline) if table.baseline else None,
        accepted=str(path.parent / table.accepted) if table.accepted else None,
    )


def schema() -> dict[str, Any]:
    """JSON Schema of ``irdiff.toml``, for editors."""
    made = msgspec.json.schema(ConfigFile)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "irdiff.toml, or [tool.irdiff] of pyproject.toml",
        **made,
    }


def _check_table(content: Mapping[str, Any], path: Path) -> CheckTable:
    known = ConfigFile.__struct_fields__
    for name in content:
        if name not in known:
            raise UsageError(f"no table is called {name!r}", where=path.name, hint=nearest(name, known))
    try:
        return msgspec.convert(content.get("check", {}), type=CheckTable)
    except msgspec.ValidationError as error:
        raise _clear(error, path) from None


def _clear(error: msgspec.ValidationError, path: Path) -> UsageError:
    """Msgspec's words with the place as the user wrote it, and the nearest name for one that does not exist."""
    found = _PLACE.match(str(error))
    what, inside = (found["what"], found["path"] or "") if found else (str(error), "")
    place = re.sub(r"\[(\d+)\]", lambda index: f" {int(index[1]) + 1}", inside.lstrip("."))
    place = place.replace("[...]", "")
    prefix = "tool.irdiff.check" if path.name == "pyproject.toml" else "check"
    where = f"{path.name}: {prefix}.{place}" if place else f"{path.name}: {prefix}"
    unknown = _UNKNOWN.search(what)
    if unknown is None:
        return UsageError(what[:1].lower() + what[1:], where=where)
    fields = {
        "expect": ExpectTable.__struct_fields__,
        "override": OverrideTable.__struct_fields__,
        "tolerance": ToleranceTable.__struct_fields__,
    }.get(re.split(r"[ .]", place)[0], CheckTable.__struct_fields__)
    if ".tolerance" in place:
        fields = ToleranceTable.__struct_fields__
    return UsageError(f"no key is called {unknown[1]!r}", where=where, hint=nearest(unknown[1], fields))


def _selection(table: CheckTable | ExpectTable | OverrideTable) -> Selection:
    return Selection(
        kernels=_globs(table.kernels), exclude=_globs(table.exclude), targets=_globs(table.targets)
    )


def _globs(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _tolerances(table: Mapping[str, ToleranceTable]) -> dict[str, Tolerance]:
    return {code: Tolerance(absolute=each.absolute, percent=each.percent) for code, each in table.items()}


def _expectation(table: ExpectTable, where: str) -> Expectation:
    return Expectation(
        code=table.code,
        text=table.expect,
        expression=parse_expression(table.expect, where=where),
        level=table.level,
        title=table.title or f"expected {table.expect}",
        selection=_selection(table),
        if_known=table.if_known,
    )


def _override(table: OverrideTable, where: str) -> Override:
    if not (table.kernels or table.exclude or table.targets):
        raise UsageError(
            "matches every kernel", where=where, hint="name kernels or targets, or write it into [check]"
        )
    return Override(
        selection=_selection(table),
        levels=table.rules,
        tolerances=_tolerances(table.tolerance),
        where=where,
    )
