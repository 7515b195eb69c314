"""Ray Data reads tables: a read task for each partition.

>>> import vibeflight.ray
>>> rows = vibeflight.ray.read("grpc://127.0.0.1:8815", "world/countries.geojson", columns=["name", "pop_est"])

Blocks are Arrow tables as the server sends them. The geometry column has its GeoArrow type as storage, and the extension's name and reference system in the
metadata of its field.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from .connection import Connection, plan
from .partitions import Partition, Partitions


def read(
    server: str | Connection,
    name: str,
    *,
    concurrency: int | None = None,
    ray_remote_args: dict[str, Any] | None = None,
    **selection: Any,
) -> ray.data.Dataset:
    """Returns a table, or a part of it, as a dataset. Nothing but its description is read now.

    server                        an address, or a Connection, for TLS
    concurrency, ray_remote_args  as in ray.data.read_datasource
    selection                     the arguments of Connection.partitions: columns, where, bbox, …
    """
    source = Table(plan(server, name, **selection))
    return ray.data.read_datasource(source, concurrency=concurrency, ray_remote_args=ray_remote_args)


class Table(Datasource):
    """A table as a datasource of Ray, for ray.data.read_datasource. Columns that a dataset does not use are not read."""

    def __init__(self, partitions: Partitions) -> None:
        super().__init__()
        self._partitions = partitions
        self._projection_map: dict[str, str] | None = None  # Ray's apply_projection sets it in a copy

    def get_name(self) -> str:
        return f"vibeflight {self._partitions.info.name}"

    def supports_projection_pushdown(self) -> bool:
        return True

    def estimate_inmemory_data_size(self) -> int | None:
        sizes = [_bytes(partition, self._partitions) for partition in self._partitions]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def get_read_tasks(self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None) -> list[ReadTask]:
        """Returns one task for each partition, whatever parallelism is: the server has divided the table."""
        columns = None if self._projection_map is None else list(self._projection_map)
        schema = self._partitions.schema
        if columns is not None:
            schema = pa.schema([schema.field(column) for column in columns])
        tasks = []
        for partition in self._partitions:
            metadata = _made(
                BlockMetadata, num_rows=partition.rows, size_bytes=_bytes(partition, self._partitions), schema=schema, input_files=None, exec_stats=None
            )
            read_fn = functools.partial(_blocks, partition, columns)
            tasks.append(_made(ReadTask, read_fn=read_fn, metadata=metadata, schema=schema, per_task_row_limit=per_task_row_limit))
        return tasks


def _blocks(partition: Partition, columns: list[str] | None) -> Iterator[pa.Table]:
    """The rows of a partition as tables. Ray joins small ones."""
    if columns:
        partition = partition.select(columns)
    for batch in partition.read():
        table = pa.Table.from_batches([batch])
        yield table.select(columns) if columns == [] else table  # a ticket has one column or more


def _bytes(partition: Partition, partitions: Partitions) -> int | None:
    """About how much memory a partition takes with all columns of the plan."""
    per_row = partitions.bytes_per_row
    return None if per_row is None or partition.rows is None else int(per_row * partition.rows)


def _made(kind: Any, **arguments: Any) -> Any:
    """Calls a class of Ray with those arguments that it takes: its versions differ in them."""
    known = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in arguments.items() if name in known})
