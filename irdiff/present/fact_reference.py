"""What a fact means, in words: the one wording that the reference pages and ``irdiff facts`` share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irdiff.model.facts import FactSpec
from irdiff.registry import Registry

ARROWS = {"lower": "↓", "higher": "↑", "neutral": "·"}
LEGEND = "↓ lower is better, ↑ higher is better, · neutral."
COLUMNS = ("fact", "title", "kind", "unit", "", "role", "comparable when")
"""Headings of the rows of :func:`row`."""


def groups(registry: Registry) -> tuple[tuple[str, str, tuple[FactSpec, ...]], ...]:
    """(id, title, facts) of everything that declares facts, in the order of the compiler."""
    stages = [(stage.id, stage.title, stage.facts) for stage in registry.stages]
    return (*stages, *((one.id, "over several stages", one.facts) for one in registry.derived))


def comparable(spec: FactSpec) -> str:
    """``target.arch and meta.num_warps agree``; ``""`` where values may always be compared."""
    return f"{' and '.join(spec.comparable_when)} agree" if spec.comparable_when else ""


def notes(spec: FactSpec) -> tuple[str, ...]:
    """What is to be known beside the title: kind, unit, direction, role, exactness and the rest."""
    words = [spec.kind, spec.unit, ARROWS[spec.better]]
    words += [f"role {spec.role}"] if spec.role else []
    words += ["estimate"] if spec.exactness == "estimate" else []
    words += ["provenance"] if spec.provenance else []
    words += [f"only with `--with {spec.id}`"] if spec.opt_in else []
    words += [f"not compared where `{spec.repeats}` is known"] if spec.repeats else []
    words += [f"comparable when {comparable(spec)}"] if spec.comparable_when else []
    return tuple(word for word in words if word)


def row(spec: FactSpec) -> tuple[str, ...]:
    """One fact as a row of a table."""
    return (
        spec.id,
        spec.title,
        spec.kind,
        spec.unit,
        ARROWS[spec.better],
        spec.role or "",
        " and ".join(spec.comparable_when),
    )


def markdown(title: str, specs: Iterable[FactSpec]) -> list[str]:
    """The lines of one group of the reference page."""
    lines = [f"## {title}", ""]
    for spec in specs:
        lines += [f"**`{spec.id}`** {spec.title} ({', '.join(notes(spec))}).", ""]
        lines += [spec.doc, ""] if spec.doc else []
    return lines


def in_full(spec: FactSpec, origin: str) -> Sequence[str]:
    """Everything about one fact, in lines for a terminal."""
    better = {"lower": "lower is better", "higher": "higher is better", "neutral": "neither way is better"}
    fields = [
        ("title", spec.title),
        ("from", origin),
        ("kind", spec.kind),
        ("unit", spec.unit),
        ("direction", f"{ARROWS[spec.better]} {better[spec.better]}"),
        ("role", spec.role or ""),
        ("exactness", spec.exactness),
        ("noise below", f"{spec.tolerance:.1%}" if spec.tolerance else ""),
        ("comparable when", comparable(spec)),
        ("provenance", "yes: never part of sameness or verdict" if spec.provenance else ""),
        ("made", f"only where asked for: --with {spec.id}" if spec.opt_in else ""),
        ("repeats", f"{spec.repeats}: not compared where that is known" if spec.repeats else ""),
        ("rests on", {"line": "lines", "byte": "file offsets", "address": "code addresses"}[spec.place]),
    ]
    width = max(len(name) for name, _ in fields)
    lines = [spec.id, *(f"  {name.ljust(width)}  {text}" for name, text in fields if text)]
    return (*lines, "", f"  {spec.doc}") if spec.doc else lines
