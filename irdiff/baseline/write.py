"""A baseline as text: equal baselines are equal bytes, one kernel a block, one fact a line, sorted.

What most kernels share (versions, targets, options) stands once, under ``usual``; a block says only where it differs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from irdiff.baseline.content import COUNT, EMPTY_KINDS, END, FORMAT, Baseline, RecordedKernel, RecordedSpec
from irdiff.model.facts import Fact, Value
from irdiff.model.notation import is_tally, key_text, scalar_text, value_text

HEAD = """\
# Facts of compiled kernels. `irdiff baseline write DIR -o FILE` makes this file, `irdiff check DIR --baseline FILE`
# reads it. Review it like code; do not edit it by hand.
"""
IDENTITY = ("arguments", "specialization", "options")
"""Roles of the facts that tell specializations of one kernel apart: first in a block, so that blocks are sorted by
them and an edit of the kernel does not move its block."""
USUAL = ("target", "options", "environment")
"""Roles of facts that most kernels of a tree share, beside versions."""
REPEATED = 30
"""Characters from which on a value that stands there already is pointed at."""


class Usual(msgspec.Struct, frozen=True, kw_only=True):
    """What most kernels share."""

    values: Mapping[str, Value] = {}
    """Fact id to value."""
    fields: Mapping[str, Mapping[str, Value]] = {}
    """Fact id to field of its record to value (a scalar of a record, without the empty one)."""
    folded: Mapping[str, tuple[str, ...]] = {}
    """Stage id to the fields that say nothing there."""


def baseline_text(baseline: Baseline, provenance: frozenset[str]) -> bytes:
    """The file. ``provenance`` holds the ids of facts that say where an artifact comes from."""
    usual = usual_of(baseline, provenance)
    blocks = sorted(
        (
            "\n".join(_block(kernel, baseline.specs, Usual())),
            "\n".join(_counted(_block(kernel, baseline.specs, usual))),
        )
        for kernel in baseline.kernels
    )
    parts = ["\n".join(_head(baseline, usual)), *(block for _, block in blocks), END]
    return ("\n\n".join(parts) + "\n").encode("utf-8", "strict")


def usual_of(baseline: Baseline, provenance: frozenset[str]) -> Usual:
    """What more than half of the kernels that know a fact share of it: its value, or fields of its record.

    Of several values the most frequent one, then the first in the order of their texts.
    """
    counted: dict[str, dict[str | None, Counter[str]]] = {}
    texts: dict[str, Value] = {}
    known: Counter[str] = Counter()
    for kernel in baseline.kernels:
        for fact in kernel.facts:
            if fact.scope or not (baseline.specs[fact.id].role in USUAL or fact.id in provenance):
                continue
            known[fact.id] += 1
            for field, value in _parts(fact.value):
                text = value_text(value)
                texts[text] = value
                counted.setdefault(fact.id, {}).setdefault(field, Counter())[text] += 1
    values: dict[str, Value] = {}
    fields: dict[str, dict[str, Value]] = {}
    for name, found in sorted(counted.items()):
        shared = {
            field: texts[min(counts, key=lambda text, counts=counts: (-counts[text], text))]  # type: ignore[misc]
            for field, counts in found.items()
            if 2 * counts.total() > known[name]
        }
        if None in shared:
            values[name] = shared[None]
        elif shared:
            fields[name] = {field: value for field, value in sorted(shared.items()) if field is not None}
    return Usual(values=values, fields=fields, folded=_folded(baseline))


def _folded(baseline: Baseline) -> dict[str, tuple[str, ...]]:
    counted: dict[str, Counter[tuple[str, ...]]] = {}
    for kernel in baseline.kernels:
        for stage, form in kernel.forms.items():
            counted.setdefault(stage, Counter())[form.folded] += 1
    usual = {
        stage: min(counts, key=lambda each, counts=counts: (-counts[each], each))  # type: ignore[misc]
        for stage, counts in sorted(counted.items())
    }
    return {stage: folded for stage, folded in usual.items() if folded}


def _parts(value: Value) -> Iterable[tuple[str | None, Value]]:
    """A record's fields, or the value itself."""
    if isinstance(value, dict) and value:
        return value.items()  # type: ignore[return-value]  # a field may be null, which the text of it says
    return ((None, value),)


