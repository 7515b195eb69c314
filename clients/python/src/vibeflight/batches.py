"""A stream of record batches that can be closed before its end."""

from __future__ import annotations

from collections.abc import Generator
from types import TracebackType

import pyarrow as pa


class Batches:
    """What Result.batches gives: record batches in order, to be read once, by a for loop or by what takes Arrow streams, as DuckDB and Polars do.

    A pyarrow.RecordBatchReader of the same rows, which to_reader gives, keeps the server sending after its close. This one does not.
    """

    def __init__(self, schema: pa.Schema, batches: Generator[pa.RecordBatch, None, None]) -> None:
        self.schema = schema
        self._batches = batches

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the stream to another library, by Arrow's PyCapsule interface."""
        return self.to_reader().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]

    def to_reader(self) -> pa.RecordBatchReader:
        """Returns the remaining rows for functions that require pyarrow's class."""
        return pa.RecordBatchReader.from_batches(self.schema, self)

    def read_all(self) -> pa.Table:
        """Returns the remaining rows as one table."""
        return pa.Table.from_batches(self, self.schema)

    def close(self) -> None:
        """Closes the stream and tells the server to stop."""
        self._batches.close()
