"""Extents in degrees: the server reprojects the edge of a box."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from .channel import Channel
from .errors import Error
from .exchange import Parsed, file_of
from .map import Box
from .result import Settings

DEGREES = ("OGC:CRS84", "EPSG:4326")  # of the server: both have the longitude first
STEPS = 16  # of an edge, which may be curved in degrees


def in_degrees(channel: Channel, box: Box | None, crs: str | None) -> Box | None:
    """The extent of a box in degrees of longitude and latitude; None: there is no box, or it can't be reprojected."""
    if box is None or crs is None or crs in DEGREES:
        return box if crs is not None else None
    xmin, ymin, xmax, ymax = box
    parts = [i / STEPS for i in range(STEPS + 1)]
    xs, ys = [xmin + (xmax - xmin) * part for part in parts], [ymin + (ymax - ymin) * part for part in parts]
    edge = [*((x, y) for x in xs for y in (ymin, ymax)), *((x, y) for y in ys for x in (xmin, xmax))]
    file = {
        "type": "FeatureCollection",
        "crs": {"type": "name", "properties": {"name": crs}},
        "features": [{"type": "Feature", "properties": {}, "geometry": {"type": "MultiPoint", "coordinates": edge}}],
    }
    command = {"format": "geojson", "crs": DEGREES[0], "geometry_encoding": "native", "coords": "interleaved"}
    try:
        content = file_of(json.dumps(file, allow_nan=False).encode(), "")
        rows = Parsed(channel, Settings(1, False), content, {**command, "size": content.size}).arrow()
        column = rows.column(rows.num_columns - 1).combine_chunks()
        while isinstance(column, (pa.ListArray, pa.FixedSizeListArray, pa.ExtensionArray)):
            column = column.storage if isinstance(column, pa.ExtensionArray) else column.flatten()
        values: list[Any] = column.to_pylist()
        return min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2])
    except (Error, ValueError):
        return None