def _counted(section: Iterable[str]) -> Iterator[str]:
    """A section with the number of its lines below it."""
    lines = list(section)
    yield from lines
    yield f"  {COUNT} = {len(lines) - 1}"


def _head(baseline: Baseline, usual: Usual) -> Iterator[str]:
    yield FORMAT
    yield HEAD
    for stage in ("", *sorted(baseline.readers)):
        facts = {name: spec for name, spec in sorted(baseline.specs.items()) if spec.stage == stage}
        if stage or facts:
            yield from _counted(_declared(stage, baseline.readers.get(stage), facts))
    yield ""
    yield from _counted(_shared(usual))


def _declared(stage: str, reader: str | None, facts: Mapping[str, RecordedSpec]) -> Iterator[str]:
    yield f"facts of {key_text(stage)}, read by {scalar_text(reader)}" if stage else "facts of several stages"
    for name, spec in facts.items():
        words = [
            spec.kind,
            *([f"role {spec.role}"] if spec.role else ()),
            *(["in loops"] if spec.in_loops else ()),
        ]
        yield f"  {key_text(name)} = {value_text(tuple(words))}"


def _shared(usual: Usual) -> Iterator[str]:
    yield "usual"
    for name in sorted({*usual.values, *usual.fields}):
        if name in usual.fields:
            yield f"  {key_text(name)}"
            yield from (
                f"    {key_text(field)} = {value_text(value)}" for field, value in usual.fields[name].items()
            )
        else:
            yield f"  {key_text(name)} = {value_text(usual.values[name])}"
    if usual.folded:
        yield "  folded"
        yield from (f"    {key_text(stage)} = {value_text(names)}" for stage, names in usual.folded.items())


def _block(kernel: RecordedKernel, specs: Mapping[str, RecordedSpec], usual: Usual) -> Iterator[str]:
    yield f"kernel {scalar_text(kernel.name)}"
    if kernel.target is not None:
        yield f"  target = {scalar_text(kernel.target)}"
    if kernel.layout != "cache":
        yield f"  layout = {kernel.layout}"
    for word, stages in (("missing", kernel.missing), ("unreadable", kernel.unreadable)):
        if stages:
            yield f"  {word} = {value_text(stages)}"
    whole = [fact for fact in kernel.facts if not fact.scope]
    identity = [fact for fact in whole if specs[fact.id].role in IDENTITY]
    others = [fact for fact in whole if specs[fact.id].role not in IDENTITY]
    held = {"", *kernel.forms}
    yield from _facts(identity, specs, usual, "  ")
    yield from _absent(whole, specs, usual, held)
    yield from _forms(kernel, usual)
    yield from _notes(whole, specs, held, "  ", loops=False)
    yield from _facts(others, specs, usual, "  ")
    for scope in sorted({scope.id for scopes in kernel.scopes.values() for scope in scopes}, key=_scope_key):
        yield f"  in {key_text(scope)}"
        yield from _loop(kernel, scope, specs)


def _forms(kernel: RecordedKernel, usual: Usual) -> Iterator[str]:
    """The digests of the canonical forms, and what is special about the reading of a stage."""
    degraded = {stage: form.degraded for stage, form in sorted(kernel.forms.items()) if form.degraded}
    if degraded:
        yield "  degraded"
        yield from (f"    {key_text(stage)} = {scalar_text(reason)}" for stage, reason in degraded.items())
    folded = {
        stage: form.folded
        for stage, form in sorted(kernel.forms.items())
        if form.folded != usual.folded.get(stage, ())
    }
    if folded:
        yield "  folded"
        yield from (f"    {key_text(stage)} = {value_text(names)}" for stage, names in folded.items())
    if kernel.forms:
        yield "  forms"
    for stage, form in sorted(kernel.forms.items()):
        yield f"    {key_text(stage)} = {scalar_text(form.canonical)}"
        for part, digest in sorted(form.without.items()):
            yield f"    {key_text(f'{stage} without {part}')} = {scalar_text(digest)}"


