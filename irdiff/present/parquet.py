"""Facts as a Parquet file: the one module that imports pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO

import msgspec

from irdiff.errors import UsageError
from irdiff.model.table import COLUMNS, UNKNOWABLE, FactRow

EXTRA = "irdiff[parquet]"


class ParquetTable(AbstractContextManager["ParquetTable"]):
    """Writes rows to an open file, a row group for each part. Raises UsageError where pyarrow is not installed."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet
        except ImportError:
            raise UsageError(
                "Parquet needs pyarrow, which is not installed",
                where="--output",
                hint=f"pip install '{EXTRA}', or write .csv or .jsonl",
            ) from None
        self._pyarrow = pa
        numbers = {"value_number": pa.float64(), "evidence": pa.int64()}
        self._schema = pa.schema(
            [pa.field(name, numbers.get(name, pa.string()), nullable=name in UNKNOWABLE) for name in COLUMNS]
        )
        self._writer = pa.parquet.ParquetWriter(file, self._schema, compression="zstd")

    def write(self, part: Sequence[FactRow]) -> None:
        """One more row group."""
        if not part:
            return
        columns = zip(*map(msgspec.structs.astuple, part), strict=True)
        arrays = [
            self._pyarrow.array(column, field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_table(self._pyarrow.Table.from_arrays(arrays, schema=self._schema))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()
