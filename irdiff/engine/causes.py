"""Why a kernel changed: every cause that the data shows, and nothing where it does not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from irdiff.engine.kernels import Kernel, facts_with_role
from irdiff.model.facts import Fact, FactSpec, Scalar, Value
from irdiff.model.report import Change, StageReport
from irdiff.model.specs import KindSpec, StageSpec

MAX_NAMED = 6
"""Arguments, options or variables named of each sort; how many more there are is said."""
COMPILED_IN = "compiled in"
CONSTEXPR = "constexpr "
FINGERPRINT = "fingerprint"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one divergence."""

    before: Kernel
    after: Kernel
    first: StageSpec
    """The step of the compiler where it begins."""
    at_the_front: bool
    """Whether no earlier step is known on both sides: then what the kernel was compiled for shows here first."""
    stages: Mapping[str, StageReport]
    changes: Sequence[Change]
    """Changes of the first step's facts."""
    specs: Mapping[str, FactSpec]
    kinds: Mapping[str, KindSpec]


def cause_of(case: Case) -> str | None:
    """Every cause that differs between the two sides, in words and joined by ``; ``; None where nothing is known.

    An argument or a constexpr explains what is already there in front, an option or an environment variable
    anything. The part of the compiler that wrote the step is named where nothing else is, where its versions differ,
    and in front where more moved than the attributes of arguments can explain.
    """
    before, after, first = case.before, case.after, case.first
    named: list[str] = []
    if before.target != after.target:
        named.append(f"target {before.target or 'unknown'} -> {after.target or 'unknown'}")
    arguments = list(_arguments(case)) if case.at_the_front else []
    named += _listed("argument", [text for name, text in arguments if name == "argument"])
    named += _listed("constexpr", [text for name, text in arguments if name == "constexpr"])
    named += _listed("option", [text for text, _ in _moved(case, "options")])
    versions = _versions(case)
    told_apart = versions is not None and versions[0] != versions[1]
    changed_version = told_apart or _written_by_others(case)
    recorded_alike = not changed_version
    named += _listed(
        "environment variable", [text for text, _ in _moved(case, "environment", unset=recorded_alike)]
    )
    if not named and not changed_version:
        named += _entry_name(case, versions)
    if first.produced_by and (not named or changed_version or _more_than_attributes(case)):
        told = f" ({versions[0]} -> {versions[1]})" if versions is not None and told_apart else ""
        named.append(f"{first.produced_by}{told}")
    only = _only(case)
    if only:
        tail = f"{only} only"
        if named and named[-1].startswith(first.produced_by or "\0"):
            named[-1] += f": {tail}"
        else:
            named.append(tail)
    return "; ".join(named) or None


def _listed(word: str, moved: Sequence[str]) -> list[str]:
    """``word a: 1 -> 2; b: 3 -> 4 (and 2 more)``, or nothing."""
    if not moved:
        return []
    more = f" (and {len(moved) - MAX_NAMED} more)" if len(moved) > MAX_NAMED else ""
    return [f"{word} {'; '.join(moved[:MAX_NAMED])}{more}"]


def _arguments(case: Case) -> Iterator[tuple[str, str]]:
    """(``argument`` or ``constexpr``, what moved): from the recorded specialization, else from the IR."""
    recorded = _moved(case, "specialization")
    if recorded:
        for text, (old, new) in recorded:
            if isinstance(old, str) and isinstance(new, str) and {old[:10], new[:10]} == {CONSTEXPR}:
                yield "constexpr", text.replace(CONSTEXPR, "")
            else:
                yield "argument", text
        return
    for text, _ in _moved(case, "arguments"):
        yield "argument", text


def _moved(case: Case, role: str, *, unset: bool = False) -> list[tuple[str, tuple[Scalar, Scalar]]]:
    """``name: before -> after`` of the first record of a role that moved, with both values.

    What one side alone has is left out, but for arguments that were compiled in, and for what is ``unset`` where both
    sides would record it.
    """
    known_after = {fact.id: fact for fact in _told(case, case.after, role)}
    for fact in _told(case, case.before, role):
        other = known_after.get(fact.id)
        if other is None:
            continue
        delta = case.kinds[case.specs[fact.id].kind].compare(fact.value, other.value)
        old, new = fact.value, other.value
        if not (isinstance(delta, dict) and isinstance(old, dict) and isinstance(new, dict)):
            continue
        silent = _folded(case.before) & _folded(case.after)
        moved = [
            (f"{name}: {text}", (old[name], new[name]))
            for name, text in delta.items()
            if name in old and name in new and name not in silent
        ]
        one_sided = sorted(old.keys() ^ new.keys())
        if role == "arguments" and (old.keys() < new.keys() or new.keys() < old.keys()):
            moved += _one_sided(old, new, one_sided, COMPILED_IN)
        elif unset:
            set_there = [n for n in one_sided if n not in _folded(case.before) | _folded(case.after)]
            moved += _one_sided(old, new, set_there, "unset")
        if moved:
            return moved
    return []