def _loop(kernel: RecordedKernel, scope: str, specs: Mapping[str, RecordedSpec]) -> Iterator[str]:
    trips = {
        stage: found.trip_count
        for stage, scopes in sorted(kernel.scopes.items())
        for found in scopes
        if found.id == scope
    }
    yield f"    stages = {value_text(tuple(trips))}"
    known: Value = {stage: count for stage, count in trips.items() if count is not None}
    if known:
        yield f"    trips = {value_text(known)}"
    facts = [fact for fact in kernel.facts if fact.scope == scope]
    yield from _notes(facts, specs, trips, "    ", loops=True)
    yield from _facts(facts, specs, Usual(), "    ")


def _notes(
    facts: Sequence[Fact], specs: Mapping[str, RecordedSpec], held: Iterable[str], indent: str, *, loops: bool
) -> Iterator[str]:
    """What is not known although its stage is there, and which values are estimates."""
    known, stages = {fact.id for fact in facts}, set(held)
    unknown = tuple(
        name
        for name, spec in sorted(specs.items())
        if spec.stage in stages
        and spec.kind in EMPTY_KINDS
        and name not in known
        and (spec.in_loops or not loops)
    )
    if unknown:
        yield f"{indent}unknown = {value_text(unknown)}"
    estimates = tuple(sorted(fact.id for fact in facts if fact.exactness == "estimate"))
    if estimates:
        yield f"{indent}estimates = {value_text(estimates)}"


def _absent(
    facts: Sequence[Fact], specs: Mapping[str, RecordedSpec], usual: Usual, held: Iterable[str]
) -> Iterator[str]:
    """Usual facts that this kernel does not know."""
    known, stages = {fact.id for fact in facts}, set(held)
    for name in sorted({*usual.values, *usual.fields} - known):
        if specs[name].stage in stages:
            yield f"  {key_text(name)} absent"


def _facts(
    facts: Sequence[Fact], specs: Mapping[str, RecordedSpec], usual: Usual, indent: str
) -> Iterator[str]:
    written: dict[str, str] = {}
    for fact in facts:
        spec, name, text = specs[fact.id], key_text(fact.id), value_text(fact.value)
        if fact.id in usual.fields or fact.id in usual.values:
            yield from _unusual(fact, usual, indent)
            continue
        if spec.kind in EMPTY_KINDS and not fact.value:
            continue
        earlier = written.setdefault(text, name)
        if earlier != name and len(text) >= REPEATED:
            yield f"{indent}{name} same as {earlier}"
        elif _in_lines(fact.value, spec):
            yield f"{indent}{name}"
            yield from _fields(fact.value, indent)
        else:
            yield f"{indent}{name} = {text}"


def _in_lines(value: Value, spec: RecordedSpec) -> bool:
    """Whether a value is written as one field a line."""
    return isinstance(value, dict) and bool(value) and not (spec.kind == "tally" and is_tally(value))


def _fields(value: Value, indent: str) -> Iterator[str]:
    assert isinstance(value, dict)
    return (f"{indent}  {key_text(field)} = {scalar_text(item)}" for field, item in sorted(value.items()))


def _unusual(fact: Fact, usual: Usual, indent: str) -> Iterator[str]:
    """How a fact differs from what is usual."""
    name = key_text(fact.id)
    if fact.id not in usual.fields:
        if value_text(usual.values[fact.id]) != value_text(fact.value):
            yield f"{indent}{name} = {value_text(fact.value)}"
        return
    assert isinstance(fact.value, dict)
    fields = usual.fields[fact.id]
    lines = []
    for field in sorted({*fields, *fact.value}):
        if field not in fact.value:
            lines.append(f"{indent}  {key_text(field)} absent")
        elif field not in fields or value_text(fields[field]) != scalar_text(fact.value[field]):
            lines.append(f"{indent}  {key_text(field)} = {scalar_text(fact.value[field])}")
    if lines:
        yield f"{indent}{name}"
        yield from lines


def _scope_key(scope: str) -> tuple[list[int], str]:
    return [int(number) for number in re.findall(r"[0-9]+", scope)], scope
