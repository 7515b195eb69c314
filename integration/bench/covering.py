"""Writes a GeoParquet file like those of Overture Maps: covering.py FILE BYTES

Building footprints in the order of a Morton curve, with a covering column, so that a row group has the rows of a small area. The size is approximate.
"""
import json
import pathlib
import sys

import numpy as np
import pyarrow as pa
from pyarrow import parquet

GROUP = 65_536  # rows
CHUNK = 16 * GROUP  # rows that are made at a time
ROW_BYTES = 139  # of the file, about
WEST, SOUTH, WIDTH, HEIGHT = -87.0, 25.0, 7.0, 6.0  # degrees
CORNERS = 7
RING = np.dtype([("order", "u1"), ("type", "<u4"), ("rings", "<u4"), ("points", "<u4"), ("xy", "<f8", (CORNERS + 1, 2))])
POLYGON = 3


def positions(rng, rows):
    """Positions in the order of the Morton code of their cell."""
    x, y = rng.random(rows), rng.random(rows)
    code = np.zeros(rows, np.uint32)
    for values, shift in ((x, 0), (y, 1)):
        cell = (values * (1 << 15)).astype(np.uint32)
        for bit in range(15):
            code |= ((cell >> np.uint32(bit)) & np.uint32(1)) << np.uint32(2 * bit + shift)
    order = np.argsort(code, kind="stable")
    return WEST + WIDTH * x[order], SOUTH + HEIGHT * y[order]


def binary(array):
    """Records as values of Arrow's type binary."""
    offsets = np.arange(len(array) + 1, dtype=np.int32) * array.dtype.itemsize
    return pa.Array.from_buffers(pa.binary(), len(array), [None, pa.py_buffer(offsets), pa.py_buffer(array)])


def table(rng, first, x, y):
    rows = len(x)
    rings = np.zeros(rows, RING)
    rings["order"], rings["type"], rings["rings"], rings["points"] = 1, POLYGON, 1, CORNERS + 1
    angle = 2 * np.pi / CORNERS * np.arange(CORNERS)
    radius = rng.uniform(5e-5, 3e-4, (rows, CORNERS))
    rings["xy"][:, :-1, 0] = x[:, None] + radius * np.cos(angle)
    rings["xy"][:, :-1, 1] = y[:, None] + radius * np.sin(angle)
    rings["xy"][:, -1] = rings["xy"][:, 0]
    low, high = rings["xy"].min(1), rings["xy"].max(1)
    down, up = np.float32(-np.inf), np.float32(np.inf)
    edges = [np.nextafter(side[:, k].astype(np.float32), to) for side, to in ((low, down), (high, up)) for k in (0, 1)]
    names = np.char.add("building ", rng.integers(0, 1 << 30, rows).astype(str))
    return pa.table({
        "id": np.arange(first, first + rows), "name": pa.array(names), "height": rng.uniform(2, 90, rows),
        "bbox": pa.StructArray.from_arrays([pa.array(e) for e in edges], ["xmin", "ymin", "xmax", "ymax"]), "geometry": binary(rings),
    })


def metadata():
    covering = {"bbox": {k: ["bbox", k] for k in ("xmin", "ymin", "xmax", "ymax")}}
    column = {"encoding": "WKB", "geometry_types": ["Polygon"], "covering": covering, "bbox": [WEST, SOUTH, WEST + WIDTH + 1, SOUTH + HEIGHT + 1]}
    return {"geo": json.dumps({"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}})}


def write(path, size):
    rng = np.random.default_rng(31)
    x, y = positions(rng, max(GROUP, size // ROW_BYTES))
    writer = None
    for first in range(0, len(x), CHUNK):
        part = table(rng, first, x[first:first + CHUNK], y[first:first + CHUNK]).replace_schema_metadata(metadata())
        writer = writer or parquet.ParquetWriter(path, part.schema, compression="zstd", compression_level=1)
        writer.write_table(part, row_group_size=GROUP)
    writer.close()


if __name__ == "__main__":
    unfinished = pathlib.Path(sys.argv[1] + ".part")
    write(unfinished, int(float(sys.argv[2])))
    unfinished.rename(sys.argv[1])
