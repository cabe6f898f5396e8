"""What tells specializations of one kernel apart in every run: what they were compiled for, as far as it is recorded.

Places, cache keys and the order in an input are no part of it: they are others in the next run. Only facts that a
baseline keeps too are: a kernel is the same one read from its artifacts and from a record of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from irdiff.engine.kernels import Kernel
from irdiff.model.facts import Fact, FactSpec

ROLES = ("options", "specialization", "arguments")
"""Roles of the facts that describe a specialization; the target has a field of its own wherever this is used."""


def described(kernel: Kernel, specs: Mapping[str, FactSpec]) -> str:
    """A digest of the options, types, attributes and constexprs; empty where nothing of them is recorded."""
    return _digest(fact for fact in _whole(kernel, specs) if specs[fact.id].role in ROLES)


def measured(kernel: Kernel, specs: Mapping[str, FactSpec]) -> str:
    """A digest of the exact facts that have a direction; empty where none is known.

    They show constexprs that nothing records: tile sizes move registers, shared memory and the size of the code.
    """
    return _digest(
        fact
        for fact in _whole(kernel, specs)
        if specs[fact.id].better != "neutral" and (fact.exactness or specs[fact.id].exactness) == "exact"
    )


def identity(kernel: Kernel, specs: Mapping[str, FactSpec]) -> str:
    """Both in one; empty where the kernel was not read in full, or neither is known."""
    return f"{described(kernel, specs)} {measured(kernel, specs)}".strip() if kernel.whole else ""


def _whole(kernel: Kernel, specs: Mapping[str, FactSpec]) -> Iterable[Fact]:
    """Facts of the whole kernel that are made wherever it is read."""
    return (
        fact for fact in kernel.facts() if not fact.scope and fact.id in specs and not specs[fact.id].opt_in
    )


def _digest(facts: Iterable[Fact]) -> str:
    texts = []
    for fact in facts:
        items = fact.value.items() if isinstance(fact.value, dict) else [("", fact.value)]
        texts += [f"{fact.id} {name}={item}" for name, item in items]
    joined = "\0".join(sorted(texts)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:32] if texts else ""
