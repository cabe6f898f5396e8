"""What specializing on each argument buys: entries of one kernel that differ in it alone, and their machine code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from irdiff.engine.kernels import Kernel, facts_with_role
from irdiff.model.facts import FactSpec
from irdiff.model.report import Specialization

FINGERPRINT = "fingerprint"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one entry."""

    arguments: dict[str, str]
    """Name to type and attributes, and what a record of the specialization adds; as the earliest stage has it."""
    options: str
    code: str
    """Fingerprint of the machine code."""


def specializations(kernels: Sequence[Kernel], specs: Mapping[str, FactSpec]) -> tuple[Specialization, ...]:
    """Each argument in which entries of one kernel differ, by kernel and argument.

    Entries are compared that have one name, target and set of options, and the same of every other argument.
    Constexprs are not always recorded, so there may be several entries for one value: specializing buys nothing where
    each value of the argument has the same machine codes. Entries without known arguments or without a fingerprint
    take no part.
    """
    by_name: dict[tuple[str, str], list[Entry]] = {}
    for kernel in kernels:
        entry = _entry(kernel, specs)
        if entry is not None:
            by_name.setdefault((kernel.bundle.name, kernel.target or ""), []).append(entry)
    return tuple(
        found
        for (name, target), entries in sorted(by_name.items(), key=lambda item: item[0])
        for found in _of_one_kernel(name, target, entries)
    )


def _entry(kernel: Kernel, specs: Mapping[str, FactSpec]) -> Entry | None:
    code = [fact.value for fact in facts_with_role(kernel, specs, FINGERPRINT) if isinstance(fact.value, str)]
    arguments = [fact.value for fact in facts_with_role(kernel, specs, "arguments")]
    if not code or not arguments or not isinstance(arguments[0], dict):
        return None
    described = {name: str(value) for name, value in arguments[0].items()}
    for fact in facts_with_role(kernel, specs, "specialization"):
        for name, value in fact.value.items() if isinstance(fact.value, dict) else ():
            described.setdefault(name, str(value))
    options = [repr(fact.value) for fact in facts_with_role(kernel, specs, "options")]
    return Entry(arguments=described, options=" ".join(options), code=code[0])


def _of_one_kernel(name: str, target: str, entries: Sequence[Entry]) -> Iterator[Specialization]:
    for argument in sorted({argument for entry in entries for argument in entry.arguments}):
        groups: dict[tuple[object, ...], dict[str, list[str]]] = {}
        for entry in entries:
            others = tuple(sorted(item for item in entry.arguments.items() if item[0] != argument))
            value = entry.arguments.get(argument, "")
            groups.setdefault((entry.options, others), {}).setdefault(value, []).append(entry.code)
        told = [group for group in groups.values() if len(group) > 1]
        if told:
            yield Specialization(
                kernel=name,
                target=target or None,
                argument=argument,
                values=tuple(sorted({value for group in told for value in group})),
                entries=sum(len(codes) for group in told for codes in group.values()),
                codes=len({code for group in told for codes in group.values() for code in codes}),
                buys_nothing=all(len({frozenset(codes) for codes in group.values()}) == 1 for group in told),
            )
