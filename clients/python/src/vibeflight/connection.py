"""A connection to a server: its catalog, its tables, its actions."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, SupportsFloat, SupportsIndex

from pyarrow import flight

from .channel import Channel
from .display import MOST_TABLES, failure_html, tables_html
from .errors import Error
from .exchange import Parsed, file_of
from .info import Info, info_of
from .login import login
from .partitions import PATIENCE_SECONDS, Partitions
from .result import Settings
from .selection import Selection
from .sql import Query
from .ticket import Compression, Coords, GeometryEncoding, of_layer, ticket
from .upload import Mode, put

MOST_WORKERS = 16  # default; only datasets have more endpoints


def connect(
    server: str = "grpc://127.0.0.1:8815",
    *,
    workers: int | None = None,
    progress: bool | None = None,
    timeout: float | None = None,
    tls_ca: str | os.PathLike[str] | None = None,
    tls_insecure: bool = False,
    user: str | None = None,
    password: str | None = None,
    token: str | None = None,
    tls_client_cert: str | os.PathLike[str] | None = None,
    tls_client_key: str | os.PathLike[str] | None = None,
) -> Connection:
    """Returns a connection to a server. It is opened by the first call, which raises an error if no server answers.

    server        host:port, grpc://host:port, grpc+tls://host:port, grpc+unix:///path; the port is 8815 unless given
    workers       number of endpoints of a table that are read in parallel; default: the number of processors, from 4 to 16
    progress      whether to show a tqdm bar for each transfer; None: on a terminal, for long transfers
    timeout       maximum duration of a call with all its rows, in seconds; None: no limit
    tls_ca        a PEM file with the certificates to trust instead of the system's
    tls_insecure  accept any certificate; only for tests on your own machine
    user          logs in with this name and a password; each call sends them
    password      of the user
    token         logs in with an API token or an access token of the server's OIDC issuer
    tls_client_cert, tls_client_key  PEM files with a client certificate and its key, which log in too

    An invalid address raises a ValueError. A wrong credential raises Unauthenticated with the first call. Partitions have the credential, so that
    the workers of a distributed engine log in.
    """
    workers = workers_of(workers)
    roots = None if tls_ca is None else pathlib.Path(tls_ca).read_bytes()
    credential = login(user, password, token, tls_client_cert, tls_client_key)
    return Connection(Channel(server, tls_ca=roots, tls_insecure=tls_insecure, timeout=timeout, login=credential), Settings(workers, progress))


def workers_of(given: int | None) -> int:
    """The number of endpoints that are read in parallel: what was given, or the default."""
    if given is None:
        return min(max(os.cpu_count() or 1, 4), MOST_WORKERS)
    if given < 1:
        raise ValueError(f"workers: want 1 or more, have {given}")
    return given


def plan(server: str | Connection, name: str, **selection: Any) -> Partitions:
    """Returns Connection.partitions of a connection, or of the server at an address."""
    if isinstance(server, Connection):
        return server.partitions(name, **selection)
    with connect(server) as connection:
        return connection.partitions(name, **selection)


class Connection:
    """A connection to a server, made by connect. It is thread-safe. Close it, or use it in a with statement."""

    def __init__(self, channel: Channel, settings: Settings) -> None:
        self._channel = channel
        self._settings = settings

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<vibeflight.Connection to {self.location}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the entries of the catalog. No file is parsed."""
        try:
            return tables_html(repr(self), self._entries(MOST_TABLES + 1))
        except Error as e:
            return failure_html(repr(self), e)

    @property
    def location(self) -> str:
        """The server's address, as pyarrow takes it."""
        return self._channel.location

    @property
    def client(self) -> flight.FlightClient:
        """The pyarrow client, for calls that have no method here."""
        return self._channel.client()

    def close(self) -> None:
        """Closes the connection. Transfers in progress end with an error."""
        self._channel.close()

    def list(self, prefix: str = "", format: str = "") -> list[Info]:
        """Lists the entries of the catalog, sorted by name, optionally only those with a prefix or of a format. No file is parsed."""
        return [*self._entries(None, prefix, format)]

    def _entries(self, most: int | None, prefix: str = "", format: str = "") -> Sequence[Info]:
        """The first entries of a listing; most None: all."""
        criteria = json.dumps({key: value for key, value in (("prefix", prefix), ("format", format)) if value}, ensure_ascii=False).encode()
        answers = self._channel.ask(lambda client, options: [*islice(client.list_flights(criteria, options), most)])  # type: ignore[arg-type]  # it wants bytes
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
        """Selects an entry, or a part of it. A request is sent only when its rows or their description are needed.

        name               the name in the catalog; for a file with layers, it selects the first one
        layer              the name of a layer, for a file that has layers
        columns            names of the columns to return, in this order; geometry may be omitted
        bbox               xmin, ymin, xmax, ymax in the table's CRS, or in crs, bounds included; selects rows whose bounding box intersects it
        rows               start and end of a half-open range of the file's rows, clipped to the existing rows
        limit              maximum number of rows, applied after rows and bbox
        options            options of the format, such as {"on_error": "skip"}; see the page of the format
        geometry_encoding  native, wkb or wkt
        coords             separated or interleaved, for native geometries
        compression        compression of the transfer: none, lz4 or zstd
        crs                the CRS of the returned geometries, such as "EPSG:3857"; the server reprojects them, with x as the easting or longitude
        workers, progress  override the settings of the connection for this table
        """
        asked = ticket(
            name, layer=layer, columns=columns, bbox=bbox, rows=rows, limit=limit, options=options,
            geometry_encoding=geometry_encoding, coords=coords, compression=compression, crs=crs,
        )  # fmt: skip
        return Selection(self._channel, self._settings_for(workers, progress), asked)

    def partitions(self, name: str, *, retry_seconds: float = PATIENCE_SECONDS, **selection: Any) -> Partitions:
        """Divides an entry, or a part of it, into tasks for a distributed engine. Their rows, in order, are those of table(name, **selection).

        retry_seconds  how long a task waits for a server that can't be reached
        selection      columns, bbox and the other arguments of table()

        All tasks read the version of the file that is there now, or raise FileChanged.
        """
        return self.table(name, **selection).partitions(retry_seconds=retry_seconds)

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = (), *, progress: bool | None = None) -> Query:
        """Prepares a query of the catalog's entries, such as `SELECT name FROM parcels WHERE owner = ?`. It runs when its rows are needed.

        parameters  values for `?` or `$1`, `$2` in order, or a dict for `$name`; use them for all untrusted values
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
        """Parses a local file, or bytes, on the server, which stores nothing. The file is sent when the rows are needed.

        format  such as `geojson`; default: from the extension of the file name
        name    name of the file in errors; default: its own name, or "" for bytes

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
        """Stores a table as an entry, on a server that was started with --writable, and returns its description.

        data  any Arrow data: a pyarrow Table or RecordBatchReader, a DataFrame of Polars or pandas, a relation of DuckDB, a GeoDataFrame
        mode  create: a new entry, AlreadyExists if there is one; replace; append: to one that there is; create_append

        The entry appears when the last row is stored. A read-only server raises Unsupported.
        """
        return put(self._channel, name, data, mode)

    def drop(self, name: str) -> None:
        """Removes an entry that put stored."""
        self._act("drop", ticket(name).encode())

    def describe(self, name: str, *, layer: str | None = None, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Returns everything that is known about an entry, including its columns. The file is parsed if necessary."""
        asked = ticket(name, layer=layer, options=options)
        description: dict[str, Any] = self._act("describe", asked.encode())
        return description

    def refresh(self) -> int:
        """Makes the server scan its folders now, and returns the number of entries."""
        return int(self._act("refresh")["entries"])

    def evict(self, name: str, *, layer: str | None = None) -> int:
        """Removes the parsed tables of an entry from memory and disk, and returns their number."""
        whole = name if layer is None else of_layer(name, layer)
        return int(self._act("evict", ticket(whole).encode())["evicted"])

    def stats(self) -> dict[str, Any]:
        """Returns the statistics of the server since its start."""
        numbers: dict[str, Any] = self._act("stats")
        return numbers

    def _act(self, kind: str, body: bytes = b"") -> Any:
        (answer,) = self._channel.ask(lambda client, options: [*client.do_action(flight.Action(kind, body), options)])
        return json.loads(answer.body.to_pybytes())

    def _settings_for(self, workers: int | None, progress: bool | None) -> Settings:
        if workers is not None and workers < 1:
            raise ValueError(f"workers: want 1 or more, have {workers}")
        return Settings(workers or self._settings.workers, self._settings.progress if progress is None else progress)
