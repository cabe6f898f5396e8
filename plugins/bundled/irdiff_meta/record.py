"""What ``irdiff.json`` adds to an entry: the specialization and the tools, as ``irdiff compile`` recorded them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from irdiff.api import Fact, Scalar
from irdiff_meta.reading import Json, Metadata


def record_facts(metadata: Metadata) -> Iterator[Fact]:
    """The specialization by parameter name, and the versions of LLVM and ptxas; nothing where nothing is recorded."""
    record = metadata.record
    if record is None:
        return
    evidence: dict[str, tuple[int, ...]] = {"": (metadata.record_offset,)}
    signature = _table(record, "signature")
    if signature:
        constexprs, attributes = _table(record, "constexprs"), _table(record, "attributes")
        arguments: dict[str, Scalar] = {
            name: _argument(kind, constexprs.get(name), attributes.get(name))
            for name, kind in signature.items()
        }
        yield Fact(id="meta.specialization", value=arguments, evidence=evidence)
    provenance = _table(record, "provenance")
    for tool in ("llvm", "ptxas"):
        version = provenance.get(tool)
        if isinstance(version, str):
            yield Fact(id=f"meta.{tool}", value=version, evidence=evidence)


def _table(record: Mapping[str, Json], key: str) -> dict[str, Json]:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _argument(kind: Json, constexpr: Json, attributes: Json) -> str:
    """``*fp16, tt.divisibility = 16``, or ``constexpr 64``."""
    if kind == "constexpr":
        return f"constexpr {_text(constexpr)}"
    named = sorted(attributes.items()) if isinstance(attributes, dict) else []
    return ", ".join([_text(kind), *(f"{name} = {_text(value)}" for name, value in named)])


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
