"""Tickets: an entry of the catalog, and which part of it to return."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsFloat, SupportsIndex

GeometryEncoding = Literal["native", "wkb", "wkt"]
Coords = Literal["separated", "interleaved"]
Compression = Literal["none", "lz4", "zstd"]


@dataclass(frozen=True)
class Ticket:
    """A ticket or a command of the server's; None leaves a field to the server's default."""

    name: str
    columns: tuple[str, ...] | None = None
    where: str | None = None
    bbox: tuple[float, float, float, float] | None = None
    rows: tuple[int, int] | None = None
    limit: int | None = None
    geometry_encoding: GeometryEncoding | None = None
    coords: Coords | None = None
    compression: Compression | None = None
    crs: str | None = None
    version: str | None = None
    options: Mapping[str, Any] | None = None

    def encode(self) -> bytes:
        """Returns the ticket as JSON. A number that JSON cannot represent raises a ValueError."""
        said = {field: value for field, value in vars(self).items() if value is not None}
        return json.dumps(said, ensure_ascii=False, allow_nan=False).encode()


def ticket(
    name: str,
    *,
    layer: str | None = None,
    columns: Iterable[str] | str | None = None,
    where: str | None = None,
    bbox: Iterable[SupportsFloat] | None = None,
    rows: Sequence[SupportsIndex] | None = None,
    limit: SupportsIndex | None = None,
    options: Mapping[str, Any] | None = None,
    geometry_encoding: GeometryEncoding | None = None,
    coords: Coords | None = None,
    compression: Compression | None = None,
    crs: str | None = None,
) -> Ticket:
    """A Ticket of what people have at hand: arrays of NumPy, one column's name. What has the right shape and is wrong all the same is the server's to say."""
    if layer is not None:
        name = of_layer(name, layer)
    box = None if bbox is None else tuple(float(v) for v in bbox)
    if box is not None and (len(box) != 4 or any(v != v or abs(v) == float("inf") for v in box)):
        raise ValueError(f"bbox: want xmin, ymin, xmax, ymax, all finite, have {box}")
    if rows is not None and (len(rows) != 2 or isinstance(rows, range) or not 0 <= operator.index(rows[0]) <= operator.index(rows[1])):
        raise ValueError(f"rows: want a start and an end behind it, have {rows}")
    return Ticket(
        name,
        columns=None if columns is None else (columns,) if isinstance(columns, str) else tuple(columns),
        where=where,
        bbox=box,
        rows=None if rows is None else (operator.index(rows[0]), operator.index(rows[1])),
        limit=None if limit is None else operator.index(limit),
        options=options,
        geometry_encoding=geometry_encoding,
        coords=coords,
        compression=compression,
        crs=crs,
    )


def of_layer(name: str, layer: str) -> str:
    """The name of a layer: `trips.kml#Stops`. The file's name is as the catalog lists it."""
    if "#" in name:
        raise ValueError(f"layer: {name!r} names a layer already")
    return name + "#" + layer.replace("%", "%25").replace("#", "%23")


def fitting(asked: GeometryEncoding | None, fit: Sequence[GeometryEncoding]) -> GeometryEncoding | None:
    """What to ask for where only the encodings in fit will do: what was asked for, or else the first of them; None is the server's default, native."""
    if asked in fit or (asked is None and fit[0] == "native"):
        return asked
    return fit[0]


def narrowed(encoded: bytes, rows: tuple[int, int]) -> bytes | None:
    """The part of an endpoint's ticket that lies in rows of the table, `[start, end)`; None if nothing of it does."""
    said = said_in(encoded)
    start, end = said.get("rows", rows)
    start, end = max(start, rows[0]), min(end, rows[1])
    if start >= end:
        return None
    said["rows"] = [start, end]
    return json.dumps(said, ensure_ascii=False, allow_nan=False).encode()


def said_in(encoded: bytes) -> dict[str, Any]:
    """The fields of a ticket, which is a name alone or a JSON object."""
    said: dict[str, Any] = json.loads(encoded) if encoded.startswith(b"{") else {"name": encoded.decode()}
    return said
