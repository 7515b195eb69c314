"""The description of an entry, without its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyarrow import flight

from .channel import Part


@dataclass(frozen=True)
class Info:
    """Describes an entry, or the result of a selection or a query.

    name          of the entry; the text of a query
    rows          exactly; None where it is not known before they are read
    bytes         of the rows as the server holds them; None where a selection leaves rows out, or they are not known
    schema        of the rows, to the last metadata key; None for an entry of a listing that is not parsed yet
    app_metadata  all that the server says of the file as a whole: format, engine, crs, bbox, geometry_types, bytes_read, parse_seconds, cached, …
    """

    name: str
    rows: int | None
    bytes: int | None
    schema: pa.Schema | None = field(repr=False)
    app_metadata: Mapping[str, Any]

    @property
    def format(self) -> str | None:
        """The format of the file, such as `geojson`."""
        return self.app_metadata.get("format")

    @property
    def crs(self) -> str | None:
        """The CRS of the geometries, such as `EPSG:3857`. None: unknown, or the file is not parsed yet."""
        return self.app_metadata.get("crs")

    @property
    def bbox(self) -> tuple[float, float, float, float] | None:
        """xmin, ymin, xmax, ymax of the whole file, in units of crs; None: no position, or the file is not parsed yet."""
        box = self.app_metadata.get("bbox")
        return None if box is None else (box[0], box[1], box[2], box[3])

    @property
    def geometry_types(self) -> list[str]:
        """The kinds of geometry in the file, as GeoParquet names them: `["Polygon", "MultiPolygon Z"]`."""
        return list(self.app_metadata.get("geometry_types", ()))

    @property
    def cached(self) -> bool:
        """Whether the server had already parsed the table."""
        return bool(self.app_metadata.get("cached", False))


def info_of(name: str, answer: flight.FlightInfo) -> Info:
    """An Info of a FlightInfo."""
    schema = answer.schema
    return Info(
        name,
        rows=_known(answer.total_records),
        bytes=_known(answer.total_bytes),
        schema=None if schema is None or len(schema) == 0 else schema,
        app_metadata=json.loads(answer.app_metadata or b"{}"),
    )


def parts_of(answer: flight.FlightInfo) -> list[Part]:
    """The endpoints of a FlightInfo, in order."""
    return [_part(endpoint) for endpoint in answer.endpoints]


def _part(endpoint: flight.FlightEndpoint) -> Part:
    locations = tuple(at.uri.decode() if isinstance(at.uri, bytes) else at.uri for at in endpoint.locations)
    about = json.loads(getattr(endpoint, "app_metadata", b"") or b"{}")  # pyarrow 17 does not have it
    box = about.get("bbox")
    return Part(endpoint.ticket.ticket, locations, about.get("rows"), None if box is None else (box[0], box[1], box[2], box[3]))


def _known(n: int) -> int | None:
    return None if n < 0 else n
