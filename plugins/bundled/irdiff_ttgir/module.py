"""Facts of the module: target, attributes, warp specialization."""

from __future__ import annotations

from collections.abc import Mapping

from irdiff.api import Fact, Scalar
from irdiff_mlir import attributes, drift
from irdiff_mlir.model import ItemKind, Operation
from irdiff_mlir.program import Program

_PREFIX = "ttg."
_WARPS = "num_warps("


def facts(program: Program) -> list[Fact]:
    """The facts; no target where the module does not say it."""
    top = next(
        (operation for operation in program.module.operations if operation.name == "builtin.module"), None
    )
    fields = attributes.of(program.text(top.head)) if top else {}
    evidence: dict[str, tuple[int, ...]] = {"": (top.line,)} if top else {}
    found = [Fact(id="ttgir.module", value=_record(fields), evidence=evidence)]
    target = attributes.scalar(fields["ttg.target"]) if "ttg.target" in fields else None
    if isinstance(target, str):
        found.append(Fact(id="ttgir.target", value=target, evidence=evidence))
    specialized = [
        operation for operation in program.module.operations if operation.name == "ttg.warp_specialize"
    ]
    record: dict[str, Scalar] = {}
    for number, operation in enumerate(specialized):
        prefix = f"{number}." if len(specialized) > 1 else ""
        record.update({f"{prefix}{key}": value for key, value in _partitions(program, operation).items()})
    found.append(
        Fact(
            id="ttgir.warp_specialization",
            value=record,
            evidence={"": tuple(operation.line for operation in specialized)} if specialized else {},
        )
    )
    return found


def _record(fields: Mapping[str, str]) -> dict[str, Scalar]:
    defaults = {entry.partition(" = ")[0].strip('"') for entry in drift.RELEASE_DEFAULTS}
    return {
        key.removeprefix(_PREFIX): attributes.scalar(value)
        for key, value in sorted(fields.items())
        if not (key in defaults and value == "false")
    }


def _partitions(program: Program, operation: Operation) -> dict[str, Scalar]:
    """Partitions and their warps; the default partition runs on the warps of the module."""
    between = [
        item.text
        for item in program.module.items
        if item.kind is ItemKind.REGION and item.operation == operation.index and item.text
    ]
    warps = [text.partition(_WARPS)[2].partition(")")[0] for text in between if _WARPS in text]
    record: dict[str, Scalar] = {"partitions": len(between)}
    if warps:
        record["num_warps"] = ", ".join(warps)
    for key, value in sorted(attributes.of(operation.form.text).items()):
        record[key] = attributes.plain(value)
    return record