def _one_sided(
    old: Mapping[str, Scalar], new: Mapping[str, Scalar], names: Sequence[str], word: str
) -> list[tuple[str, tuple[Scalar, Scalar]]]:
    found = [(name, (old.get(name, word), new.get(name, word))) for name in names]
    return [(f"{name}: {sides[0]} -> {sides[1]}", sides) for name, sides in found]


def _told(case: Case, kernel: Kernel, role: str) -> list[Fact]:
    """Facts of a role; options only of stages that differ in meaning: one release alone writes some."""
    if role not in ("options", "environment"):
        return facts_with_role(kernel, case.specs, role)
    compared = {n for n, stage in case.stages.items() if stage.sameness != "equivalent"}
    readings = {n: r for n, r in kernel.readings.items() if n in compared}
    return facts_with_role(msgspec.structs.replace(kernel, readings=readings), case.specs, role)


def _folded(kernel: Kernel) -> frozenset[str]:
    return frozenset(
        name
        for reading in kernel.readings.values()
        if reading.summary is not None
        for name in reading.summary.folded
    )


def _more_than_attributes(case: Case) -> bool:
    """Whether, in front, only attributes of arguments moved and yet other facts did.

    The front end copies an attribute and does nothing with it, so the code or a constexpr that no file records is
    another one as well. A changed type or an argument compiled in may explain any other fact.
    """
    if not case.at_the_front or _moved(case, "specialization"):
        return False
    moved = _moved(case, "arguments")
    if not moved or any(_type(old) != _type(new) for _, (old, new) in moved):
        return False
    if set(_names(case.before, case)) != set(_names(case.after, case)):
        return False
    roles = {case.specs[change.fact].role for change in case.changes if change.fact in case.specs}
    unexplained = any(change.fact not in case.specs for change in case.changes)
    return unexplained or bool(roles - {"arguments", FINGERPRINT})


def _names(kernel: Kernel, case: Case) -> Iterator[str]:
    for fact in facts_with_role(kernel, case.specs, "arguments")[:1]:
        if isinstance(fact.value, dict):
            yield from fact.value


def _type(text: Scalar) -> str:
    """``i32`` of ``i32, tt.divisibility = 16``."""
    return str(text).partition(", ")[0]


def _versions(case: Case) -> tuple[Value, Value] | None:
    """The versions of the part that wrote the step, where both sides record them; the first pair that differs."""
    old, new = ({fact.id: fact.value for fact in side.facts() if not fact.scope} for side in _sides(case))
    known = [(old[name], new[name]) for name in case.first.version_facts if name in old and name in new]
    return next((pair for pair in known if pair[0] != pair[1]), known[0] if known else None)


def _written_by_others(case: Case) -> bool:
    """Whether one side alone records a version: releases that do not are other ones."""
    old, new = ({fact.id for fact in side.facts()} & set(case.first.version_facts) for side in _sides(case))
    return bool(old) != bool(new)


def _sides(case: Case) -> tuple[Kernel, Kernel]:
    return case.before, case.after


def _entry_name(case: Case, versions: tuple[Value, Value] | None) -> list[str]:
    """The kernel's name, where a step of equal meaning went into the same compiler under another one."""
    names = [kernel.bundle.name for kernel in _sides(case)]
    if names[0] == names[1] or case.at_the_front or (case.first.version_facts and versions is None):
        return []
    return [f"entry name {names[0]} -> {names[1]}"]


def _only(case: Case) -> str:
    """The one part of the canonical form that differs, where the stage digests the form without it."""
    forms = [kernel.readings[case.first.id].without for kernel in _sides(case)]
    return next((name for name in sorted(forms[0]) if forms[0][name] == forms[1].get(name)), "")
