"""Facts of kernels as the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from irdiff.engine.kernels import Kernel
from irdiff.engine.show import scope_order
from irdiff.model.facts import Fact, FactSpec, Value
from irdiff.model.table import FactRow


def rows(kernels: Iterable[Kernel], specs: Mapping[str, FactSpec]) -> Iterator[FactRow]:
    """The rows of kernels in the order given, those of each by fact as the stages declare them, and scope."""
    order = {name: index for index, name in enumerate(specs)}
    for kernel in kernels:
        said = [
            (name, fact)
            for name, reading in kernel.readings.items()
            for fact in (reading.summary.facts if reading.summary is not None else ())
        ]
        said += [(fact.id.partition(".")[0], fact) for fact in kernel.derived]
        said.sort(
            key=lambda pair: (order.get(pair[1].id, len(order)), pair[1].id, scope_order(pair[1].scope))
        )
        for stage, fact in said:
            yield _row(kernel, stage, fact, specs.get(fact.id) or FactSpec(id=fact.id, title="", kind=""))


def _row(kernel: Kernel, stage: str, fact: Fact, spec: FactSpec) -> FactRow:
    number, text = _forms(fact.value, spec.kind)
    return FactRow(
        kernel=kernel.bundle.name,
        path=kernel.bundle.path,
        target=kernel.target,
        entry=kernel.bundle.entry or None,
        stage=stage,
        fact=fact.id,
        scope=fact.scope,
        kind=spec.kind,
        value_number=number,
        value_text=text,
        value_json=msgspec.json.encode(fact.value).decode(),
        unit=spec.unit or None,
        better=spec.better,
        role=spec.role,
        exactness=fact.exactness or spec.exactness,
        evidence=sum(len(places) for places in fact.evidence.values()),
    )


def _forms(value: Value, kind: str) -> tuple[float | None, str | None]:
    """(number, text) of a value, where it has such a form."""
    if isinstance(value, bool):
        return float(value), "true" if value else "false"
    if isinstance(value, (int, float)):
        return float(value), None
    if isinstance(value, str):
        return None, value
    if kind == "tally" and isinstance(value, dict):
        return float(sum(count for count in value.values() if isinstance(count, int))), None
    return None, None
