"""Rows that are fetched on demand, as objects of several libraries."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa

from .batches import Batches
from .channel import Channel, Part
from .columns import is_geometry, nullable_types
from .endpoints import Open, Pull
from .errors import FileChanged
from .info import Info
from .progress import watched
from .ticket import GeometryEncoding

if TYPE_CHECKING:
    import duckdb
    import geopandas
    import lonboard
    import pandas
    import polars

T = TypeVar("T")

WAITING = 16  # maximum number of received batches that wait for the caller, by default of 65,536 rows each


class Answer(NamedTuple):
    """Where the rows are. schema is theirs; open gives the stream of a part."""

    info: Info
    schema: pa.Schema
    parts: list[Part]
    open: Open


class Settings(NamedTuple):
    """How rows are fetched: the number of parallel endpoints, and whether to show a bar."""

    workers: int
    progress: bool | None


class Result(ABC):
    """Rows that can be converted to objects of several libraries. Each call fetches the rows; nothing is requested earlier.

    A table that is large comes from several endpoints side by side, always in order. Errors are those of vibeflight.Error.
    """

    def __init__(self, channel: Channel, settings: Settings) -> None:
        self._channel = channel
        self._settings = settings

    @abstractmethod
    def _ask(self, again: bool) -> Answer:
        """Where the rows are. again: what was known is out of date."""

    @abstractmethod
    def _with_geometry(self, *fit: GeometryEncoding) -> Result:
        """The same rows with a geometry encoding out of fit: the one that was asked for, or else the first."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The schema of the rows, to the last metadata key."""

    def arrow(self) -> pa.Table:
        """Returns all rows as one table in memory."""

        def fetch(again: bool) -> pa.Table:
            answer = self._ask(again)
            return pa.Table.from_batches(self._stream(answer, waiting=None), answer.schema)

        return _restarted(fetch)

    def batches(self, *, waiting: int = WAITING) -> Batches:
        """Returns the rows as a stream of record batches, in order. It can be read once.

        waiting  how many batches may be here before they are asked for, over all endpoints; it bounds what the stream holds in memory

        Close it, or use it in a with statement, to leave before its end: the server is told to stop.
        A file that changes is read from its new start if no batch was handed out; else it is FileChanged.
        """
        if waiting < 1:
            raise ValueError(f"waiting: want 1 or more, have {waiting}")
        answer = _restarted(self._ask)

        def begin(again: bool) -> tuple[Generator[pa.RecordBatch, None, None], pa.RecordBatch | None]:
            now = self._ask(again) if again else answer
            if not now.schema.equals(answer.schema, check_metadata=True):
                raise FileChanged(f"{answer.info.name} changed, and has other columns now: ask for it again")
            batches = self._stream(now, waiting)
            return batches, next(batches, None)

        def stream() -> Generator[pa.RecordBatch, None, None]:
            batches, batch = _restarted(begin)
            with contextlib.closing(batches):
                while batch is not None:
                    yield batch
                    batch = next(batches, None)

        return Batches(answer.schema, stream())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as a stream for another library, by Arrow's PyCapsule interface; geometries as WKB unless another encoding was asked for.

        `duckdb.sql("SELECT * FROM rows")`, `polars.DataFrame(rows)`, `pyarrow.table(rows)`, `lonboard.viz(rows)` and SedonaDB's
        `create_data_frame(rows)` take them so. What pulls the stream gets rows while others are on their way, and few wait here.
        """
        return self._streamed().batches().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema of that stream."""
        return self._streamed().schema.__arrow_c_schema__()

    def _streamed(self) -> Result:
        return self._with_geometry("wkb", "wkt", "native")

    def _stream(self, answer: Answer, waiting: int | None) -> Generator[pa.RecordBatch, None, None]:
        pull = Pull(answer.parts, answer.open, workers=self._settings.workers, waiting=waiting)
        return watched(pull.batches(), answer.info.name, answer.info.rows, self._settings.progress)

    def pandas(self, **kwargs: Any) -> pandas.DataFrame:
        """Returns all rows as a DataFrame. Geometries are WKB unless another encoding was requested.

        Integers and booleans keep their values where some are missing: such columns get pandas' own nullable types, Int64 and the like. kwargs go to
        pyarrow.Table.to_pandas.
        """
        table = self._with_geometry("wkb", "wkt", "native").arrow()
        frame: pandas.DataFrame = table.to_pandas(**{"types_mapper": _nullable(table), **kwargs})
        return frame

    def geopandas(self, **kwargs: Any) -> geopandas.GeoDataFrame:
        """Returns all rows as a GeoDataFrame with its CRS. Missing values are as in pandas(). kwargs go to the conversion of the attributes.

        Rows without a geometry column are a TypeError: pandas() takes them.
        """
        import geopandas

        fit = self._with_geometry("native", "wkb")
        table = fit.arrow()
        if not any(is_geometry(field) for field in table.schema):
            raise TypeError("there is no geometry column among these: pandas() takes such rows")
        return geopandas.GeoDataFrame.from_arrow(table, to_pandas_kwargs={"types_mapper": _nullable(table), **kwargs})

    def polars(self) -> polars.DataFrame:
        """Returns all rows as a Polars DataFrame. Geometries are WKB unless another encoding was requested."""
        import polars

        frame = polars.from_arrow(self._with_geometry("wkb", "wkt", "native").arrow())
        assert isinstance(frame, polars.DataFrame)  # of a table, not of an array
        return frame

    def duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Returns all rows as a DuckDB relation in memory, in connection or the default one. Geometries have the type GEOMETRY."""
        import duckdb

        table = self._with_geometry("wkb").arrow()
        return (connection or duckdb).from_arrow(table)

    def lonboard(self, **kwargs: Any) -> lonboard.Map:
        """Returns all rows as a map of lonboard with a layer for each kind of geometry, which are its layers. kwargs go to lonboard.viz.

        Rows without a geometry column are a TypeError. `lonboard.PolygonLayer(rows)` and the other layers take rows as they are.
        """
        import lonboard

        rows = self._with_geometry("wkb", "native")
        if not any(is_geometry(field) for field in rows.schema):
            raise TypeError("there is no geometry column among these: a map can't show such rows")
        return lonboard.viz(rows, **kwargs)


def _restarted(fetch: Callable[[bool], T]) -> T:
    """What fetch(False) gives, or fetch(True) where the file has changed in between."""
    try:
        return fetch(False)
    except FileChanged:
        return fetch(True)


def _nullable(table: pa.Table) -> Callable[[pa.DataType], Any]:
    """What makes pandas keep the values of integer and boolean columns in which some are missing: it would turn them to floats and objects."""
    # Types of geoarrow-pyarrow, where it is imported, have no hash.
    missing = {column.type for column in table.columns if column.null_count and not isinstance(column.type, pa.BaseExtensionType)}
    found = {t: dtype for t, dtype in nullable_types().items() if t in missing}
    return lambda t: None if isinstance(t, pa.BaseExtensionType) else found.get(t)
