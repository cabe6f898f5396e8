"""JSON encoding, decoding and JSON Schema of reports, all from the types."""

from __future__ import annotations

from typing import Any

import msgspec

from irdiff.errors import InputError
from irdiff.model.report import REPORT_SCHEMA, Report, Show


def encode(value: Report | Show) -> bytes:
    """Indented JSON with a final newline; equal values give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def decode_report(data: bytes, *, where: str) -> Report:
    """A saved report. Raises InputError when it is not one, or of another major schema version."""
    try:
        report = msgspec.json.decode(data, type=Report)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(
            f"not a report of irdiff: {error}", where=where, hint="make one with irdiff compare --format json"
        ) from None
    if report.schema != REPORT_SCHEMA:
        raise InputError(
            f"has schema {report.schema}; this irdiff reads {REPORT_SCHEMA}",
            where=where,
            hint="use the irdiff release that wrote it",
        )
    return report


def schema(kind: type[Report | Show]) -> dict[str, Any]:  # Any: a JSON Schema is open-ended JSON
    """The JSON Schema (2020-12) of one of the two outputs."""
    made = msgspec.json.schema(kind)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": kind.__name__, **made}


def schema_text(kind: type[Report | Show]) -> bytes:
    """The published schema file, byte for byte."""
    return msgspec.json.format(msgspec.json.encode(schema(kind), order="deterministic"), indent=2) + b"\n"
