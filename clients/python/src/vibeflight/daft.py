"""Daft reads tables: a task for each partition.

>>> import vibeflight.daft
>>> frame = vibeflight.daft.read("grpc://127.0.0.1:8815", "world/countries.geojson", bbox=[-10, 35, 20, 45])

The geometry column has the storage of its GeoArrow type, such as List[Struct[x: Float64, y: Float64]], and the extension's name and reference system in the
metadata of its field.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import daft
import pyarrow as pa
from daft.io.pushdowns import Pushdowns
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import RecordBatch
from daft.schema import Schema

from .connection import Connection, plan
from .partitions import Partition, Partitions


def read(server: str | Connection, name: str, **selection: Any) -> daft.DataFrame:
    """Returns a table, or a part of it, as a DataFrame. Nothing but its description is read now.

    server     an address, or a Connection, for TLS
    selection  the arguments of Connection.partitions: columns, where, bbox, …
    """
    return Table(plan(server, name, **selection)).read()


class Table(DataSource):
    """A table as a data source of Daft. Columns that a query does not use are not read; Daft itself evaluates filters and limits."""

    def __init__(self, partitions: Partitions) -> None:
        self._partitions = partitions

    @property
    def name(self) -> str:
        return f"vibeflight {self._partitions.info.name}"

    @property
    def schema(self) -> Schema:
        return Schema.from_pyarrow_schema(_stored(self._partitions.schema))

    async def get_tasks(self, pushdowns: Pushdowns) -> AsyncIterator[DataSourceTask]:
        names, whole = self._partitions.schema.names, True
        if pushdowns.columns is not None:
            # The columns of a filter are not among those that follow it.
            used = {*pushdowns.columns, *pushdowns.filter_required_column_names()}
            names, whole = [name for name in names if name in used] or names[:1], False
        schema = _stored(pa.schema([self._partitions.schema.field(name) for name in names]))
        for partition in self._partitions:
            yield Task(partition if whole else partition.select(names), schema)


class Task(DataSourceTask):
    """A partition as a task of Daft."""

    def __init__(self, partition: Partition, schema: pa.Schema) -> None:
        self._partition = partition
        self._schema = schema

    @property
    def schema(self) -> Schema:
        return Schema.from_pyarrow_schema(self._schema)

    async def read(self) -> AsyncIterator[RecordBatch]:
        batches = self._partition.read()
        try:
            while (batch := await asyncio.to_thread(next, batches, None)) is not None:  # Daft's loop goes on with other tasks
                yield RecordBatch.from_arrow_record_batches([batch.cast(self._schema)], self._schema)
        finally:
            with contextlib.suppress(ValueError):  # the thread is in next: it ends with the batch that it waits for
                batches.close()


def _stored(schema: pa.Schema) -> pa.Schema:
    """The schema in types that Daft has: it has times of 64 bits only."""
    return pa.schema([field.with_type(pa.time64("us")) if pa.types.is_time32(field.type) else field for field in schema])
