"""Stores a table on a writable server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, Literal

import pyarrow as pa
from pyarrow import flight

from .channel import Channel, interruptible
from .errors import translated

MESSAGE_BYTES = 8 << 20  # of a batch, about; servers take no message without bounds


Mode = Literal["create", "replace", "append", "create_append"]


def put(channel: Channel, name: str, data: Any, mode: Mode) -> dict[str, Any]:
    """Stores data as an entry and returns its description. The entry does not change before the call returns."""
    rows = reader_of(data)
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"name": name, "mode": mode}, ensure_ascii=False).encode())

    def send() -> dict[str, Any]:
        with translated():
            writer, answers = channel.put(descriptor, rows.schema)
            with writer:
                for batch in pieces(rows):
                    writer.write_batch(batch)
                writer.done_writing()
                answer = answers.read()
        return json.loads(answer.to_pybytes()) if answer else {}

    return interruptible(send)


def reader_of(data: Any) -> pa.RecordBatchReader:
    """Returns the rows of any Arrow data: a Table, a RecordBatchReader, a DataFrame of Polars or pandas, a relation of DuckDB, a GeoDataFrame."""
    geopandas = sys.modules.get("geopandas")
    if geopandas is not None and isinstance(data, geopandas.GeoDataFrame):
        data = data.to_arrow(index=False)
    if not hasattr(data, "__arrow_c_stream__"):
        raise TypeError(f"want a table that speaks Arrow (__arrow_c_stream__), as pyarrow, Polars and pandas have them, not {type(data).__name__}")
    return pa.RecordBatchReader.from_stream(data)


def pieces(batches: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Returns the rows in batches of at most about MESSAGE_BYTES."""
    for batch in batches:
        step = max(1, batch.num_rows * MESSAGE_BYTES // max(batch.nbytes, 1))
        for at in range(0, batch.num_rows, step):
            yield batch.slice(at, step)
