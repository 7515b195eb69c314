"""Dask reads tables: a partition of the frame for each partition of the table.

>>> import vibeflight.dask
>>> frame = vibeflight.dask.read("grpc://127.0.0.1:8815", "world/countries.geojson")

With a geometry column, that is a GeoDataFrame of dask-geopandas with spatial_partitions; else a DataFrame of Dask. Its index is the number of the row.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import dask.dataframe as dd
import pandas
import pyarrow as pa

from .columns import is_geometry, nullable_types
from .connection import Connection, plan
from .partitions import Partition, Partitions
from .ticket import fitting

if TYPE_CHECKING:
    import geopandas


def read(server: str | Connection, name: str, **selection: Any) -> Any:
    """Returns a table, or a part of it, as a frame. Nothing but its description is read now.

    server     an address, or a Connection, for TLS
    selection  the arguments of Connection.partitions: columns, where, bbox, …

    Columns that a computation does not use are not read. Integers and booleans have pandas' nullable types, Int64 and the like, in every
    partition; dates, lists and bytes have those of Arrow.
    """
    selection["geometry_encoding"] = fitting(selection.get("geometry_encoding"), ("native", "wkb"))
    partitions = plan(server, name, **selection)
    if any(is_geometry(field) for field in partitions.schema):
        import dask_geopandas  # noqa: F401  # makes frames of GeoPandas its own
    starts, divisions = _index(partitions)
    meta = _frame(partitions.schema.empty_table(), 0)
    frame = dd.from_map(_read, partitions, starts, meta=meta, divisions=divisions, args=[partitions.schema], label=f"vibeflight-{name}")
    boxes = _boxes(partitions, meta)
    if boxes is not None:
        frame.spatial_partitions = boxes
    return frame


def _read(partition: Partition, start: int, schema: pa.Schema, columns: list[str] | None = None) -> pandas.DataFrame:
    """The frame of a partition, whose first row has the number start."""
    if columns is not None:
        partition = partition.select(columns or schema.names[:1])
        schema = pa.schema([schema.field(column) for column in columns or schema.names[:1]])
    frame = _frame(pa.Table.from_batches(partition.read(), schema), start)
    return frame if columns != [] else frame[[]]


def _frame(table: pa.Table, start: int) -> pandas.DataFrame:
    """A GeoDataFrame where there is a geometry column. Types depend on the schema alone."""
    kwargs: dict[str, Any] = {"types_mapper": _pandas_type}
    frame: pandas.DataFrame
    if any(is_geometry(field) for field in table.schema):
        import geopandas

        frame = geopandas.GeoDataFrame.from_arrow(table, to_pandas_kwargs=kwargs)
    else:
        frame = table.to_pandas(**kwargs)
    frame.index = pandas.RangeIndex(start, start + len(frame))
    return frame


def _index(partitions: Partitions) -> tuple[list[int], tuple[int, ...] | None]:
    """The number of each partition's first row, and Dask's divisions: the first row of each and the last of all. Without all rows they are 0 and unknown."""
    rows = [partition.rows for partition in partitions]
    if not all(rows):
        return [0] * len(rows), None
    starts = list(itertools.accumulate((n or 0 for n in rows), initial=0))
    return starts[:-1], (*starts[:-1], starts[-1] - 1)


def _boxes(partitions: Partitions, meta: pandas.DataFrame) -> geopandas.GeoSeries | None:
    """The boxes of the partitions, if all are known."""
    boxes = [partition.bbox for partition in partitions]
    if not any(is_geometry(field) for field in partitions.schema) or None in boxes:
        return None
    import geopandas
    import shapely

    return geopandas.GeoSeries(shapely.box(*zip(*boxes, strict=True)), crs=meta.crs)


def _pandas_type(t: pa.DataType) -> Any:
    """The dtype of a column. None leaves it to pyarrow: floats, times with a date, texts. Dask takes objects for texts, so no column is one of objects."""
    if t in nullable_types() or pa.types.is_floating(t) or pa.types.is_timestamp(t) or pa.types.is_string(t) or pa.types.is_large_string(t):
        return nullable_types().get(t)
    return pandas.ArrowDtype(t)
