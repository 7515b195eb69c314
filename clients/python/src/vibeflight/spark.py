"""Spark reads tables: a Python data source with a task for each partition, which hands Arrow batches to the JVM.

>>> import vibeflight.spark
>>> spark.dataSource.register(vibeflight.spark.Table)
>>> frame = spark.read.format("vibeflight").option("server", "grpc://127.0.0.1:8815").load("world/countries.geojson")

The geometry column is WKB in a BinaryType. The metadata of its field has the extension's name and reference system.

Spark tells a Python data source no columns, and no filters unless it is configured to; a reader with pushFilters is refused where it is not. So columns and
the box are options, and Spark evaluates filters itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_schema
from pyspark.sql.types import StructField, StructType

from .connection import connect
from .errors import Invalid
from .partitions import Partition, Partitions

_TRUE = ("true", "1", "yes")


class Table(DataSource):
    """The format `vibeflight`. Options:

    server         the address; default grpc://127.0.0.1:8815
    table          the name of the entry; load(name) says it too
    columns        names, with commas between them, or a JSON array
    bbox           xmin,ymin,xmax,ymax
    where          a condition of SQL over the columns
    layer, limit, crs, compression, geometry_encoding, options   as in Connection.table; options is a JSON object, geometry_encoding is wkb or wkt
    retry_seconds  how long a task waits for a server that can't be reached
    tls_ca, tls_insecure, timeout   as in vibeflight.connect; tls_ca is a file that the driver reads

    A schema that is given to spark.read selects the columns that it names, and casts them.
    """

    @classmethod
    def name(cls) -> str:
        return "vibeflight"

    def schema(self) -> StructType:
        return _schema(_plan(dict(self.options)).schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        return Reader(dict(self.options), schema)


class Reader(DataSourceReader):
    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        self._options = options
        self._schema = schema

    def partitions(self) -> list[Task]:
        """Plans a query: its tasks read the version of the file that is there now."""
        plan, names = _plan(self._options), self._schema.fieldNames()
        return [Task(partition if plan.schema.names == names else partition.select(names)) for partition in plan]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        want = to_arrow_schema(self._schema, timezone="UTC")
        for batch in partition.value.read():
            yield batch.cast(want)


class Task(InputPartition):
    def __init__(self, partition: Partition) -> None:
        super().__init__(partition)


def _plan(options: dict[str, str]) -> Partitions:
    """Has the server divide the table that the options of a data source name. Spark spells their names in lower case."""
    o = {key.lower(): value for key, value in options.items()}
    name = o.get("table") or o.get("path")
    if not name:
        raise Invalid("option table is missing: the name of an entry, such as world/countries.geojson")
    selection: dict[str, Any] = {key: o[key] for key in ("layer", "where", "crs", "compression") if key in o}
    selection["geometry_encoding"] = o.get("geometry_encoding", "wkb")
    if "columns" in o:
        text = o["columns"]
        selection["columns"] = json.loads(text) if text.startswith("[") else [column.strip() for column in text.split(",")]
    if "bbox" in o:
        selection["bbox"] = [float(value) for value in o["bbox"].strip("[] ").split(",")]
    if "limit" in o:
        selection["limit"] = int(o["limit"])
    if "options" in o:
        selection["options"] = json.loads(o["options"])
    if "retry_seconds" in o:
        selection["retry_seconds"] = float(o["retry_seconds"])
    timeout = float(o["timeout"]) if "timeout" in o else None
    insecure = o.get("tls_insecure", "").lower() in _TRUE
    credential: Any = {key: o[key] for key in ("user", "password", "token", "tls_client_cert", "tls_client_key") if key in o}
    with connect(o.get("server", "grpc://127.0.0.1:8815"), tls_ca=o.get("tls_ca"), tls_insecure=insecure, timeout=timeout, **credential) as server:
        return server.partitions(name, **selection)


def _schema(schema: pa.Schema) -> StructType:
    """The schema of a table in Spark's types. The metadata of fields is kept."""
    return StructType([StructField(field.name, from_arrow_type(_stored(field.type)), field.nullable, _metadata(field)) for field in schema])


def _metadata(field: pa.Field[Any]) -> dict[str, str]:
    t = field.type
    if isinstance(t, pa.ExtensionType):  # a package has registered it
        return {"ARROW:extension:name": t.extension_name, "ARROW:extension:metadata": t.__arrow_ext_serialize__().decode()}
    return {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}


_STORED: dict[pa.DataType, pa.DataType] = {
    pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20, 0), pa.float16(): pa.float32(),
    pa.date64(): pa.date32(), pa.time32("s"): pa.string(), pa.time32("ms"): pa.string(), pa.time64("us"): pa.string(), pa.time64("ns"): pa.string(),
    pa.string_view(): pa.string(), pa.binary_view(): pa.binary(),
}  # fmt: skip


def _stored(t: pa.DataType) -> pa.DataType:
    """The type that Spark has for an Arrow type: it has no unsigned integers, and its TIME only where it is enabled."""
    if isinstance(t, pa.BaseExtensionType):
        return _stored(t.storage_type)
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return pa.list_(t.value_field.with_type(_stored(t.value_type)))
    if pa.types.is_struct(t):
        return pa.struct([field.with_type(_stored(field.type)) for field in t])
    return _STORED.get(t, t)
