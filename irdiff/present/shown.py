"""The terminal form of ``irdiff show``: one kernel in full, many as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irdiff.model.facts import FactSpec, Value
from irdiff.model.report import Show, ShownKernel, ShownStage
from irdiff.present.specializations import footer, sentences
from irdiff.present.terminal import Console, grid
from irdiff.present.view import issue_line
from irdiff.present.wording import number, one_line, plural, selector, value_text

IN_FULL = 3
"""Up to so many kernels are shown in full, more as a table."""
COLUMNS = (
    ("registers", "registers"),
    ("spills", "spilled"),
    ("shared_bytes", "shared"),
    ("occupancy", "occupancy"),
    ("mma_class", "MMA"),
)
"""Roles that make the columns of the table of many kernels, with their headings; units come from the facts."""
KEYS_SHOWN = 8


def write_show(
    shown: Show, specs: Mapping[str, FactSpec], titles: Mapping[str, str], console: Console, *, verbose: bool
) -> None:
    """Print the facts of the kernels."""
    if len(shown.kernels) > IN_FULL and not verbose:
        _table(shown.kernels, specs, console)
        for line in footer(shown):
            console.print(line)
    else:
        for index, kernel in enumerate(shown.kernels):
            if index:
                console.print()
            _kernel(kernel, specs, titles, console, verbose=verbose)
    for issue in shown.issues:
        console.print(one_line(issue_line(issue)))


def write_specializations(shown: Show, console: Console) -> None:
    """Print what specializing on each argument buys."""
    for line in sentences(shown):
        console.print(line)
    for issue in shown.issues:
        console.print(one_line(issue_line(issue)))


def _table(kernels: Sequence[ShownKernel], specs: Mapping[str, FactSpec], console: Console) -> None:
    rows = []
    names = [kernel.name for kernel in kernels]
    units = {role: _units(kernels, specs, role) for role, _ in COLUMNS}
    for kernel in kernels:
        errors = _errors(kernel)
        cells = [_role(kernel, specs, role, with_unit=len(units[role]) > 1) for role, _ in COLUMNS]
        name = selector(kernel.name, kernel.path, names)
        rows.append([name, kernel.target or "?", *cells, plural(errors, "error") if errors else ""])
    header = ["kernel", "target", *(_heading(title, units[role]) for role, title in COLUMNS), ""]
    grid(rows, console, header=header)
    console.print(
        f"\n{plural(len(kernels), 'kernel')}. One in full: irdiff show PATH::KERNEL or PATH::HASHPREFIX"
    )


def _errors(kernel: ShownKernel) -> int:
    issues = {issue for stage in kernel.stages.values() for issue in stage.issues} | set(kernel.issues)
    return sum(issue.severity == "error" for issue in issues)


def _heading(title: str, units: Sequence[str]) -> str:
    """``spilled B``; without a unit where kernels of several vendors count in different ones."""
    return title if len(units) != 1 or units[0] in ("", title) else f"{title} {units[0]}"


def _units(kernels: Sequence[ShownKernel], specs: Mapping[str, FactSpec], role: str) -> list[str]:
    return sorted({specs[name].unit for kernel in kernels for name in _of_role(kernel, specs, role)})


def _of_role(kernel: ShownKernel, specs: Mapping[str, FactSpec], role: str) -> list[str]:
    """Facts of a role, without those that say once more what another one says."""
    return [
        name
        for name, spec in specs.items()
        if spec.role == role and name in kernel.facts and spec.repeats not in kernel.facts
    ]


def _role(kernel: ShownKernel, specs: Mapping[str, FactSpec], role: str, *, with_unit: bool) -> str:
    names = _of_role(kernel, specs, role)
    if not names:
        return "-"
    values = [kernel.facts[name] for name in names]
    unit = f" {specs[names[0]].unit}" if with_unit else ""
    if role == "spills":
        return number(sum(value for value in values if isinstance(value, int))) + unit
    return value_text(values[0]) + unit


def _kernel(
    kernel: ShownKernel,
    specs: Mapping[str, FactSpec],
    titles: Mapping[str, str],
    console: Console,
    *,
    verbose: bool,
) -> None:
    console.print(f"{one_line(kernel.name)}   {kernel.target or 'target unknown'}", style="bold")
    console.print(one_line(f"  {kernel.path}"), style="dim")
    groups: dict[str, list[str]] = {}
    for name in kernel.facts:
        groups.setdefault(name.partition(".")[0], []).append(name)
    for group in [*titles, *(name for name in groups if name not in titles)]:
        stage = kernel.stages.get(group)
        if stage is None and group not in groups:
            continue
        console.print()
        console.print(_stage_line(group, titles.get(group, "over several stages"), stage), style="bold")
        _facts(kernel, groups.get(group, []), specs, console, verbose=verbose)
        if stage is not None:
            _loops(kernel, group, stage, specs, console, verbose=verbose)
            if verbose:
                _not_understood(stage, console)
            for issue in stage.issues:
                console.print(f"  {one_line(issue_line(issue))}")
    _road(kernel, console)
    for issue in kernel.issues:
        if not any(issue in stage.issues for stage in kernel.stages.values()):
            console.print(f"  {one_line(issue_line(issue))}")


def _road(kernel: ShownKernel, console: Console) -> None:
    """A table of actions by stage: which operations carry each, how many first."""
    stages = [name for name in kernel.stages if any(name in carried for carried in kernel.road.values())]
    if len(stages) < 2:
        return
    console.print()
    console.print("the road through the stages", style="bold")
    rows = [
        [action, *(_operations(carried.get(name, {})) for name in stages)]
        for action, carried in kernel.road.items()
    ]
    grid(rows, console, header=["", *stages], indent=2)


def _operations(carried: Mapping[str, int]) -> str:
    return ", ".join(f"{number(count)} {operation}" for operation, count in carried.items()) or "-"


def _not_understood(stage: ShownStage, console: Console) -> None:
    if stage.unknown:
        console.print("  not understood:")
        grid([[str(place), one_line(text)] for place, text in stage.unknown], console, indent=4)


def _stage_line(group: str, title: str, stage: ShownStage | None) -> str:
    if stage is None:
        return f"{group}  {title}"
    parts = [f"{group}  {title}"]
    if stage.coverage is not None and stage.coverage < 1:
        parts.append(f"{stage.coverage:.2%} understood")
    if stage.degraded:
        parts.append(stage.degraded)
    return one_line("   ".join(parts))


def _facts(
    kernel: ShownKernel,
    names: Sequence[str],
    specs: Mapping[str, FactSpec],
    console: Console,
    *,
    verbose: bool,
) -> None:
    rows = []
    for name in names:
        value = kernel.facts[name]
        if not verbose and value in ({}, (), 0, ""):
            continue
        spec = specs.get(name)
        text = _value(value, spec.unit if spec else "", verbose=verbose)
        places = kernel.evidence.get(name)
        if places:
            text += f"   [{spec.place if spec else 'line'} {_places(places)}]"
        rows.append([name, text])
    if rows:
        grid(rows, console, indent=2)


def _loops(
    kernel: ShownKernel,
    group: str,
    stage: ShownStage,
    specs: Mapping[str, FactSpec],
    console: Console,
    *,
    verbose: bool,
) -> None:
    for scope, loop in stage.loops.items():
        trips = plural(loop.trip_count, "trip") if loop.trip_count is not None else "trips unknown"
        console.print(f"  {scope}: {trips}")
        if verbose:
            values = kernel.scopes.get(scope, {})
            rows = [
                [name, _value(value, specs[name].unit if name in specs else "", verbose=True)]
                for name, value in values.items()
                if name.startswith(f"{group}.") and value not in ({}, (), 0)
            ]
            if rows:
                grid(rows, console, indent=4)


def _value(value: Value, unit: str, *, verbose: bool) -> str:
    if isinstance(value, dict) and not verbose and len(value) > KEYS_SHOWN:
        ranked = (
            sorted(value, key=lambda key: (-_count(value[key]), key)) if _is_tally(value) else list(value)
        )
        shown = ", ".join(f"{key} {number(value[key])}" for key in ranked[:KEYS_SHOWN])
        return f"{shown} and {len(value) - KEYS_SHOWN} more"
    return value_text(value, unit)


def _is_tally(value: Mapping[str, object]) -> bool:
    return all(isinstance(item, int) and not isinstance(item, bool) for item in value.values())


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _places(places: Mapping[str, Sequence[int]]) -> str:
    found = sorted({place for group in places.values() for place in group})
    text = ", ".join(str(place) for place in found[:6])
    return f"{text}, ..." if len(found) > 6 else text
