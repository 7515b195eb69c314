"""Writes src/geo/countries.arrows: the countries of Natural Earth, public domain, as an Arrow stream.

Run by hand: .venv/bin/python flightsrv/web/console/basemap.py
"""
import pathlib
import sys

import numpy
import pyarrow as pa
import pyogrio
import shapely

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "integration"))

from naturalearth import write_countries  # noqa: E402


def main():
    source = write_countries(HERE.parents[2] / "build" / "countries.geojson")
    frame = pyogrio.read_dataframe(source)
    geometries = shapely.set_precision([shapely.multipolygons([g]) if g.geom_type == "Polygon" else g for g in frame.geometry], 0.01, mode="pointwise")
    _, positions, (rings, polygons, countries) = shapely.to_ragged_array(geometries)
    positions = pa.FixedSizeListArray.from_arrays(pa.array(numpy.round(positions, 2).ravel()), type=pa.list_(pa.field("xy", pa.float64(), nullable=False), 2))
    column = positions
    for offsets in rings, polygons, countries:
        column = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), column)
    field = pa.field("geometry", column.type, metadata={"ARROW:extension:name": "geoarrow.multipolygon"})
    batch = pa.record_batch([column], schema=pa.schema([field]))
    with pa.ipc.new_stream(HERE / "src" / "geo" / "countries.arrows", batch.schema) as out:
        out.write_batch(batch)


main()
