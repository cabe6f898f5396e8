"""What a plugin may register: each specification is checked before anything else sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from irdiff.model.facts import FactSpec
from irdiff.model.gate import Tolerance
from irdiff.model.rules import RuleExample, RuleSpec
from irdiff.model.specs import DerivedSpec, KindSpec, Normalization, RendererSpec, SourceSpec, StageSpec
from irdiff.model.tools import ToolSpec

NAME = re.compile(r"[a-z][a-z0-9_-]*")
FACT_ID = re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)+")
SUFFIX = re.compile(r"\.[A-Za-z0-9_][A-Za-z0-9_.-]*")
RULE_CODE = re.compile(r"[A-Z]+[0-9]+")
OPTIONAL_CALLS = ("prepare", "parts", "source_lines", "road")
FORMATS = frozenset({"terminal", "json", "markdown", "html", "sarif", "junit", "github"})
"""Ids of renderers that are irdiff's own."""


class SpecError(Exception):
    """Why a plugin is refused; caught by the host, which names the plugin."""


class Implementation(msgspec.Struct, frozen=True):
    """A function of a plugin that takes part in something."""

    function: Callable[..., object]
    argnames: tuple[str, ...]
    """Names of the arguments it takes."""


class Contributions(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of one plugin's hooks: fields are hook names without ``irdiff_``."""

    stages: tuple[StageSpec, ...] = ()
    derived_facts: tuple[DerivedSpec, ...] = ()
    sources: tuple[SourceSpec, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    value_kinds: tuple[KindSpec, ...] = ()
    rules: tuple[RuleSpec, ...] = ()
    renderers: tuple[RendererSpec, ...] = ()
    explain: tuple[Implementation, ...] = ()

    def facts(self) -> Iterator[FactSpec]:
        """The facts of its stages and derivations."""
        for stage in self.stages:
            yield from stage.facts
        for derived in self.derived_facts:
            yield from derived.facts


TYPES: Mapping[str, type] = {
    "stages": StageSpec,
    "derived_facts": DerivedSpec,
    "sources": SourceSpec,
    "tools": ToolSpec,
    "value_kinds": KindSpec,
    "rules": RuleSpec,
    "renderers": RendererSpec,
}


def claims(has: Contributions) -> Iterator[tuple[str, str]]:
    """(what, id) for everything that only one plugin may own."""
    for stage in has.stages:
        yield "stage", stage.id
        for suffix in stage.suffixes:
            yield "suffix", suffix
    for fact in has.facts():
        yield "fact", fact.id
    for derived in has.derived_facts:
        yield "derivation", derived.id
    for source in has.sources:
        yield "source", source.id
    for tool in has.tools:
        yield "tool", tool.id
    for kind in has.value_kinds:
        yield "kind", kind.id
    for rule in has.rules:
        yield "rule", rule.code
    for renderer in has.renderers:
        yield "renderer", renderer.id


def check(has: Contributions, plugin: str) -> None:
    """Look at every specification of one plugin. Raises SpecError with the first thing wrong."""
    for hook, expected in TYPES.items():
        for item in getattr(has, hook):
            if not isinstance(item, expected):
                raise SpecError(f"irdiff_{hook} returned {type(item).__name__}, not {expected.__name__}")
    prefixes = [plugin, *(stage.id for stage in has.stages if isinstance(stage.id, str))]
    for stage in has.stages:
        _check_stage(stage)
    for derived in has.derived_facts:
        _named("derivation", derived, calls=("derive",))
        _facts(f"derivation {derived.id}", derived.facts, [*prefixes, derived.id])
    for tool in has.tools:
        _check_tool(tool)
    for rule in has.rules:
        _check_rule(rule)
    _check_edges(has)


def _check_edges(has: Contributions) -> None:
    """Sources, kinds and renderers: what meets inputs, values and outputs."""
    for source in has.sources:
        _named("source", source, texts=("title",), calls=("recognizes", "load"))
    for kind in has.value_kinds:
        _named("kind", kind, calls=("accepts", "compare", "to_text", "sign"))
    for renderer in has.renderers:
        _named("renderer", renderer, texts=("title",), calls=("render",))
        if renderer.id in FORMATS:
            raise SpecError(f"renderer {renderer.id} is irdiff's own")


def _check_stage(stage: StageSpec) -> None:
    _named("stage", stage, texts=("title",), calls=("summarize", "canonical", "expected"))
    who = f"stage {stage.id}"
    _callables(who, stage, *(name for name in OPTIONAL_CALLS if getattr(stage, name) is not None))
    _check_suffixes(who, stage.suffixes)
    for field in ("after", "needs"):
        for name in _text_tuple(who, field, getattr(stage, field)):
            _name(f"{who}: {field}", name)
    if stage.id in stage.after:
        raise SpecError(f"{who} comes after itself")
    if not isinstance(stage.produced_by, str):
        raise SpecError(f"{who}: produced_by must be text")
    if stage.reported_as is not None:
        _name(f"{who}: reported_as", stage.reported_as)
    for field in ("pipeline", "machine_code"):
        if not isinstance(getattr(stage, field), bool):
            raise SpecError(f"{who}: {field} must be true or false")
    coverage = stage.minimum_coverage
    if isinstance(coverage, bool) or not isinstance(coverage, (int, float)) or not 0 <= coverage <= 1:
        raise SpecError(f"{who}: minimum_coverage must be between 0 and 1")
    _check_normalizations(who, stage.normalizations)
    _facts(who, stage.facts, [stage.id])


def _check_suffixes(who: str, suffixes: object) -> None:
    if not suffixes:
        raise SpecError(f"{who} claims no suffix")
    for suffix in _text_tuple(who, "suffixes", suffixes):
        if not SUFFIX.fullmatch(suffix):
            raise SpecError(f"{who}: suffix {suffix!r} must begin with a dot and hold letters, digits, . _ -")


def _check_normalizations(who: str, normalizations: object) -> None:
    seen: set[str] = set()
    for item in _tuple(who, "normalizations", normalizations):
        if not isinstance(item, Normalization):
            raise SpecError(f"{who}: normalizations holds {type(item).__name__}, not Normalization")
        _name(f"{who}: normalization", item.id)
        _strings(f"{who}: normalization {item.id}", item, "title")
        if item.id in seen:
            raise SpecError(f"{who}: normalization {item.id} is declared twice")
        seen.add(item.id)


def _facts(who: str, facts: object, prefixes: Sequence[str]) -> None:
    for fact in _tuple(who, "facts", facts):
        if not isinstance(fact, FactSpec):
            raise SpecError(f"{who}: facts holds {type(fact).__name__}, not FactSpec")
        try:
            msgspec.convert(msgspec.structs.asdict(fact), FactSpec)
        except msgspec.ValidationError as error:
            raise SpecError(f"{who}: fact {fact.id!r}: {error}") from error
        if not FACT_ID.fullmatch(fact.id):
            raise SpecError(f"{who}: fact id {fact.id!r} is not like stage.thing")
        if fact.id.split(".", 1)[0] not in prefixes:
            wanted = " or ".join(f"{prefix}." for prefix in dict.fromkeys(prefixes))
            raise SpecError(f"{who}: fact {fact.id} must begin with {wanted}")
        for field in ("title", "kind"):
            _strings(f"fact {fact.id}", fact, field)
        if fact.role is not None and not NAME.fullmatch(fact.role):
            raise SpecError(f"fact {fact.id}: role {fact.role!r} must be a lower-case name")
        if not 0 <= fact.tolerance < 1:
            raise SpecError(f"fact {fact.id}: tolerance must be at least 0 and below 1")
        if not all(fact.comparable_when):
            raise SpecError(f"fact {fact.id}: comparable_when holds an empty name")


def _check_tool(tool: ToolSpec) -> None:
    _named("tool", tool, texts=("variable", "hint"))
    who = f"tool {tool.id}"
    for field in ("packages", "homes", "modules"):
        for pair in _tuple(who, field, getattr(tool, field)):
            if not (
                isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
            ):
                raise SpecError(f"{who}: {field} must hold pairs of text")
    for field in ("version_arguments", "supports_arguments"):
        _text_tuple(who, field, getattr(tool, field))
    _pattern(f"{who}: version_pattern", tool.version_pattern, groups=1)
    _pattern(f"{who}: supports_pattern", tool.supports_pattern, groups=0)


def _pattern(what: str, pattern: object, *, groups: int) -> None:
    try:
        found = re.compile(pattern).groups if isinstance(pattern, str) else -1
    except (re.error, RecursionError) as error:
        raise SpecError(f"{what} is not a regular expression: {error}") from error
    if found < groups:
        raise SpecError(f"{what} must be a regular expression with {groups} groups or more")


def _check_rule(rule: RuleSpec) -> None:
    if not isinstance(rule.code, str) or not RULE_CODE.fullmatch(rule.code):
        raise SpecError(f"rule code {rule.code!r} is not like RES101")
    who = f"rule {rule.code}"
    _strings(who, rule, "title")
    _check_rule_calls(who, rule)
    if rule.level not in ("error", "warn", "off"):
        raise SpecError(f"{who}: level {rule.level!r} is none of error, warn, off")
    for field in ("uncertain", "across_targets", "launch"):
        if not isinstance(getattr(rule, field), bool):
            raise SpecError(f"{who}: {field} must be true or false")
    _check_tolerance(who, rule.tolerance)
    for example in _tuple(who, "examples", rule.examples):
        if not isinstance(example, RuleExample):
            raise SpecError(f"{who}: examples holds {type(example).__name__}, not RuleExample")


def _check_rule_calls(who: str, rule: RuleSpec) -> None:
    """What it judges, and with which functions."""
    for field in ("role", "doc", "why", "advice"):
        if not isinstance(getattr(rule, field), str):
            raise SpecError(f"{who}: {field} must be text")
    if rule.role:
        _name(f"{who}: role", rule.role)
    elif rule.judge is None and rule.gone is None:
        raise SpecError(f"{who}: without a role it needs a function that judges")
    for name in _text_tuple(who, "also", rule.also):
        _name(f"{who}: also", name)
    optional = ("judge", "gone", "answered")
    _callables(who, rule, "fires", *(name for name in optional if getattr(rule, name) is not None))


def _check_tolerance(who: str, tolerance: object) -> None:
    try:
        msgspec.convert(msgspec.to_builtins(tolerance), Tolerance)
    except (msgspec.ValidationError, TypeError) as error:
        raise SpecError(f"{who}: tolerance: {error}") from error


def _named(what: str, spec: object, *, texts: tuple[str, ...] = (), calls: tuple[str, ...] = ()) -> None:
    """Check ``spec.id``, the fields that are text, and the fields that are functions."""
    identifier = getattr(spec, "id", None)
    _name(what, identifier)
    _strings(f"{what} {identifier}", spec, *texts)
    _callables(f"{what} {identifier}", spec, *calls)


def _name(what: str, name: object) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise SpecError(f"{what} {name!r} must be a lower-case name (letters, digits, _ and -)")


def _strings(who: str, spec: object, *fields: str) -> None:
    for field in fields:
        value = getattr(spec, field)
        if not isinstance(value, str) or not value.strip():
            raise SpecError(f"{who}: {field} must be text and not empty")


def _callables(who: str, spec: object, *fields: str) -> None:
    for field in fields:
        if not callable(getattr(spec, field)):
            raise SpecError(f"{who}: {field} cannot be called")


def _tuple(who: str, field: str, value: object) -> tuple[object, ...]:
    if not isinstance(value, tuple):
        raise SpecError(f"{who}: {field} must be a tuple, not {type(value).__name__}")
    return value


def _text_tuple(who: str, field: str, value: object) -> Iterable[str]:
    items = _tuple(who, field, value)
    if not all(isinstance(item, str) for item in items):
        raise SpecError(f"{who}: {field} must hold text")
    return items  # type: ignore[return-value]  # just checked
