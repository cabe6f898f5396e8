"""Tables of facts as text: CSV, and JSON objects on lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

import msgspec

from irdiff.model.table import COLUMNS, FactRow


def csv_header() -> bytes:
    """The first line of a CSV file (RFC 4180, but for line feeds)."""
    return _csv([COLUMNS])


def csv_lines(part: Iterable[FactRow]) -> bytes:
    """Rows as CSV; what is unknown is empty."""
    return _csv([_cell(value) for value in msgspec.structs.astuple(row)] for row in part)


def json_lines(part: Iterable[FactRow]) -> bytes:
    """Rows as JSON objects, one on a line."""
    return b"".join(msgspec.json.encode(row) + b"\n" for row in part)


def _csv(lines: Iterable[Iterable[str]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: object) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
