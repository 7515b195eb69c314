"""A connection to a server: its catalog, its tables, its actions."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, SupportsFloat, SupportsIndex

from pyarrow import flight

from .channel import Channel
from .exchange import Parsed, file_of
from .info import Info, info_of
from .result import Settings
from .selection import Selection
from .sql import Query
from .ticket import Compression, Coords, GeometryEncoding, of_layer, ticket
from .upload import Mode, put

MOST_WORKERS = 16  # a table has no more endpoints


def connect(
    server: str = "grpc://127.0.0.1:8815",
    *,
    workers: int | None = None,
    progress: bool | None = None,
    timeout: float | None = None,
    tls_ca: str | os.PathLike[str] | None = None,
    tls_insecure: bool = False,
) -> Connection:
    """A connection to a server. Nothing is sent yet: the first call notices if nobody is there.

    server        host:port, grpc://host:port, grpc+tls://host:port, grpc+unix:///path; the port is 8815 unless given
    workers       endpoints of a table that are read at the same time; as many as processors, 4 at least and 16 at most, unless given
    progress      a bar of tqdm's for each transfer; None: on a terminal, for transfers that take long
    timeout       seconds that a call may take, all its rows included; None: any time
    tls_ca        a PEM file with the certificates to trust instead of the system's
    tls_insecure  takes any certificate: for a try on your own machine

    A string that is no address is a ValueError.
    """
    if workers is None:
        workers = min(max(os.cpu_count() or 1, 4), MOST_WORKERS)
    if workers < 1:
        raise ValueError(f"workers: want 1 or more, have {workers}")
    roots = None if tls_ca is None else pathlib.Path(tls_ca).read_bytes()
    return Connection(Channel(server, tls_ca=roots, tls_insecure=tls_insecure, timeout=timeout), Settings(workers, progress))


class Connection:
    """What connect gives. Several threads may use it. Close it, or use it in a with statement."""

    def __init__(self, channel: Channel, settings: Settings) -> None:
        self._channel = channel
        self._settings = settings

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<vibeflight.Connection to {self.location}>"

    @property
    def location(self) -> str:
        """The server's address, as pyarrow takes it."""
        return self._channel.location

    @property
    def client(self) -> flight.FlightClient:
        """pyarrow's client, for what has no method here."""
        return self._channel.client()

    def close(self) -> None:
        """Ends the connection. What is still fetched ends with an error."""
        self._channel.close()

    def list(self, prefix: str = "", format: str = "") -> list[Info]:
        """The entries of the catalog, by name: those whose names begin with prefix, and whose format is format. No file is parsed."""
        criteria = json.dumps({key: value for key, value in (("prefix", prefix), ("format", format)) if value}, ensure_ascii=False)
        answers = self._channel.ask(lambda client, options: [*client.list_flights(criteria.encode(), options)])  # type: ignore[arg-type]  # it wants bytes
        return [info_of(b"/".join(answer.descriptor.path or ()).decode(), answer) for answer in answers]

    def table(
        self,
        name: str,
        *,
        layer: str | None = None,
        columns: Iterable[str] | str | None = None,
        bbox: Iterable[SupportsFloat] | None = None,
        rows: Sequence[SupportsIndex] | None = None,
        limit: SupportsIndex | None = None,
        options: Mapping[str, Any] | None = None,
        geometry_encoding: GeometryEncoding | None = None,
        coords: Coords | None = None,
        compression: Compression | None = None,
        crs: str | None = None,
        workers: int | None = None,
        progress: bool | None = None,
    ) -> Selection:
        """An entry, or a part of it. Nothing is asked of the server before the rows, or what is said of them, are called for.

        name               as the catalog lists it; of a file with layers, the first one
        layer              of a file that has some, by its own name
        columns            these, in this order; geometry may be left out
        bbox               xmin, ymin, xmax, ymax, closed, in the units of the table's reference system: rows whose geometry's bounding box meets it
        rows               start and end of a half-open range of the file's rows, clipped to what there is
        limit              at most so many rows; rows come first, then bbox, then limit
        options            of the format, as {"on_error": "skip"}: its page names them
        geometry_encoding  native, wkb or wkt
        coords             separated or interleaved, of native geometries
        compression        of the transfer: none, lz4 or zstd
        crs                what the reference system is called: "EPSG:4326" in place of OGC:CRS84, with the same coordinates
        workers, progress  for this table, other than the connection's
        """
        asked = ticket(
            name, layer=layer, columns=columns, bbox=bbox, rows=rows, limit=limit, options=options,
            geometry_encoding=geometry_encoding, coords=coords, compression=compression, crs=crs,
        )  # fmt: skip
        return Selection(self._channel, self._settings_for(workers, progress), asked)

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = (), *, progress: bool | None = None) -> Query:
        """The rows of a query over the catalog's entries: `SELECT name FROM parcels WHERE owner = ?`. It runs when its rows are called for.

        parameters  values for its `?`, in order, or for `$1`, `$2`; or a dict for `$name`: never write other people's text into a query
        """
        if isinstance(parameters, (str, bytes)) or not isinstance(parameters, (Sequence, Mapping)):
            raise TypeError(f"parameters: want a sequence of values, or a dict of them by name, not {parameters!r}")
        return Query(self._channel, self._settings_for(None, progress), query, parameters)

    def parse(
        self,
        source: str | os.PathLike[str] | bytes | bytearray | memoryview,
        format: str | None = None,
        *,
        name: str = "",
        layer: str | None = None,
        columns: Iterable[str] | str | None = None,
        bbox: Iterable[SupportsFloat] | None = None,
        limit: SupportsIndex | None = None,
        options: Mapping[str, Any] | None = None,
        geometry_encoding: GeometryEncoding | None = None,
        coords: Coords | None = None,
        compression: Compression | None = None,
        crs: str | None = None,
        progress: bool | None = None,
    ) -> Parsed:
        """The table of a file of yours, or of bytes, by way of the server, which keeps nothing of it. The file is sent when the rows are called for.

        format  as `geojson`; left out, the extension of the file's name says it
        name    what errors call the file, other than by its own name, which bytes do not have

        The rest is as in table().
        """
        file = file_of(source, name)
        asked = ticket(
            file.name, columns=columns, bbox=bbox, limit=limit, options=options,
            geometry_encoding=geometry_encoding, coords=coords, compression=compression, crs=crs,
        )  # fmt: skip
        more = {"name": file.name or None, "format": format, "layer": layer, "size": file.size}
        command = {field: value for field, value in {**vars(asked), **more}.items() if value is not None}
        return Parsed(self._channel, self._settings_for(None, progress), file, command)

    def put(self, name: str, data: Any, *, mode: Mode = "create") -> dict[str, Any]:
        """Stores a table as an entry, on a server that is started with --writable; gives what the server says of it.

        data  whatever speaks Arrow: a pyarrow Table or RecordBatchReader, a DataFrame of Polars or pandas, a relation of DuckDB, a GeoDataFrame
        mode  create: a new entry, AlreadyExists if there is one; replace; append: to one that there is; create_append

        The entry is there when the last row is stored, and not before. A server that is read-only is Unsupported.
        """
        return put(self._channel, name, data, mode)

    def drop(self, name: str) -> None:
        """Removes an entry that put has stored."""
        self._act("drop", ticket(name).encode())

    def describe(self, name: str, *, layer: str | None = None, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All that is known of an entry, its columns among it. It is parsed if need be."""
        asked = ticket(name, layer=layer, options=options)
        description: dict[str, Any] = self._act("describe", asked.encode())
        return description

    def refresh(self) -> int:
        """Has the server look at its folders now; gives how many entries there are."""
        return int(self._act("refresh")["entries"])

    def evict(self, name: str, *, layer: str | None = None) -> int:
        """Has the server forget the parsed tables of an entry, in memory and on disk; gives how many there were."""
        whole = name if layer is None else of_layer(name, layer)
        return int(self._act("evict", ticket(whole).encode())["evicted"])

    def stats(self) -> dict[str, Any]:
        """The server's numbers since it started."""
        numbers: dict[str, Any] = self._act("stats")
        return numbers

    def _act(self, kind: str, body: bytes = b"") -> Any:
        (answer,) = self._channel.ask(lambda client, options: [*client.do_action(flight.Action(kind, body), options)])
        return json.loads(answer.body.to_pybytes())

    def _settings_for(self, workers: int | None, progress: bool | None) -> Settings:
        if workers is not None and workers < 1:
            raise ValueError(f"workers: want 1 or more, have {workers}")
        return Settings(workers or self._settings.workers, self._settings.progress if progress is None else progress)
