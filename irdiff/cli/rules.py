"""``irdiff rules``: what ``check`` judges by, from the registry."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase

import msgspec

from irdiff.cli.exit_codes import Exit
from irdiff.cli.output import emit
from irdiff.cli.session import make_registry
from irdiff.engine.gate.names import nearest_rule
from irdiff.errors import UsageError
from irdiff.model.facts import Value
from irdiff.model.gate import Level, Tolerance
from irdiff.model.rules import RuleSpec
from irdiff.present.rule_reference import COLUMNS, page, row
from irdiff.registry import Registry

FORMATS = ("terminal", "json")


class ShownExample(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of kernels in facts alone."""

    fires: bool
    before: dict[str, Value]
    after: dict[str, Value]
    note: str


class ShownRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as ``--format json`` prints it."""

    code: str
    title: str
    level: Level
    role: str
    also: tuple[str, ...]
    tolerance: Tolerance
    uncertain: bool
    plugin: str
    doc: str
    why: str
    advice: str
    examples: tuple[ShownExample, ...]


def run_rules(wanted: str | None, *, form: str, external: bool) -> Exit:
    """Print all rules, those of a glob, or one in full. Raises UsageError with the nearest codes."""
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}", where="--format", hint=f"one of {', '.join(FORMATS)}")
    registry = make_registry(external=external)
    chosen = [rule for rule in registry.rules if wanted is None or fnmatchcase(rule.code, wanted.upper())]
    if not chosen and wanted is not None:
        hint = nearest_rule(wanted[:20], [rule.code for rule in registry.rules])
        raise UsageError(f"no rule is called {wanted!r}", where="rules", hint=hint)
    if form == "json":
        shown = [_shown(rule, registry) for rule in chosen]
        emit(msgspec.json.format(msgspec.json.encode(shown), indent=2) + b"\n", None)
        return Exit.OK
    from irdiff.present.terminal import console_for, grid

    console = console_for(sys.stdout)
    if [rule.code for rule in chosen] == [(wanted or "").upper()]:
        console.print("\n".join(page(chosen[0], _owner(chosen[0], registry))), highlight=False, markup=False)
        return Exit.OK
    grid([row(rule) for rule in chosen], console, header=COLUMNS)
    console.print(
        "\nOne in full: irdiff rules CODE. Levels are set in irdiff.toml, or with check --rule CODE=level."
    )
    return Exit.OK


def _owner(rule: RuleSpec, registry: Registry) -> str:
    for plugin in registry.plugins:
        if rule.code in plugin.registered.get("rule", ()):
            return f"{plugin.name} ({plugin.origin})"
    return "irdiff"


def _shown(rule: RuleSpec, registry: Registry) -> ShownRule:
    return ShownRule(
        code=rule.code,
        title=rule.title,
        level=rule.level,
        role=rule.role,
        also=rule.also,
        tolerance=rule.tolerance,
        uncertain=rule.uncertain,
        plugin=_owner(rule, registry),
        doc=rule.doc,
        why=rule.why,
        advice=rule.advice,
        examples=tuple(
            ShownExample(fires=each.fires, before=dict(each.before), after=dict(each.after), note=each.note)
            for each in rule.examples
        ),
    )
